"""Find the largest batch size that fits in memory, and measure the speed of smaller ones."""

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch

from snippets.checkpoints import TrainingState
from snippets.device import synchronize
from snippets.errors import RunError, UsageError
from snippets.memory import is_out_of_memory, limit_memory, release_unused
from snippets.timing import measure, spread

STEPS = 2  # per size: Adam allocates its states at the end of the first step, so the second needs more memory


@dataclass(frozen=True)
class BatchSizeLimit:
    """The result of the search: the largest size that ran, and the smallest that failed, if any did."""

    largest: int
    too_large: int | None

    def __str__(self) -> str:
        """Return the result as one sentence."""
        if self.too_large is None:
            return f"batch size {self.largest} runs, and nothing larger was tried: this is not the limit"
        return f"batch size {self.largest} runs, {self.too_large} does not"


# --8<-- [start:search]
def largest_batch_size(
    step: Callable[[int], object],
    state: TrainingState,
    *,
    smallest: int = 1,
    largest: int = 1 << 16,
    only_doubling: bool = False,
    tell: Callable[[str], object] = lambda line: None,
) -> BatchSizeLimit:
    """Double the batch size until one is too large, then find the exact limit by bisection.

    `step(size)` takes a complete training step with `size` samples: forward, backward, optimizer. Sizes from
    `smallest` to `largest` are tried; `only_doubling` stops at the last doubling that ran. Afterwards the
    network, its optimizers and all random generators are as before. Raises RunError if even `smallest` fails.
    """
    if not 1 <= smallest <= largest:
        raise UsageError(f"cannot try batch sizes from {smallest} to {largest}; 1 is the smallest there is")
    before = io.BytesIO()  # in the memory of the CPU: a copy on the device would make the limit smaller
    torch.save(state.capture(), before)
    fits, too_large = 0, None
    size: int | None = smallest
    try:
        while size is not None:
            runs = _runs(step, size, state)
            tell(f"batch size {size}: {'runs' if runs else 'out of memory'}")
            if runs:
                fits = size
            else:
                too_large = size
                _restore(state, before)  # memory can run out in the middle of the optimizer's update
            size = _next_size(fits, too_large, largest, only_doubling)
    finally:
        _restore(state, before)
    if not fits:
        raise RunError(f"out of memory even with batch size {smallest}; the network has to be smaller")
    return BatchSizeLimit(fits, too_large)


def _next_size(fits: int, too_large: int | None, largest: int, only_doubling: bool) -> int | None:
    """Return the size to try next, or None when the limit is known."""
    if too_large is None:
        return None if fits == largest else min(2 * fits, largest)
    if not fits or only_doubling or too_large - fits == 1:
        return None
    return (fits + too_large) // 2


def _restore(state: TrainingState, saved: io.BytesIO) -> None:
    """Restore the saved state and release the memory that the trial steps used."""
    saved.seek(0)
    state.restore(torch.load(saved, map_location="cpu", weights_only=True))
    state.model.zero_grad(set_to_none=True)
    release_unused(state.device)


# --8<-- [end:search]
# --8<-- [start:attempt]
def _runs(step: Callable[[int], object], size: int, state: TrainingState) -> bool:
    """Return whether steps with `size` samples fit in memory. Raises every error but out of memory."""
    try:
        for _ in range(STEPS):
            step(size)
        synchronize(state.device)  # GPUs report some failures only when they are waited for
        return True
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    # Release memory after the `except` block: inside it, the error keeps the variables of the failed step
    # alive.
    return False


# --8<-- [end:attempt]
# --8<-- [start:use]
def find_limit(
    state: TrainingState, step: Callable[[int], object], largest: int, share: float = 1.0
) -> BatchSizeLimit:
    """Search for the limit of a training; `step` as for `largest_batch_size`. Meant for a process of its own.

    On MPS, allocations fail from now on beyond `share` of what Metal recommends. PyTorch's default is 1.7
    times that: more than the Mac has, so that it would swap for long before anything fails.
    """
    if state.device.type == "mps":
        limit_memory(state.device, share)
    return largest_batch_size(step, state, largest=largest, tell=print)


# --8<-- [end:use]
# --8<-- [start:sweep]
def samples_per_second(
    step: Callable[[int], object], sizes: Iterable[int], device: torch.device
) -> dict[int, float]:
    """Return the samples per second of `step` by batch size, each from the median of 30 steps."""
    return {size: size / spread(measure(partial(step, size), device)).median for size in sizes}


# --8<-- [end:sweep]
