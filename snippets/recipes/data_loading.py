"""Keep a data set that fits on the device; a batch is one index_select."""

# --8<-- [start:recipe]
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
images = torch.randint(256, (1000, 3, 32, 32), dtype=torch.uint8).to(device)
labels = torch.randint(10, (1000,)).to(device)

for epoch in range(2):
    order = torch.randperm(1000).to(device)
    for batch in order[:896].split(128):  # 7 full batches: all shapes are equal
        x = images.index_select(0, batch).float() / 255  # stored as bytes
        y = labels.index_select(0, batch)
        # here: forward pass, backward pass, optimizer step
    print(f"epoch {epoch}: {tuple(x.shape)} and {tuple(y.shape)} on {x.device.type}")
# --8<-- [end:recipe]
