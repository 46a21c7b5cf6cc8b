"""Compare one forward and backward pass on a device with the CPU, tensor by tensor.

The reference is the CPU in float64. The tolerance comes from the CPU in the format of the device: where
float32 loses five digits on the CPU, it may lose five on the device.
"""

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from snippets.errors import RunError, UsageError

CPU = torch.device("cpu")
# How many times less accurate than the CPU, in the same format, a device may be. In float32 the error comes
# from the order of additions, which differs between devices; in 16 bits, from rounding the operands. Six
# small networks on an H200 (CUDA, PyTorch 2.11, 2026-11-21): up to 26 times in float32 and 2.8 in bfloat16;
# with products in TF32, which has 13 bits less than float32, 1,700 times and more.
FACTORS = {torch.float32: 100.0, torch.bfloat16: 3.0, torch.float16: 3.0}
UNITS = 8.0  # rounding errors that are allowed even where the CPU is exact by chance
VANISHING = 1e-3  # share of the norm of all gradients; the error of a smaller gradient is relative to it

Loss = Callable[[Any, Any], torch.Tensor]  # (outputs of the model, targets) -> mean loss, a scalar


# --8<-- [start:one_pass]
def one_pass(
    model: nn.Module, inputs: tuple, targets: Any, loss: Loss, device: torch.device, dtype: torch.dtype
) -> dict[str, torch.Tensor]:
    """Return outputs, loss and gradients of a copy of `model` by name, as float64 tensors on the CPU.

    The pass runs on `device`: for float32 and float64 with weights and inputs of `dtype`, for bfloat16 and
    float16 under autocast.
    """
    low = dtype in (torch.bfloat16, torch.float16)
    weights = torch.float32 if low else dtype
    model = copy.deepcopy(model).to(device, weights)
    with torch.autocast(device.type, dtype=dtype if low else None, enabled=low):
        outputs = model(*moved(inputs, device, weights))
        value = loss(outputs, moved(targets, device, weights))
    value.backward()
    results = dict(named_tensors(outputs, "output")) | {"loss": value}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            results[f"gradient of {name}"] = parameter.grad
    # First to the CPU, then to float64, which MPS does not have.
    return {name: tensor.detach().cpu().double() for name, tensor in results.items()}


# --8<-- [end:one_pass]
def moved(values: Any, device: torch.device, dtype: torch.dtype) -> Any:
    """Return `values`, tensors in tuples, lists and dicts, on `device`; floating ones become `dtype`."""
    if isinstance(values, torch.Tensor):
        return values.to(device, dtype if values.is_floating_point() else None)
    if isinstance(values, dict):
        return {key: moved(value, device, dtype) for key, value in values.items()}
    if isinstance(values, tuple | list):
        return [moved(value, device, dtype) for value in values]
    return values


