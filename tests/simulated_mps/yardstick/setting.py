"""What the battery's calls see: short makers of tensors on the device D, and what cleans up after a call.

Inputs are drawn on the CPU from one seed and then copied, so a call gets equal values on every device.
"""

import copy
import importlib
import io
import math
import pickle
from typing import Any

import torch
from torch import nn

np: Any
try:
    np = importlib.import_module("numpy")
except ImportError:  # the calls that need it fail, and are left out
    np = None


def makers(device: str) -> dict[str, Any]:
    """Return functions of one or two letters that make tensors; `cf` and `ci` make them on the CPU."""

    def plain(*shape: Any) -> torch.Tensor:
        return torch.randn(shape[0] if shape and isinstance(shape[0], tuple) else shape, device="cpu")

    def whole(high: int, *shape: int) -> torch.Tensor:
        return torch.randint(0, high, shape, device="cpu")

    def spd(size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        root = torch.randn(size, size, dtype=dtype, device="cpu")
        return (root @ root.mH + size * torch.eye(size, device="cpu")).to(device)

    return {
        "D": device,
        "f": lambda *shape: plain(*shape).to(device),
        "cf": plain,
        "i": lambda high, *shape: whole(high, *shape).to(device),
        "ci": whole,
        "T": lambda data: torch.tensor(data, device=device),
        "n": lambda *shape: plain(*shape).to(device).requires_grad_(),
        "h": lambda *shape: plain(*shape).half().to(device),
        "b": lambda *shape: plain(*shape).bfloat16().to(device),
        "c": lambda *shape: torch.randn(shape, dtype=torch.complex64, device="cpu").to(device),
        "m": lambda *shape: (plain(*shape) > 0).to(device),
        "u8": lambda *shape: torch.randint(0, 255, shape, dtype=torch.uint8, device="cpu").to(device),
        "spd": spd,
        "cspd": lambda size: spd(size, torch.complex64),
        "mod": lambda module: module.to(device),
    }


def bw(result: torch.Tensor) -> torch.Tensor:
    """Differentiate the sum of a result."""
    result.sum().backward()
    return result.detach()


def gg(result: torch.Tensor, *inputs: torch.Tensor) -> Any:
    """Return the gradient of the squared gradient, as in a gradient penalty."""
    first = torch.autograd.grad(result.square().sum(), inputs, create_graph=True)
    return torch.autograd.grad(sum(part.square().sum() for part in first), inputs, allow_unused=True)


def trained(device: str) -> Any:
    """Return a function that lets an optimizer make two steps of a small layer."""

    def step(optimizer: Any, **options: Any) -> torch.Tensor:
        layer = nn.Linear(3, 4).to(device)
        chosen = optimizer(layer.parameters(), **options)
        for _ in range(2):
            chosen.zero_grad()
            layer(torch.ones(2, 3, device=device)).square().sum().backward()
            chosen.step()
        return layer.weight.detach()

    return step


def closure(optimizer: Any, parameter: torch.Tensor) -> torch.Tensor:
    """Do what LBFGS asks for."""
    optimizer.zero_grad()
    loss = parameter.square().sum()
    loss.backward()
    return loss


def grads(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters of a module, each with a gradient."""
    parameters = list(module.parameters())
    sum(parameter.square().sum() for parameter in parameters).backward()
    return parameters


def gloo() -> None:
    """Make a process group of one process."""
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)


def namespace(device: str) -> dict[str, Any]:
    """Return everything that a call may name."""
    modules = {"copy": copy, "io": io, "math": math, "pickle": pickle, "np": np, "torch": torch, "nn": nn}
    short = {
        "F": nn.functional,
        "L": torch.linalg,
        "S": torch.special,
        "A": torch.autograd,
        "O": torch.optim,
        "func": torch.func,
        "dist": torch.distributions,
        "fwAD": torch.autograd.forward_ad,
    }
    helpers = {"bw": bw, "gg": gg, "closure": closure, "grads": grads, "gloo": gloo, "step": trained(device)}
    return {**modules, **short, **helpers, **makers(device)}


def restore() -> None:
    """Undo what a call may have left: grad mode, default types and devices, process groups."""
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("highest")
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
