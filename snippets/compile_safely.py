"""Compile a network with torch.compile, but train with it only where it works and gives the same values."""

import contextlib
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from snippets.agreement import Tensors, all_finite, disagreement, shaken, what_was_compared
from snippets.seeds import random_states, restore_random_states
from snippets.timing import synchronize

Network = Callable[..., Any]
WarmUp = Callable[[Network], torch.Tensor]


# --8<-- [start:compile_or_eager]
def compile_or_eager(
    module: nn.Module, warm_up: WarmUp, backend: str | Callable = "inductor"
) -> tuple[Network, str]:
    """Return the compiled network, or `module` itself, and one sentence that says which and why.

    `warm_up(network)` returns the mean loss of one batch, of the shape and in the precision of the training,
    computed with `network`; the backward pass is made here. It is called six times, the last two compiled.
    Afterwards gradients are cleared, and weights, buffers and random states are as before.

    Save and evaluate `module`: its parameters are those of the compiled network. Another shape, precision or
    `.eval()` compiles anew in the middle of the training, without this check. What fails eagerly is raised.
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
            network = torch.compile(module, backend=backend, options=options_for(backend))
            _, first_seconds = one_pass(network, module, warm_up, dtype)
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
    """Return loss and gradients of a pass through `network`, by name, and the seconds that it took."""
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
    """At the end, clear the gradients and put buffers (BatchNorm statistics) and random states back."""
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
    """Return what keeps torch.compile from working on `device`, or None when it can be tried."""
    if device.type == "mps" and torch.__version__ < (2, 7):
        return f"torch.compile needs PyTorch 2.7 on MPS, and this is {torch.__version__}"
    return None


# --8<-- [end:why_not_compile]
def coarsest_format(module: nn.Module, warm_up: WarmUp) -> torch.dtype:
    """Return the format with the fewest digits that `warm_up` computes in: of autocast or of the weights."""
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
    """Return a context in which dropout calls `native_dropout`, as compiled networks do.

    Otherwise it may call another operator, which draws other numbers from the same seed.
    """
    from torch._dispatch.python import enable_python_dispatcher

    return enable_python_dispatcher()


def options_for(backend: str | Callable) -> dict[str, Any] | None:
    """Return what keeps Inductor from a random generator of its own."""
    return {"fallback_random": True} if backend == "inductor" else None


def name_of(backend: str | Callable, device: torch.device) -> str:
    """Return what a user should read about the compiler."""
    name = backend if isinstance(backend, str) else getattr(backend, "__name__", "the given backend")
    return f"{name} (a prototype on MPS)" if device.type == "mps" else name


def graphs_so_far() -> int:
    """Return how many pieces of network torch.compile has captured in this process."""
    from torch._dynamo.utils import counters  # here, because importing it takes a second

    return counters["stats"]["unique_graphs"]


def raising_failures() -> contextlib.AbstractContextManager:
    """Return a context in which a failing compiler raises, whatever TORCHDYNAMO_SUPPRESS_ERRORS says."""
    import torch._dynamo

    return torch._dynamo.config.patch(suppress_errors=False)


def in_one_line(error: Exception) -> str:
    """Return kind and first paragraph of `error`: PyTorch appends pages of advice."""
    first = next(iter(str(error).strip().split("\n\n")), "")
    return textwrap.shorten(f"{type(error).__name__}: {first}", 200, placeholder=" …")
