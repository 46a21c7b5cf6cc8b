"""Gradient accumulation: the gradient of a large batch, from passes over parts of it that fit in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import torch

from snippets.checkpoints import TrainingState

Part = TypeVar("Part")


# --8<-- [start:accumulate_gradients]
def accumulate_gradients(
    parts: Sequence[Part],
    measure: Callable[[Part], torch.Tensor],
    scaler: torch.amp.GradScaler,
    count: Callable[[Part], int] = len,
) -> torch.Tensor:
    """Add the gradients of all parts of a batch to `.grad`; return the measures (k,) of the whole batch.

    `measure(part)` returns numbers (k,) that are means over the `count(part)` samples of the part, the first
    one its loss. Each part counts by its share of the samples: the sum is the gradient of the mean over all,
    also when the last part is smaller. Only one part's activations are in memory at a time.
    """
    if len(parts) == 1:  # nothing to add up, and in a small network each operation more is noticed
        measures = measure(parts[0])
        scaler.scale(measures[0]).backward()
        return measures.detach()
    samples = sum(map(count, parts))
    total = []
    for part in parts:
        measures = measure(part) * (count(part) / samples)
        scaler.scale(measures[0]).backward()
        total.append(measures.detach())
    return torch.stack(total).sum(0)


# --8<-- [end:accumulate_gradients]
# --8<-- [start:groups]
def in_groups(batches: Iterable[Part], size: int) -> Iterator[list[Part]]:
    """Yield lists of `size` batches of a loader that makes only small ones; the last may be shorter."""
    group = []
    for batch in batches:
        group.append(batch)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


# --8<-- [end:groups]
# --8<-- [start:update]
def update(state: TrainingState, max_norm: float | None = None) -> None:
    """Change the weights once, with the gradients accumulated so far, and clear them. One step is done.

    `max_norm` clips the norm of all gradients together. With fp16, the scaler leaves the weights as they are
    when a gradient overflowed, and continues with a smaller scale; the learning rate then waits as well.
    """
    if max_norm is not None:
        for optimizer in state.optimizers:
            state.scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(state.model.parameters(), max_norm)
    for optimizer in state.optimizers:
        state.scaler.step(optimizer)
    scale_before = state.scaler.get_scale()
    state.scaler.update()
    if state.scaler.get_scale() >= scale_before:
        for scheduler in state.schedulers:
            scheduler.step()
    for optimizer in state.optimizers:
        optimizer.zero_grad()  # model.zero_grad() walks through all modules: 0.1 ms for a ResNet-18
    state.step += 1


# --8<-- [end:update]
