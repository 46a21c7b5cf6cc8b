"""Files of plans: what they give, and the one line that says what is wrong with one."""

import os
import shutil
import tracemalloc

import numpy
import pytest
import torch

from examples.floorplan_diffusion.data_sources import find_data, load_splits
from examples.floorplan_diffusion.generated_plans import generate_plans, generate_splits
from examples.floorplan_diffusion.plan_files import SPLITS, read_plans, read_splits, write_plans, write_splits
from examples.floorplan_diffusion.plans import PlanSet
from examples.programs import array_files
from snippets.errors import RunError, UsageError
from tests.examples.floorplan_diffusion.data_files import arrays, assert_equal, check_plans, hand_made


@pytest.fixture
def write(tmp_path):
    """Return a function that writes the arrays of a file, changed, and returns its path."""

    def call(**changed):
        content = {name: array for name, array in (arrays() | changed).items() if array is not None}
        numpy.savez(tmp_path / "train.npz", **content)
        return tmp_path / "train.npz"

    return call


def refusal(read, *arguments):
    """Return the one line with which something is refused."""
    with pytest.raises(UsageError) as refused:
        read(*arguments)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_what_a_file_gives(write, tmp_path):
    plans = read_plans(write())
    assert_equal(plans, hand_made())
    assert (plans.name, plans.source) == (tmp_path.name, f"2 plans in {tmp_path / 'train.npz'}")
    assert [plan.walls.tolist() for plan in plans] == [[[0, 1], [0, 3], [1, 2], [2, 3]], [[0, 1]]]


def test_written_file_has_the_arrays_typed_by_hand(tmp_path):
    write_plans(tmp_path / "train.npz", hand_made())
    with numpy.load(tmp_path / "train.npz", allow_pickle=False) as file:
        assert set(file) == set(arrays())
        for name, array in arrays().items():
            assert file[name].dtype == array.dtype and numpy.array_equal(file[name], array), name


def test_written_and_read_is_the_same(tmp_path):
    plans = generate_plans(50, 3)
    for given in (plans, plans.padded(53)):
        write_plans(tmp_path / "train.npz", given)
        found = read_plans(tmp_path / "train.npz")
        assert_equal(found, given)
        check_plans(found)
    lonely = PlanSet.of("one", "", [next(iter(hand_made()))])
    without_walls = PlanSet("", "", lonely.corners, lonely.kinds, lonely.counts, lonely.walls & False)
    write_plans(tmp_path / "train.npz", without_walls)
    assert_equal(read_plans(tmp_path / "train.npz"), without_walls)


@pytest.mark.parametrize("kind", [numpy.int32, numpy.uint8, numpy.uint64, ">i8"])
def test_any_integer_type_and_memory_order_is_read(write, kind):
    changed = {name: arrays()[name].astype(kind) for name in ("counts", "walls", "wall_counts")}
    changed["corners"] = numpy.asfortranarray(arrays()["corners"])
    assert_equal(read_plans(write(**changed)), hand_made())


def with_value(name, place, value):
    """Return an array of the file with a value at a place."""
    array = arrays()[name].copy()
    array[place] = value
    return {name: array}


CORNERS, KINDS, COUNTS, WALLS, WALL_COUNTS = arrays().values()
NEITHER = KINDS.copy()
NEITHER.view(numpy.uint8)[1, 0, 0] = 2
WRONG = {
    "no name": ({"walls": None, "edges": WALLS}, "has no array walls; it has corners, kinds, counts, wall_"),
    "objects": (
        {"counts": numpy.array([4, None])},
        "is no whole .npz file with plain numbers: it is a pickle",
    ),
    "fractions": ({"corners": CORNERS.astype("d")}, "corners is float64, not uint8"),
    "numbers for kinds": ({"kinds": KINDS.astype("B")}, "kinds is uint8, not bool"),
    "texts": ({"counts": COUNTS.astype(str)}, "counts is <U21, not whole numbers"),
    "a matrix": ({"walls": hand_made().walls.numpy()}, "walls is bool, not whole numbers"),
    "one axis": ({"walls": WALLS.ravel()}, "walls has shape (10,), not (any, 2)"),
    "six kinds": ({"kinds": KINDS[..., :6]}, "kinds has shape (2, 5, 6), not (any, any, 7)"),
    "misaligned": ({"counts": COUNTS[:1]}, "the arrays are not of the same plans: corners (2, 5, 2), kinds"),
    "fewer corners": ({"corners": CORNERS[:, :4]}, "the arrays are not of the same plans: corners (2, 4, 2)"),
    "no plans": ({name: array[:0] for name, array in arrays().items()}, "has no plans"),
    "too large": (
        {"corners": numpy.zeros((2, 54, 2), "B"), "kinds": numpy.zeros((2, 54, 7), "?")},
        "arrays for 54 corners per plan; more than 53 are not read",
    ),
    "no corners": (with_value("counts", 1, 0), "plan 1 has no number of corners from 1 to 5"),
    "less than none": (with_value("counts", 0, -4), "plan 0 has no number of corners from 1 to 5"),
    "beyond": (with_value("counts", 0, 6), "plan 0 has no number of corners from 1 to 5"),
    "huge": (
        {"counts": numpy.array([4, 2**64 - 1], dtype="u8")},
        "plan 1 has no number of corners from 1 to 5",
    ),
    "neither": ({"kinds": NEITHER}, "plan 1 has kinds that are neither true nor false"),
    "a place behind": (with_value("corners", (1, 2, 0), 7), "plan 1 has values behind its last corner"),
    "a kind behind": (with_value("kinds", (0, 4, 3), True), "plan 0 has values behind its last corner"),
    "equal corners": (with_value("corners", (0, 2), (10, 20)), "plan 0 has two corners at one place"),
    "sums": (with_value("wall_counts", 1, 0), "wall_counts add up to 4, and walls has 5 rows"),
    "negative": ({"wall_counts": numpy.array([6, -1])}, "plan 1 has an impossible number of walls"),
    "huge sums": (
        {"wall_counts": numpy.array([2**64 - 4, 9], dtype="u8")},
        "plan 0 has an impossible number of walls",
    ),
    "to a corner of another plan": (
        with_value("walls", 4, (0, 2)),
        "a wall of plan 1, [0, 2], joins a corner that is not there",
    ),
    "below": (
        {"walls": WALLS.astype("b") - 1},
        "a wall of plan 0, [-1, 0], joins a corner that is not there",
    ),
    "to itself": (with_value("walls", 2, (3, 3)), "a wall of plan 0, [3, 3], joins a corner with itself"),
    "both ways": (
        with_value("walls", 2, (2, 1)),
        "a wall of plan 0, [2, 1], begins with the larger number; write each wall once",
    ),
    "twice": (with_value("walls", 3, (0, 1)), "a wall of plan 0, [0, 1], is there twice"),
}


