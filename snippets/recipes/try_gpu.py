"""Compute a gradient on the GPU of a Mac, or on the CPU where there is none."""

# --8<-- [start:recipe]
import torch

mps = torch.backends.mps.is_available()
device = "mps" if mps else "cpu"
model = torch.nn.Linear(1024, 10).to(device)
images = torch.rand(256, 1024).to(device)
model(images).logsumexp(1).mean().backward()
print(torch.__version__, device)
print(model.weight.grad.shape)
# --8<-- [end:recipe]
