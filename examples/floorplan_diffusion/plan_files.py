"""Floor plans in a .npz file of plain numbers. A data set is a folder with train.npz, val.npz and test.npz.

The arrays are: corners (plans, most corners, 2) uint8, pixels; kinds (plans, most corners, 7) bool; counts
(plans,), the number of corners of each plan, after which both are zero; walls (walls, 2), the indices of the
two corners of each wall, the smaller first, plan after plan; wall_counts (plans,), the number of walls.
"""

import shlex
from pathlib import Path

import numpy
import torch

from examples.floorplan_diffusion.plans import KINDS, MOST_CORNERS, PlanSet, Splits
from examples.programs.array_files import read_npz
from examples.programs.run_folder import write_whole
from snippets.atomic_write import replace_file
from snippets.errors import UsageError

SPLITS = ("train", "val", "test")
MOST_PLANS = 300_000  # of a file; RPLAN has 80,000. Each takes 2,809 bytes for its walls
SHAPES = {  # "" is any positive number
    "corners": ("", "", 2),
    "kinds": ("", "", len(KINDS)),
    "counts": ("",),
    "walls": ("", 2),
    "wall_counts": ("",),
}
MAKE = "python examples/floorplan_diffusion/make_data.py"
CONVERT = "python examples/floorplan_diffusion/convert.py"


def write_plans(path: Path, plans: PlanSet) -> None:
    """Replace `path` by a file with the plans. Raises OSError."""
    walls = plans.walls.triu().nonzero().numpy()  # rows of plan, corner, corner
    arrays = {
        "corners": plans.corners.numpy(),
        "kinds": plans.kinds.numpy(),
        "counts": plans.counts.numpy(),
        "walls": walls[:, 1:].astype(numpy.uint8),
        "wall_counts": numpy.bincount(walls[:, 0], minlength=len(plans)),
    }
    replace_file(path, lambda file: numpy.savez_compressed(file, **arrays))


def write_splits(folder: Path, splits: Splits) -> None:
    """Write the plans as a data set into the new `folder`, atomically. Raises UsageError and RunError."""

    def write(new: Path) -> None:
        for split in SPLITS:
            write_plans(new / f"{split}.npz", getattr(splits, split))

    write_whole(folder, write)


