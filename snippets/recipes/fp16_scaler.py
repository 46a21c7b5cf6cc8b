"""Train with autocast in float16: a scaler multiplies the loss, divides gradients."""

# --8<-- [start:recipe]
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Linear(64, 10).to(device)
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.amp.GradScaler(device)
x, labels = torch.randn(32, 64, device=device), torch.arange(32, device=device) % 10

for _ in range(3):
    with torch.autocast(device, dtype=torch.float16):
        loss = torch.nn.functional.cross_entropy(model(x), labels)
    scaler.scale(loss).backward()  # multiplied
    scaler.step(optimizer)  # divided again, or left out
    scaler.update()  # the factor for the next step
    optimizer.zero_grad()

print("factor:", scaler.get_scale())
# --8<-- [end:recipe]
