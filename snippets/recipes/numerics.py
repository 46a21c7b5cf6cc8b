"""Compare the gradient on the device with the one on the CPU; float64 judges both."""

# --8<-- [start:recipe]
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU())
x = torch.randn(32, 64)


def gradient(device, dtype):
    model.to(device, dtype).zero_grad()
    inputs = x.to(device, dtype if x.is_floating_point() else x.dtype)
    model(inputs).square().mean().backward()  # your loss
    grads = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
    return torch.cat(grads).cpu().double()


exact = gradient("cpu", torch.float64)  # MPS has no float64
on_cpu = (gradient("cpu", torch.float32) - exact).norm() / exact.norm()
on_device = (gradient(device, torch.float32) - exact).norm() / exact.norm()
print(f"error in float32: {on_cpu:.0e} on the CPU, {on_device:.0e} on {device}")
print("right within rounding:", bool(on_device < 100 * on_cpu))
# --8<-- [end:recipe]
