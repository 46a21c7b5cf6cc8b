"""Compile, compare the gradients with eager mode, and stay there if they differ."""

# --8<-- [start:recipe]
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU()).to(device)
x = torch.randn(8, 16, device=device)


def gradients(network):
    return torch.autograd.grad(network(x).square().mean(), list(model.parameters()))


compiled = torch.compile(model)  # returns at once: nothing is compiled yet
try:
    torch.testing.assert_close(gradients(compiled), gradients(model))  # compiles here
    print("compiled: same gradients as in eager mode")
except Exception as error:  # the compiler failed, or the values differ
    compiled = model
    print("eager mode, because of", type(error).__name__)
# --8<-- [end:recipe]