def read_splits(folder: Path) -> Splits:
    """Return the plans of a data set. Raises UsageError with the reason."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder with train.npz, val.npz and test.npz; to make one: {MAKE}")
    if holds_published_files(folder):
        raise UsageError(
            f"{folder} holds .npy files as they are published, which are pickles; "
            f"write them as plain numbers: {CONVERT} {shlex.quote(str(folder))} --trust-pickle "
            "--out data/rplan"
        )
    return Splits(*(read_plans(folder / f"{split}.npz") for split in SPLITS))


def holds_published_files(folder: Path) -> bool:
    """Return whether `folder`, or folders of splits in it, have `.npy` files and none of ours."""
    if any((folder / f"{split}.npz").exists() for split in SPLITS):
        return False
    return any(next(part.glob("*.npy"), None) for part in (folder, *(folder / split for split in SPLITS)))


def read_plans(path: Path) -> PlanSet:
    """Return the plans in a file. Raises UsageError with the reason."""
    if not path.exists():
        raise UsageError(f"{path.parent} has no {path.name}; to make a whole folder: {MAKE}")
    arrays = {name: numpy.ascontiguousarray(array) for name, array in read_npz(path, list(SHAPES)).items()}
    check_shapes(path, arrays)
    corners, kinds, counts, walls, wall_counts = arrays.values()
    most = corners.shape[1]
    refuse_first(path, (counts < 1) | (counts > most), f"has no number of corners from 1 to {most}")
    refuse_first(path, (wall_counts < 0) | (wall_counts > most**2), "has an impossible number of walls")
    counts, wall_counts = counts.astype(numpy.int64), wall_counts.astype(numpy.int64)
    refuse_first(path, (kinds.view(numpy.uint8) > 1).any((1, 2)), "has kinds that are neither true nor false")
    real = numpy.arange(most) < counts[:, None]
    used = corners.any(2) | kinds.any(2)
    refuse_first(path, (used & ~real).any(1), "has values behind its last corner")
    refuse_first(path, have_equal_corners(corners, real), "has two corners at one place")
    return PlanSet(
        path.resolve().parent.name,
        f"{len(counts):,} plans in {path}",
        torch.from_numpy(corners),
        torch.from_numpy(kinds),
        torch.from_numpy(counts),
        wall_matrices(path, walls, wall_counts, counts, most),
    )


def check_shapes(path: Path, arrays: dict[str, numpy.ndarray]) -> None:
    """Raise UsageError unless the arrays have the right types and matching shapes."""
    for name, array in arrays.items():
        wanted = {"corners": "uint8", "kinds": "bool"}.get(name, "whole numbers")
        if array.dtype != wanted if wanted != "whole numbers" else array.dtype.kind not in "iu":
            raise UsageError(f"{path}: {name} is {array.dtype}, not {wanted}")
        fits = array.ndim == len(SHAPES[name]) and all(
            size == known or known == "" for size, known in zip(array.shape, SHAPES[name], strict=True)
        )
        if not fits:
            axes = ", ".join(str(size or "any") for size in SHAPES[name])
            raise UsageError(f"{path}: {name} has shape {array.shape}, not ({axes})")
    corners, kinds, counts, _, wall_counts = arrays.values()
    if corners.shape[:2] != kinds.shape[:2] or not len(corners) == len(counts) == len(wall_counts):
        shapes = ", ".join(f"{name} {arrays[name].shape}" for name in SHAPES if name != "walls")
        raise UsageError(f"{path}: the arrays are not of the same plans: {shapes}")
    if not len(corners):
        raise UsageError(f"{path} has no plans")
    if len(corners) > MOST_PLANS:
        raise UsageError(f"{path} has {len(corners):,} plans; more than {MOST_PLANS:,} are not read")
    if corners.shape[1] > MOST_CORNERS:
        raise UsageError(
            f"{path}: arrays for {corners.shape[1]} corners per plan; more than {MOST_CORNERS} are not read"
        )


def refuse_first(path: Path, wrong: numpy.ndarray, what: str) -> None:
    """Raise UsageError that names the first plan, counted from 0, that is `wrong`."""
    if wrong.any():
        raise UsageError(f"{path}: plan {int(wrong.argmax())} {what}")


def have_equal_corners(corners: numpy.ndarray, real: numpy.ndarray) -> numpy.ndarray:
    """Return which plans have two corners at the same place, which a graph cannot have."""
    places = corners[..., 0].astype(numpy.int32) * 256 + corners[..., 1]
    places = numpy.where(real, places, -1 - numpy.arange(corners.shape[1]))  # padding gets distinct places
    places.sort(axis=1)
    return (places[:, 1:] == places[:, :-1]).any(1)


def wall_matrices(
    path: Path, walls: numpy.ndarray, wall_counts: numpy.ndarray, counts: numpy.ndarray, most: int
) -> torch.Tensor:
    """Return the walls of all plans as symmetric matrices. Raises UsageError."""
    if wall_counts.sum() != len(walls):
        raise UsageError(
            f"{path}: wall_counts add up to {wall_counts.sum()}, and walls has {len(walls)} rows"
        )
    plan = numpy.repeat(numpy.arange(len(counts)), wall_counts)

    def refuse(wrong: numpy.ndarray, what: str) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            raise UsageError(f"{path}: a wall of plan {plan[row]}, {walls[row].tolist()}, {what}")

    refuse((walls < 0).any(1) | (walls >= counts[plan, None]).any(1), "joins a corner that is not there")
    first, second = walls.astype(numpy.int64).T
    refuse(first == second, "joins a corner with itself")
    refuse(first > second, "begins with the larger number; write each wall once, the smaller number first")
    again = numpy.ones(len(walls), dtype=bool)
    again[numpy.unique((plan * most + first) * most + second, return_index=True)[1]] = False
    refuse(again, "is there twice")
    matrices = torch.zeros(len(counts), most, most, dtype=torch.bool)
    places = torch.from_numpy(numpy.stack([plan, first, second]))
    matrices[tuple(places)] = matrices[tuple(places[[0, 2, 1]])] = True
    return matrices
