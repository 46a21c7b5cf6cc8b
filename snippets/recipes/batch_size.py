"""Accumulate the gradient of a batch from four parts of it."""

# --8<-- [start:recipe]
import torch
from torch.nn.functional import mse_loss

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Linear(16, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(128, 16, device=device), torch.randn(128, 1, device=device)
whole = torch.autograd.grad(mse_loss(model(x), y), model.weight)[0]

for part_x, part_y in zip(x.split(32), y.split(32), strict=True):  # 4 parts of 32
    loss = mse_loss(model(part_x), part_y)
    (loss / 4).backward()  # adds to .grad

print("same gradient:", torch.allclose(model.weight.grad, whole, atol=1e-6))
optimizer.step()  # once for all 128 samples
optimizer.zero_grad()
# --8<-- [end:recipe]
