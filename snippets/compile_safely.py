"""Compile a network with torch.compile, but train with it only where it works and gives the same values."""

import contextlib
import math
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from snippets.device import synchronize
from snippets.seeds import random_states, restore_random_states

Tensors = dict[str, torch.Tensor]  # "loss" and the gradients, by name
Network = Callable[..., Any]
WarmUp = Callable[[Network], torch.Tensor]


# --8<-- [start:compile_or_eager]
def compile_or_eager(
    module: nn.Module, warm_up: WarmUp, backend: str | Callable = "inductor", *, cuda_graphs: bool = False
) -> tuple[Network, str]:
    """Return the compiled network, or `module` itself, and one sentence that says which and why.

    `warm_up(network)` returns the mean loss of one batch, of the shape and in the precision of the training,
    computed with `network`; the backward pass is made here. It is called six times, the last two compiled.
    `cuda_graphs` records CUDA graphs in one more: a pass is then one launch, in memory that stays reserved.
    Afterwards gradients are cleared, and weights, buffers and random states are as before.

    Save and evaluate `module`: its parameters are those of the compiled network. Another shape, precision or
    `.eval()` compiles again during training, without this check. Raises what `module` raises without
    compilation.
    """
    device = next(module.parameters()).device
    obstacle = why_not_compile(device)
    if obstacle is not None:
        return module, f"not compiled: {obstacle}"
    dtype = coarsest_format(module, warm_up)
    plain, eager_seconds = one_pass(module, module, warm_up, dtype)
    try:
        with dropout_as_compiled():
            expected, _ = one_pass(module, module, warm_up, dtype)
            with shaken(module, dtype):
                from_shaken, _ = one_pass(module, module, warm_up, dtype)
        if not all(map(all_finite, (plain, expected, from_shaken))):
            return module, "not compiled: loss or gradients are NaN or infinite even without compiling"
        with raising_failures():
            before = graphs_so_far()
            network = torch.compile(module, backend=backend, options=options_for(backend, cuda_graphs))
            _, first_seconds = one_pass(network, module, warm_up, dtype)
            if cuda_graphs:
                one_pass(network, module, warm_up, dtype)  # records them; the next pass repeats
            found, seconds = one_pass(network, module, warm_up, dtype)
            graphs = graphs_so_far() - before
    except Exception as error:  # Dynamo, the backend and the C++ compiler each have their own errors
        return module, f"not compiled: {in_one_line(error)}"
    if not graphs:
        return module, "not compiled: torch.compile found nothing in the network that it can compile"
    wrong = disagreement(found, expected, from_shaken, dtype)
    if wrong is not None:
        return module, f"not compiled: wrong values, {wrong}"
    compared = what_was_compared(expected, from_shaken)
    times = f"first pass {first_seconds:.2g} s, then {seconds:.2g} s, without compiling {eager_seconds:.2g} s"
    parts = "1 graph" if graphs == 1 else f"{graphs} graphs"
    return network, f"compiled by {name_of(backend, device)} into {parts}, {compared}; {times}"


# --8<-- [end:compile_or_eager]
# --8<-- [start:one_pass]
def one_pass(
    network: Network, module: nn.Module, warm_up: WarmUp, dtype: torch.dtype
) -> tuple[Tensors, float]:
    """Return loss and gradients of one pass through `network` by name, and its duration in seconds."""
    device = next(module.parameters()).device
    scale = 1024.0 if dtype == torch.float16 else 1.0  # keeps small gradients from becoming 0
    with traceless(module, device):
        start = time.perf_counter()
        loss = warm_up(network)
        (loss * scale).backward()
        synchronize(device)
        seconds = time.perf_counter() - start
        weights = [(name, weight) for name, weight in module.named_parameters() if weight.grad is not None]
        gradients = {f"gradient of {name}": weight.grad for name, weight in weights}
    return {"loss": loss.detach()} | gradients, seconds


