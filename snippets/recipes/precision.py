"""Train with autocast in bfloat16: loss inside of it, backward pass outside."""

# --8<-- [start:recipe]
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Linear(64, 10).to(device)
optimizer = torch.optim.AdamW(model.parameters())
x, labels = torch.randn(32, 64, device=device), torch.arange(32, device=device) % 10

for _ in range(3):
    with torch.autocast(device, dtype=torch.bfloat16):  # name the dtype
        scores = model(x)
        loss = torch.nn.functional.cross_entropy(scores, labels)
    loss.backward()  # outside of autocast
    optimizer.step()
    optimizer.zero_grad()

print("layer:", scores.dtype, "loss:", loss.dtype, "weights:", model.weight.dtype)
# --8<-- [end:recipe]
