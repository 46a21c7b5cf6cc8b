"""Floor plans as graphs of corners, with the kinds of adjacent rooms, and walls between them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy
import torch

# --8<-- [start:kinds]
KINDS = ("living room", "bedroom", "storage", "kitchen", "bathroom", "balcony", "outside")
OUTSIDE = KINDS.index("outside")
MOST_CORNERS = 53  # of a plan in the published data
CANVAS = 256  # pixels along each side


# --8<-- [end:kinds]
# --8<-- [start:plan]
@dataclass(frozen=True)
class Plan:
    """One floor plan; x grows to the right, y downwards."""

    corners: numpy.ndarray  # (corners, 2) float, pixels
    kinds: numpy.ndarray  # (corners, 7) bool: the kinds of rooms at the corner
    walls: numpy.ndarray  # (walls, 2) int: indices of two corners, the smaller first


# --8<-- [end:plan]
@dataclass(frozen=True)
class PlanSet:
    """Many plans in arrays of one size, for training. Padding is zero."""

    name: str
    source: str  # a description for the report of a run
    corners: torch.Tensor  # (plans, most corners, 2) uint8, pixels
    kinds: torch.Tensor  # (plans, most corners, 7) bool
    counts: torch.Tensor  # (plans,) int64: corners of each plan
    walls: torch.Tensor  # (plans, most corners, most corners) bool, symmetric

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def of(cls, name: str, source: str, plans: list[Plan], most: int | None = None) -> Self:
        """Return the plans in arrays for `most` corners, by default those of the largest plan."""
        counts = torch.tensor([len(plan.corners) for plan in plans])
        most = most or int(counts.max())
        corners = torch.zeros(len(plans), most, 2, dtype=torch.uint8)
        kinds = torch.zeros(len(plans), most, len(KINDS), dtype=torch.bool)
        walls = torch.zeros(len(plans), most, most, dtype=torch.bool)
        for index, plan in enumerate(plans):
            count = len(plan.corners)
            corners[index, :count] = torch.from_numpy(plan.corners.round().astype(numpy.uint8))
            kinds[index, :count] = torch.from_numpy(plan.kinds)
            start, end = torch.from_numpy(plan.walls).long().T
            walls[index, start, end] = walls[index, end, start] = True
        return cls(name, source, corners, kinds, counts, walls)

    def padded(self, most: int) -> Self:
        """Return the same plans in arrays for `most` corners, not fewer than the largest plan has."""
        more = most - self.corners.shape[1]
        pad = torch.nn.functional.pad
        return replace(
            self,
            corners=pad(self.corners, (0, 0, 0, more)),
            kinds=pad(self.kinds, (0, 0, 0, more)),
            walls=pad(self.walls, (0, more, 0, more)),
        )

    def real(self) -> torch.Tensor:
        """Return which corners are not padding, bool (plans, most corners)."""
        return torch.arange(self.corners.shape[1]) < self.counts.unsqueeze(1)

    def __iter__(self) -> Iterator[Plan]:
        """Yield the plans one by one."""
        for corners, kinds, count, walls in zip(
            self.corners, self.kinds, self.counts.tolist(), self.walls, strict=True
        ):
            pairs = walls[:count, :count].triu().nonzero().numpy()
            yield Plan(corners[:count].numpy().astype(float), kinds[:count].numpy(), pairs)


@dataclass(frozen=True)
class Splits:
    """The plans for training, for validation, and for the final test."""

    train: PlanSet
    val: PlanSet
    test: PlanSet

    def most_corners(self) -> int:
        """Return the number of corners of the largest plan."""
        return max(int(part.counts.max()) for part in (self.train, self.val, self.test))
