"""Compare the gradient on the device with the one on the CPU; float64 judges both."""

# --8<-- [start:recipe]
import copy

import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU())
x = torch.randn(32, 64)


def gradient(device, dtype):
    network = copy.deepcopy(model).cpu().to(device, dtype)  # cpu() first
    inputs = x.cpu().to(device, dtype if x.is_floating_point() else x.dtype)
    network(inputs).square().mean().backward()  # your loss, with targets.to(device)
    grads = [p.grad.flatten() for p in network.parameters() if p.grad is not None]
    return torch.cat(grads).cpu().double()


exact = gradient("cpu", torch.float64)  # MPS has no float64
error = [gradient(d, torch.float32).dist(exact) / exact.norm() for d in ("cpu", device)]
print(f"error in float32: {error[0]:.0e} on the CPU, {error[1]:.0e} on {device}")
print("right within rounding:", bool(error[1] <= 100 * error[0]))
# --8<-- [end:recipe]
