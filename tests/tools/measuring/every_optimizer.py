"""Report what PyTorch says about MPS, and train with every optimizer of torch.optim.

`every_optimizer.py answers losses compiled` prints what these functions return, as JSON.
"""

import json
import sys

import torch
from torch import nn


def optimizers() -> list[type[torch.optim.Optimizer]]:
    """Return the optimizers that this PyTorch has."""
    found = [value for value in vars(torch.optim).values() if isinstance(value, type)]
    return [
        one for one in found if issubclass(one, torch.optim.Optimizer) and one is not torch.optim.Optimizer
    ]


def loss_after_a_step(optimizer_class: type[torch.optim.Optimizer]) -> float:
    """Return the loss of a table of vectors after one step that draws them to 1."""
    torch.manual_seed(0)
    table = nn.Embedding(8, 4, sparse=optimizer_class is torch.optim.SparseAdam)
    optimizer = optimizer_class(table.parameters())

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        distance = (table(torch.arange(8)) - 1).square().mean()
        distance.backward()
        return distance

    optimizer.step(loss)
    return loss().item()


def losses() -> dict[str, float]:
    """Return the loss after a step of each optimizer, by name."""
    return {one.__name__: loss_after_a_step(one) for one in optimizers()}


def compiled() -> bool:
    """Return what a compiled function says about MPS."""
    return torch.compile(lambda: torch.backends.mps.is_available(), backend="eager")()


def answers() -> dict[str, object]:
    """Return what each part of PyTorch says about MPS."""
    found = torch.accelerator.current_accelerator(check_available=True)
    return {
        "torch.backends.mps.is_available": torch.backends.mps.is_available(),
        "torch.mps.is_available": torch.mps.is_available(),
        "torch.mps.device_count": torch.mps.device_count(),
        "torch.accelerator.is_available": torch.accelerator.is_available(),
        "torch.accelerator.device_count": torch.accelerator.device_count(),
        "torch.accelerator.current_accelerator": found and found.type,
    }


if __name__ == "__main__":
    functions = {"answers": answers, "losses": losses, "compiled": compiled}
    print(json.dumps({word: functions[word]() for word in sys.argv[1:]}))