@contextlib.contextmanager
def traceless(module: nn.Module, device: torch.device) -> Iterator[None]:
    """On exit, clear the gradients and restore buffers (BatchNorm statistics) and random states."""
    buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
    states = random_states(device)
    module.zero_grad(set_to_none=True)
    try:
        yield
    finally:
        with torch.no_grad():
            for name, buffer in module.named_buffers():
                buffer.copy_(buffers[name])
        restore_random_states(states, device)
        module.zero_grad(set_to_none=True)


# --8<-- [end:one_pass]
# --8<-- [start:why_not_compile]
def why_not_compile(device: torch.device) -> str | None:
    """Return why torch.compile cannot work on `device`, or None when it can be tried."""
    if device.type == "mps" and torch.__version__ < (2, 7):
        return f"torch.compile needs PyTorch 2.7 on MPS, and this is {torch.__version__}"
    return None


# --8<-- [end:why_not_compile]
def coarsest_format(module: nn.Module, warm_up: WarmUp) -> torch.dtype:
    """Return the least precise dtype that `warm_up` computes in, under autocast or from the weights."""
    device = next(module.parameters()).device
    dtypes = {weight.dtype for weight in module.parameters() if weight.is_floating_point()}

    def look(*_: Any) -> None:
        if torch.is_autocast_enabled(device.type):
            dtypes.add(torch.get_autocast_dtype(device.type))

    hook = module.register_forward_pre_hook(look)
    try:
        with traceless(module, device):
            warm_up(module)
    finally:
        hook.remove()
    return max(dtypes, key=lambda dtype: torch.finfo(dtype).eps)


def dropout_as_compiled() -> contextlib.AbstractContextManager:
    """Return a context in which eager dropout calls `native_dropout`, as compiled networks do.

    Otherwise it may call another operator, which draws different numbers from the same seed.
    """
    from torch._dispatch.python import enable_python_dispatcher

    return enable_python_dispatcher()


def options_for(backend: str | Callable, cuda_graphs: bool) -> dict[str, Any] | None:
    """Return options with which Inductor uses PyTorch's random generators and, on request, CUDA graphs."""
    if backend != "inductor":
        return None
    return {"fallback_random": True} | ({"triton.cudagraphs": True} if cuda_graphs else {})


def name_of(backend: str | Callable, device: torch.device) -> str:
    """Return the name of the compiler for messages."""
    name = backend if isinstance(backend, str) else getattr(backend, "__name__", "the given backend")
    return f"{name} (a prototype on MPS)" if device.type == "mps" else name


def graphs_so_far() -> int:
    """Return how many graphs torch.compile has captured in this process."""
    from torch._dynamo.utils import counters  # here, because importing it takes a second

    return counters["stats"]["unique_graphs"]


def raising_failures() -> contextlib.AbstractContextManager:
    """Return a context in which compiler errors are raised, whatever TORCHDYNAMO_SUPPRESS_ERRORS is."""
    import torch._dynamo

    return torch._dynamo.config.patch(suppress_errors=False)


def in_one_line(error: Exception) -> str:
    """Return type and first paragraph of `error`, without the pages of advice that PyTorch appends."""
    first = next(iter(str(error).strip().split("\n\n")), "")
    return textwrap.shorten(f"{type(error).__name__}: {first}", 200, placeholder=" …")


# --8<-- [start:shaken]
def coarseness(dtype: torch.dtype) -> float:
    """Return the relative rounding error to expect where `dtype` is the least precise dtype in use.

    Operators may round more than the dtype does: CUDA uses TF32 for float32 convolutions, and its fast
    float16 convolutions differed as much as those in bfloat16.
    """
    return 8e-3 if torch.finfo(dtype).bits == 16 else 5e-4  # a step of bfloat16, half a step of TF32


@contextlib.contextmanager
def shaken(module: nn.Module, dtype: torch.dtype) -> Iterator[None]:
    """Inside the block, perturb each weight at random, relatively by at most `coarseness(dtype)`."""
    weights = [parameter for parameter in module.parameters() if parameter.is_floating_point()]
    kept = [weight.detach().clone() for weight in weights]
    generator = torch.Generator(weights[0].device).manual_seed(0)  # its own: dropout must draw as before
    try:
        with torch.no_grad():
            for weight in weights:
                noise = torch.empty_like(weight, dtype=torch.float32).uniform_(-1, 1, generator=generator)
                weight.mul_(1 + coarseness(dtype) * noise)
        yield
    finally:
        with torch.no_grad():
            for weight, before in zip(weights, kept, strict=True):
                weight.copy_(before)