@pytest.mark.parametrize(("changed", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_one_line(write, changed, message):
    path = write(**changed)
    said = refusal(read_plans, path)
    assert said.startswith(str(path)) and message in said


def test_other_files_are_one_line(write, tmp_path):
    whole, path = write().read_bytes(), tmp_path / "other.npz"
    for content in (b"", b"PK\3\4", whole[: len(whole) // 2], b"x" * 100, b"\x93NUMPY\1\0"):
        path.write_bytes(content)
        assert "other.npz is no whole .npz file with plain numbers: " in refusal(read_plans, path)
    numpy.save(tmp_path / "one.npy", COUNTS)
    assert "one.npy is no whole .npz file" in refusal(read_plans, tmp_path / "one.npy")


def test_unreadable_file_is_refused_in_one_line(write, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = write()
    monkeypatch.setattr(array_files, "open_regular", refuse)
    assert refusal(read_plans, path) == f"cannot read {path}: Permission denied"


def test_files_and_what_reading_takes_stay_small(tmp_path):
    """Not counted are the matrices of walls, 2.8 kB for each plan: PyTorch has them."""
    few = generate_plans(100, 0).padded(53)
    index = torch.arange(10_000) % 100
    many = PlanSet("", "", few.corners[index], few.kinds[index], few.counts[index], few.walls[index])
    write_plans(tmp_path / "train.npz", many)
    assert (tmp_path / "train.npz").stat().st_size < 300 * len(many)
    tracemalloc.start()
    found = read_plans(tmp_path / "train.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * len(many)
    assert_equal(found, many)


# ---- A data set ----


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a small data set."""
    write_splits(tmp_path / "plans", generate_splits(20, 0))
    return tmp_path / "plans"


def test_a_folder_has_three_files_and_gives_three_sets(folder):
    assert sorted(path.name for path in folder.parent.rglob("*")) == [
        "plans",
        "test.npz",
        "train.npz",
        "val.npz",
    ]
    found, given = read_splits(folder), generate_splits(20, 0)
    for split in SPLITS:
        assert_equal(getattr(found, split), getattr(given, split))
    assert found.train.name == "plans"
    assert [len(getattr(load_splits(str(folder), 5, 1), split)) for split in SPLITS] == [20, 8, 8]


def test_a_folder_is_written_whole_or_not_at_all(folder, tmp_path, monkeypatch):
    splits = generate_splits(20, 1)
    with pytest.raises(UsageError, match=r"plans is not empty"):
        write_splits(folder, splits)
    assert_equal(read_splits(folder).train, generate_splits(20, 0).train)
    (tmp_path / "empty").mkdir()
    write_splits(tmp_path / "empty", splits)
    assert_equal(read_splits(tmp_path / "empty").train, splits.train)

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(RunError, match=r"cannot write .*new: No space left on device"):
        write_splits(tmp_path / "new", splits)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "plans"]


@pytest.mark.parametrize("split", SPLITS)
def test_a_missing_file_is_named(folder, split):
    (folder / f"{split}.npz").unlink()
    said = refusal(read_splits, folder)
    assert said.startswith(f"{folder} has no {split}.npz; ") and "make_data.py" in said


def test_what_is_no_data_set_is_one_line(folder, tmp_path):
    assert "is no folder with train.npz" in refusal(read_splits, tmp_path / "none")
    assert "is no folder with train.npz" in refusal(read_splits, folder / "train.npz")
    (tmp_path / "empty").mkdir()
    assert "has no train.npz; to make a whole folder: python" in refusal(read_splits, tmp_path / "empty")


@pytest.mark.parametrize("place", ["train", "test", "."])
def test_published_files_are_referred_to_convert(tmp_path, place):
    folder = tmp_path / "my plans"
    (folder / place).mkdir(parents=True)
    (folder / place / "7.npy").write_bytes(b"")
    said = refusal(read_splits, folder)
    assert said.endswith(f"convert.py '{folder}' --trust-pickle --out data/rplan") and "are pickles" in said


def test_published_files_beside_ours_are_not_in_the_way(folder):
    shutil.copy(folder / "val.npz", folder / "7.npy")
    assert len(read_splits(folder).val) == 8


def test_what_data_may_be_named(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [find_data(name) for name in ("generated", "plans")] == ["generated", "folder"]
    for name in ("pages", "plans/train.npz"):
        assert f"--data {name}: neither generated nor an existing folder" in refusal(find_data, name)
    assert_equal(load_splits("generated", 20, 0).train, generate_splits(20, 0).train)
