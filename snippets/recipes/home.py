"""Compute a gradient on the GPU of a Mac, or on the CPU where there is none."""

# --8<-- [start:recipe]
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Linear(1024, 10).to(device)
images = torch.rand(256, 1024, device=device)
model(images).logsumexp(dim=1).mean().backward()
print(device)
print("gradients:", tuple(model.weight.grad.shape))
# --8<-- [end:recipe]
