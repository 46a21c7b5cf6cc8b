"""Find the layer where NaN or infinity first appears. Slow: for one failing batch, not for training."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from snippets.compare_devices import named_tensors
from snippets.errors import RunError


# --8<-- [start:forward]
@contextlib.contextmanager
def stop_at_first_nan(model: nn.Module) -> Iterator[None]:
    """Raise RunError at the first module of `model` whose output is NaN or infinite.

    Inner modules finish first, so the error names the innermost one. Reading each output makes the CPU wait
    for the GPU at every layer.
    """

    def check(name: str) -> Callable[..., None]:
        def look(module: nn.Module, inputs: tuple, output: Any) -> None:
            for _, tensor in named_tensors(output, "output"):
                bad = int((~tensor.isfinite()).sum())
                if bad:
                    raise RunError(explain(name or "the model", module, inputs, bad, tensor.numel()))

        return look

    hooks = [module.register_forward_hook(check(name)) for name, module in model.named_modules()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def explain(name: str, module: nn.Module, inputs: tuple, bad: int, count: int) -> str:
    """Return one line with the module, the number of bad values, and bad or largest inputs and weights."""
    tensors = dict(named_tensors(inputs, "input")) | dict(module.named_parameters())
    spoiled = [key for key, tensor in tensors.items() if not tensor.isfinite().all()]
    largest = max(
        (float(tensor.detach().abs().max()) for tensor in tensors.values() if tensor.numel()), default=0.0
    )
    cause = (
        f"spoiled before: {', '.join(spoiled)}" if spoiled else f"largest value that went in: {largest:.3g}"
    )
    kind = type(module).__name__
    return f"{bad} of {count} values that {name} ({kind}) returns are NaN or infinite; {cause}"


# --8<-- [end:forward]
# --8<-- [start:hunt]
def hunt_nan(model: nn.Module, compute_loss: Callable[[], torch.Tensor]) -> str:
    """Return one line that says where NaN begins when `compute_loss` runs forward and backward.

    First the outputs of the layers are checked. If all are finite, autograd's anomaly mode names the
    operation whose gradient became NaN. Infinity, which that mode misses, is searched in the final gradients.
    """
    try:
        with stop_at_first_nan(model), torch.autograd.detect_anomaly():
            model.zero_grad()
            loss = compute_loss()
            if not loss.isfinite():
                return f"every layer is finite, the loss is {loss.item()}: look at the loss function"
            loss.backward()
    except RunError as error:
        return str(error)
    except RuntimeError as error:
        if "returned nan values" not in str(error):
            raise
        return f"the forward pass is finite; backward: {error}"
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not parameter.grad.isfinite().all():
            cause = "look for a root, a power or a quotient at 0"
            return f"the gradient of {name} is infinite, the loss is not: {cause}"
    return "no NaN and no infinity in this forward and backward pass"


# --8<-- [end:hunt]
