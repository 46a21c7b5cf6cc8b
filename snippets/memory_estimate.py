"""Compute the memory that training needs at any batch size, without allocating it."""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import nn


# --8<-- [start:estimate]
@dataclass(frozen=True)
class TrainingMemory:
    """Bytes that stay allocated between steps. The activations of a batch need memory in addition."""

    weights: int  # parameters and buffers
    gradients: int
    optimizer_states: int

    @property
    def total(self) -> int:
        """The sum, in bytes."""
        return self.weights + self.gradients + self.optimizer_states

    def __str__(self) -> str:
        """Return one line in MB (10⁶ bytes)."""
        figures = {
            "weights": self.weights,
            "gradients": self.gradients,
            "optimizer": self.optimizer_states,
            "total": self.total,
        }
        return ", ".join(f"{name} {value / 1e6:.1f} MB" for name, value in figures.items())


def training_memory(
    model: nn.Module, make_optimizers: Callable[[nn.Module], Sequence[torch.optim.Optimizer]]
) -> TrainingMemory:
    """Return the memory that training `model` keeps on any device.

    A copy on the meta device, whose tensors have shapes but no values, takes one step. So the optimizer
    states are those of the installed PyTorch and of these settings.
    """
    tensors = list(chain(model.parameters(), model.buffers()))
    shapes = copy.deepcopy(model, {id(tensor): _without_contents(tensor) for tensor in tensors})
    optimizers = make_optimizers(shapes)
    for parameter in shapes.parameters():
        parameter.grad = torch.empty_like(parameter) if parameter.requires_grad else None
    gradients = nbytes(parameter.grad for parameter in shapes.parameters() if parameter.requires_grad)
    for optimizer in optimizers:
        optimizer.step()
    return TrainingMemory(nbytes(tensors), gradients, nbytes(_states(optimizers)))


def _without_contents(tensor: torch.Tensor) -> torch.Tensor:
    """Return a parameter or buffer of the same shape and type on the meta device."""
    empty = torch.empty_like(tensor, device="meta")
    return nn.Parameter(empty, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else empty


def _states(optimizers: Iterable[torch.optim.Optimizer]) -> Iterator[torch.Tensor]:
    """Yield the state tensors of the optimizers."""
    for optimizer in optimizers:
        for state in optimizer.state.values():
            yield from (value for value in state.values() if isinstance(value, torch.Tensor))


# --8<-- [end:estimate]
# --8<-- [start:kept_activations]
def kept_activations(model: nn.Module, forward: Callable[[], object]) -> int:
    """Return the bytes that `forward()` keeps for the backward pass, without the parameters of `model`.

    It is a lower bound: gradients of activations and temporary memory of kernels need more.
    """
    parameters = {parameter.untyped_storage()._cdata for parameter in model.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}  # holding a storage keeps its address from being reused

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in parameters:
            kept[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = forward()  # must stay alive until the storages are counted
    size = sum(storage.nbytes() for storage in kept.values())
    del result
    return size


# --8<-- [end:kept_activations]
def nbytes(tensors: Iterable[torch.Tensor]) -> int:
    """Return the bytes of all tensors; one that occurs twice counts once."""
    return sum(tensor.nbytes for tensor in {id(tensor): tensor for tensor in tensors}.values())