# --8<-- [end:shaken]
# --8<-- [start:disagreement]
ALONG_ITSELF = 0.7  # of its norm: rounding never changed a gradient that much along its own direction


def disagreement(found: Tensors, expected: Tensors, from_shaken: Tensors, dtype: torch.dtype) -> str | None:
    """Return a description of the tensor that exceeds the tolerance most, or None when none does.

    `from_shaken` are the results inside `shaken`; `dtype` is the least precise dtype in use. The tolerance is
    three times the distance that the perturbation causes, plus two rounding errors, plus 1 % of the change of
    all gradients together: some gradients are only rounding errors, such as that of a bias before batch
    normalization.

    In 16 bits the tolerance can exceed the whole gradient. But rounding changes a gradient in all directions,
    while a wrong factor or sign changes it along its own direction, so that component has its own limit.
    """
    if found.keys() != expected.keys():
        return f"the {min(found.keys() ^ expected.keys())} exists in only one of the two"
    worst, excess = None, 1.0
    for name, error, limit in errors(found, expected, from_shaken, dtype):
        if error > excess * limit:
            size = norm(expected[name])
            shares = f"{percent(error, size)} of its size, rounding explains {percent(limit, size)}"
            worst, excess = f"the {name} is off by {shares}", error / max(limit, 1e-30)
    return worst


def errors(
    found: Tensors, expected: Tensors, from_shaken: Tensors, dtype: torch.dtype
) -> Iterator[tuple[str, float, float]]:
    """Yield name, error and tolerance of each tensor: of the whole, and along its own direction."""
    everywhere = norm_of_gradients({name: from_shaken[name] - expected[name] for name in expected})
    for name, tensor in expected.items():
        difference, size, shift = found[name] - tensor, norm(tensor), norm(from_shaken[name] - tensor)
        allowed = 3 * shift + 2 * coarseness(dtype) * size + (0.01 * everywhere if name != "loss" else 0.0)
        limits = [(norm(difference), allowed)]
        if shift < ALONG_ITSELF * size:  # otherwise it is mostly rounding error
            limits.append((abs(product(difference, tensor)) / size, ALONG_ITSELF * size))
        for error, limit in limits:
            yield name, math.inf if math.isnan(error) else error, limit


def what_was_compared(expected: Tensors, from_shaken: Tensors) -> str:
    """Return what was compared, and how large an error of the gradients the comparison can miss."""
    size = norm_of_gradients(expected)
    shift = norm_of_gradients({name: from_shaken[name] - expected[name] for name in expected})
    if shift >= ALONG_ITSELF * size:
        changed = percent(shift, size)
        return f"same loss (gradients were not compared: rounding alone changes them by {changed})"
    blind = percent(min(3 * shift, ALONG_ITSELF * size), size)
    return f"same values (gradients too large or too small by less than {blind} would not show)"


# --8<-- [end:disagreement]
def norm(tensor: torch.Tensor) -> float:
    """Return the Euclidean norm of all values together."""
    return torch.linalg.vector_norm(tensor.float()).item()


def product(one: torch.Tensor, other: torch.Tensor) -> float:
    """Return the inner product of two tensors of the same shape."""
    return (one.float() * other.float()).sum().item()


def norm_of_gradients(tensors: Tensors) -> float:
    """Return the Euclidean norm of all tensors but the loss."""
    return sum(norm(tensor) ** 2 for name, tensor in tensors.items() if name != "loss") ** 0.5


def percent(part: float, whole: float) -> str:
    """Return `part` as a share of `whole`, with two digits."""
    return f"{float(f'{100 * part / whole:.2g}'):g} %" if whole else "more than 100 %"


def all_finite(tensors: Tensors) -> bool:
    """Return whether no value is NaN or infinite."""
    return all(bool(tensor.isfinite().all()) for tensor in tensors.values())
