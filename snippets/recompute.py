"""Gradient checkpointing: store less for the backward pass and recompute the rest, with equal dropout."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch.utils.checkpoint import checkpoint


# --8<-- [start:recompute]
def run_recomputed(blocks: Iterable[Callable[[torch.Tensor], torch.Tensor]], x: torch.Tensor) -> torch.Tensor:
    """Return `x` after all blocks. Only the input of each block is stored; backward recomputes the rest."""
    for block in blocks:
        x = checkpoint(
            block, x, use_reentrant=False, context_fn=lambda device=x.device: same_random_numbers(device)
        )
    return x


def same_random_numbers(device: torch.device) -> tuple[AbstractContextManager, AbstractContextManager]:
    """Return contexts for the first and the second computation; both draw the same numbers on `device`.

    `preserve_rng_state` should do this, but PyTorch 2.15.0 ignores it on MPS: dropout would drop other values
    the second time, and the gradient would be wrong without an error.
    """
    generator = torch if device.type == "cpu" else torch.get_device_module(device)
    state = None

    @contextmanager
    def first() -> Iterator[None]:
        nonlocal state
        state = generator.get_rng_state()
        yield

    @contextmanager
    def second() -> Iterator[None]:
        now = generator.get_rng_state()
        generator.set_rng_state(state)
        try:
            yield
        finally:  # checkpoint() ends with an exception as soon as it has all tensors that it needs
            generator.set_rng_state(now)

    return first(), second()


# --8<-- [end:recompute]