def named_tensors(values: Any, name: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield every floating-point tensor in `values` with its name: "output", "output[0]", "output[mask]"."""
    if isinstance(values, torch.Tensor):
        if values.is_floating_point():
            yield name, values
    elif isinstance(values, dict | tuple | list):
        for key, value in values.items() if isinstance(values, dict) else enumerate(values):
            yield from named_tensors(value, f"{name}[{key}]")


def without_dropout(model: nn.Module) -> nn.Module:
    """Return a copy of `model` on the CPU without dropout, since each device draws other random numbers.

    It stays in training mode, in which batch normalization has to be compared.
    """
    model = copy.deepcopy(model).to(CPU)
    for module in model.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.p = 0.0
        elif isinstance(getattr(module, "dropout", None), float):  # attention, LSTM, GRU
            module.dropout = 0.0
    return model


def check_not_random(model: nn.Module, inputs: tuple) -> None:
    """Raise UsageError when the output depends on the seed: then devices cannot agree."""
    outputs = []
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        for seed in (0, 1):
            torch.manual_seed(seed)
            outputs.append(dict(named_tensors(copy.deepcopy(model)(*inputs), "output")))
    for name, first in outputs[0].items():
        if not torch.allclose(first, outputs[1][name], rtol=1e-3, atol=1e-6, equal_nan=True):
            raise UsageError(f"the {name} of this model depends on the random seed; call model.eval() first")


# --8<-- [start:difference]
@dataclass(frozen=True)
class Difference:
    """The error of one tensor, relative to the norm of its float64 reference."""

    name: str
    error: float  # of the device
    cpu_error: float  # of the CPU, in the format that the device computes in
    allowed: float

    @property
    def excess(self) -> float:
        """The error as a multiple of the allowed error; infinite for NaN."""
        return math.inf if math.isnan(self.error) else self.error / self.allowed


def distance(tensor: torch.Tensor, reference: torch.Tensor, size: float) -> float:
    """Return ‖tensor - reference‖ / `size`: relative to the whole tensor, because single values may be 0."""
    return float(torch.linalg.vector_norm(tensor - reference)) / size


def summarize(name: str, errors: list[float], cpu_errors: list[float], dtype: torch.dtype) -> Difference:
    """Combine the errors of one tensor in several batches: the device's smallest and the CPU's largest.

    ReLU and max pooling have kinks: where an activation is zero up to rounding, its gradient can take either
    value, which can change the gradient of a weight by a percent in one batch. A wrong operator is wrong in
    all batches. A NaN in any batch counts.
    """
    error = math.nan if any(map(math.isnan, errors)) else min(errors)
    cpu_error = max(cpu_errors)
    allowed = max(FACTORS[dtype] * cpu_error, UNITS * torch.finfo(dtype).eps)
    return Difference(name, error, cpu_error, allowed)


# --8<-- [end:difference]
@dataclass(frozen=True)
class Comparison:
    """The result of `compare_devices`: the tensors, the worst first."""

    device: torch.device
    dtype: torch.dtype
    differences: list[Difference]

    @property
    def wrong(self) -> list[Difference]:
        """The tensors whose error is larger than rounding explains."""
        return [difference for difference in self.differences if not difference.excess <= 1]

    @property
    def undecided(self) -> list[Difference]:
        """The tensors that are too inaccurate even on the CPU in this format to be compared."""
        return [difference for difference in self.differences if difference.allowed >= 1]

    def report(self, rows: int = 5) -> str:
        """Return a table of the worst tensors, with the verdict in its last line."""
        shown = self.differences[:rows]
        width = max(len("tensor"), *(len(difference.name) for difference in shown))
        lines = [f"{'tensor':{width}}  {'error':>8}  {'on CPU':>8}  {'allowed':>8}"]
        for d in shown:
            lines.append(f"{d.name:{width}}  {d.error:8.1e}  {d.cpu_error:8.1e}  {d.allowed:8.1e}")
        count, wrong, undecided = len(self.differences), len(self.wrong), len(self.undecided)
        if wrong:
            verdict = f"WRONG: {wrong} of {count} tensors differ by more than rounding explains"
        elif undecided:
            verdict = (
                f"{count - undecided} of {count} tensors are right within rounding, "
                f"{undecided} cannot be judged: the CPU itself is too far off"
            )
        else:
            verdict = f"all {count} tensors are right within rounding"
        return "\n".join([*lines, f"{self.device.type}, {format_name(self.dtype)}: {verdict}"])


# --8<-- [start:compare_devices]
def compare_devices(
    model: nn.Module,
    batches: Iterable[tuple[Any, Any]],
    loss: Loss,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
) -> Comparison:
    """Run `model` forward and backward, with the same weights, on the CPU and on `device`, and compare.

    `batches` are pairs of inputs (a tensor, or a tuple of what the model takes) and targets; several small
    ones are better than one big one. `model` itself is not changed; its parameters must be real. Raises
    UsageError for a model that draws random numbers, and RunError when the CPU already gives NaN.
    """
    if dtype not in FACTORS:
        raise UsageError(f"devices are compared in float32, bfloat16 or float16, not in {format_name(dtype)}")
    model = without_dropout(model)
    errors: dict[str, list[float]] = {}
    cpu_errors: dict[str, list[float]] = {}
    for inputs, targets in batches:
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        check_not_random(model, moved(inputs, CPU, torch.float32))
        reference = one_pass(model, inputs, targets, loss, CPU, torch.float64)
        cpu = one_pass(model, inputs, targets, loss, CPU, dtype)
        check_finite(reference, torch.float64)
        check_finite(cpu, dtype)
        have = one_pass(model, inputs, targets, loss, device, dtype)
        for name, size in sizes(reference).items():
            errors.setdefault(name, []).append(distance(have[name], reference[name], size))
            cpu_errors.setdefault(name, []).append(distance(cpu[name], reference[name], size))
    if not errors:
        raise UsageError("there is no batch to compare with")
    differences = [summarize(name, errors[name], cpu_errors[name], dtype) for name in errors]
    return Comparison(device, dtype, sorted(differences, key=lambda d: d.excess, reverse=True))


# --8<-- [end:compare_devices]
def sizes(reference: dict[str, torch.Tensor]) -> dict[str, float]:
    """Return the norm to which each error is relative: that of the tensor, as a rule.

    Some gradients are zero in exact arithmetic, for example that of a bias before batch normalization. Their
    computed values are rounding errors, so they are relative to a share of the norm of all gradients.
    """
    norms = {name: float(torch.linalg.vector_norm(tensor)) for name, tensor in reference.items()}
    least = VANISHING * math.hypot(*(norm for name, norm in norms.items() if name.startswith("gradient")))
    floors = {name: least if name.startswith("gradient") else 0.0 for name in norms}
    return {name: max(norm, floors[name]) or 1.0 for name, norm in norms.items()}


def format_name(dtype: torch.dtype) -> str:
    """Return "float32" for torch.float32."""
    return str(dtype).removeprefix("torch.")


def check_finite(results: dict[str, torch.Tensor], dtype: torch.dtype) -> None:
    """Raise RunError when the CPU's results are not finite."""
    for name, tensor in results.items():
        if not tensor.isfinite().all():
            raise RunError(f"the {name} is NaN or infinite on the CPU already, in {format_name(dtype)}")
