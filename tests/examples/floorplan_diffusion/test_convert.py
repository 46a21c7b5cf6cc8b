"""Published plans become files of plain numbers: what is read from them, what is refused, what never runs."""

import itertools
import random
from types import SimpleNamespace

import numpy
import pytest
import torch

from examples.floorplan_diffusion import convert
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.plan_files import read_plans, read_splits
from examples.floorplan_diffusion.plans import KINDS, Plan, PlanSet
from examples.floorplan_diffusion.published_files import find_files, plan_of_entry, problems, read_entry
from snippets.errors import UsageError, exit_with_one_line
from tests.examples.attacks import mutated
from tests.examples.floorplan_diffusion.data_files import assert_equal, hand_made
from tests.examples.floorplan_diffusion.published import ROWS, Trap, entry_of, save_as_numpy_1_does
from tests.examples.program_runs import assert_refused, contents

HOUSE, WALL = hand_made()


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Return a function that calls convert.py in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(convert.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


@pytest.fixture
def published(tmp_path):
    """Return a folder with generated plans as they are published: 6 to learn from, 2 and 1 held out."""
    plans = iter(generate_plans(9, 0))
    for split, count in (("train", 6), ("val", 2), ("test", 1)):
        (tmp_path / "rplan" / split).mkdir(parents=True)
        for number in range(count):
            numpy.save(tmp_path / "rplan" / split / f"{number}.npy", entry_of(next(plans)))
    return tmp_path / "rplan"


def test_a_folder_becomes_a_data_set(call, published):
    done = call(published, "--trust-pickle", "--out", "new/plans")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "left out   0 of 9 files\n"
        "written    new/plans: train 6, val 2, test 1 plans\n"
        "next       python examples/floorplan_diffusion/check_data.py new/plans\n"
    )
    found, given = read_splits(published.parent / "new" / "plans"), list(generate_plans(9, 0))
    for split, plans in (("train", given[:6]), ("val", given[6:8]), ("test", given[8:])):
        assert_equal(getattr(found, split), PlanSet.of("", "", plans, most=53))


def test_names_are_their_order_and_hidden_files_are_none(call, published):
    (published / "val" / "._0.npy").write_bytes(b"of macOS")
    (published / "val" / "notes.txt").write_bytes(b"")
    assert call(published, "--trust-pickle").code == 0
    assert len(read_plans(published.parent / "data" / "rplan" / "val.npz")) == 2


# ---- One plan ----


def test_the_plan_of_a_dictionary_typed_by_hand():
    rows = numpy.zeros((53, 16))
    rows[0, :2], rows[1, :2] = (-1, -0.5), (127 / 128, 0.25)  # pixels (0, 64) and (255, 160)
    rows[0, 2] = rows[1, 14] = 3
    rows[1, 15] = 1
    entry = {
        "corners_np": numpy.array([[0.0, 64], [255, 160]]),
        "adjacency_matrix_np": numpy.array([[0, 1], [1, 0]], dtype=numpy.uint8),
        ROWS: rows,
    }
    plan = plan_of_entry(entry)
    assert plan.corners.tolist() == [[0, 64], [255, 160]]
    named = [[KINDS[kind] for kind in numpy.flatnonzero(corner)] for corner in plan.kinds]
    assert named == [["living room"], ["storage", "outside"]]
    assert plan.walls.tolist() == [[0, 1]]
    plans = PlanSet.of("", "", [plan], most=53)
    assert plans.corners.shape == (1, 53, 2) and plans.corners[0, :3].tolist() == [
        [0, 64],
        [255, 160],
        [0, 0],
    ]


OF_COLUMN = {2: 0, 3: 1, 4: 3, 5: 4, 6: 0, 7: 1, 8: 1, 9: 1, 10: 1, 11: 5, 12: 0, 13: 2, 14: 2, 15: 6}


@pytest.mark.parametrize(("column", "kind"), OF_COLUMN.items())
def test_fourteen_counts_become_seven_kinds(column, kind):
    entry = entry_of(HOUSE)
    entry[ROWS][:, 2:] = 0
    entry[ROWS][2, column] = 5
    expected = numpy.zeros((4, 7), dtype=bool)
    expected[2, kind] = True
    assert numpy.array_equal(plan_of_entry(entry).kinds, expected)


@pytest.mark.parametrize("save", [numpy.save, save_as_numpy_1_does])
def test_files_of_both_versions_of_numpy(tmp_path, save):
    entry = entry_of(HOUSE)
    entry["file_id"] = numpy.int64(7)
    entry["semantics"] = {(numpy.float64(10), numpy.int64(20)): numpy.arange(14)}
    save(tmp_path / "7.npy", entry)
    found = read_entry(tmp_path / "7.npy")
    assert found["file_id"] == 7 and found["corners"] == [(10, 20), (50, 20), (50, 60), (10, 60)]
    assert found["semantics"][10, 20].tolist() == list(range(14))
    assert problems(found) == []
    plan = plan_of_entry(found)
    for name in ("corners", "kinds", "walls"):
        assert numpy.array_equal(getattr(plan, name), getattr(HOUSE, name))


def test_the_largest_plan_that_is_read_has_53_corners():
    for count in (53, 54):
        corners = numpy.stack([numpy.arange(count) * 4.0, numpy.arange(count) % 7 * 9.0], axis=1)
        kinds = numpy.zeros((count, 7), dtype=bool)
        plan = Plan(corners, kinds, numpy.array([[0, count - 1]]))
        if count == 53:
            assert plan_of_entry(entry_of(plan)).walls.tolist() == [[0, 52]]
        else:
            entry = {**entry_of(HOUSE), "corners_np": corners}
            with pytest.raises(ValueError, match=r"corners_np has shape \(54, 2\), not 1 to 53 corners"):
                plan_of_entry(entry)


def with_value(key, place, value):
    """Return an array of an entry with a value at a place."""
    array = entry_of(HOUSE)[key].copy()
    array[place] = value
    return {key: array}


PIXELS = HOUSE.corners
WRONG = {
    "no corners": ({"corners_np": PIXELS[:0]}, "corners_np has shape (0, 2), not 1 to 53 corners"),
    "three axes": (
        {"corners_np": PIXELS[None]},
        "corners_np is float64 (1, 4, 2), not an array (corners, 2)",
    ),
    "a list": ({"corners_np": PIXELS.tolist()}, "corners_np is list, not an array (corners, 2)"),
    "no key": ({"adjacency_matrix_np": None}, "adjacency_matrix_np is NoneType, not an array (4, 4)"),
    "NaN": (with_value("corners_np", (1, 1), numpy.nan), "corners_np holds NaN or infinity"),
    "infinity": (with_value(ROWS, (0, 5), numpy.inf), "holds NaN or infinity"),
    "left": (with_value("corners_np", (1, 1), -1), "a corner that is no pixel from 0 to 255"),
    "right": (with_value("corners_np", (1, 1), 255.6), "a corner that is no pixel from 0 to 255"),
    "equal": (with_value("corners_np", 1, PIXELS[0]), "two corners at one place"),
    "nearly equal": (with_value("corners_np", 1, PIXELS[0] + 0.3), "two corners at one place"),
    "other places": (with_value(ROWS, (3, 0), 0.5), f"{ROWS} has other places than corners_np"),
    "15 columns": (
        {ROWS: numpy.zeros((53, 15))},
        f"{ROWS} is float64 (53, 15), not an array (53, 16)",
    ),
    "walls of other corners": (
        {"adjacency_matrix_np": numpy.zeros((5, 5), "B")},
        "adjacency_matrix_np is uint8 (5, 5), not an array (4, 4)",
    ),
    "one way": (with_value("adjacency_matrix_np", (0, 2), 1), "is no symmetric matrix of 0 and 1"),
    "to itself": (with_value("adjacency_matrix_np", (2, 2), 1), "is no symmetric matrix of 0 and 1"),
    "twos": ({"adjacency_matrix_np": entry_of(HOUSE)["adjacency_matrix_np"] * 2}, "is no symmetric matrix"),
}


@pytest.mark.parametrize(("changed", "message"), WRONG.values(), ids=WRONG.keys())
def test_bad_file_is_named_and_can_be_skipped(call, published, changed, message):
    numpy.save(published / "train" / "3.npy", {**entry_of(HOUSE), **changed})
    refused = call(published, "--trust-pickle")
    assert_refused(refused, "1 of 9 files are no plans; --skip-bad leaves them out")
    (line,) = refused.out.splitlines()
    assert line.startswith(f"no plan    {published / 'train' / '3.npy'}: ")
    assert message in line
    assert not (published.parent / "data").exists()
    done = call(published, "--trust-pickle", "--skip-bad")
    assert (done.code, done.out.splitlines()[:2]) == (0, [line, "left out   1 of 9 files"])
    assert [len(part) for part in vars(read_splits(published.parent / "data" / "rplan")).values()] == [
        5,
        2,
        1,
    ]


def test_many_bad_files_are_counted_and_summarized(call, published):
    for number in range(30):
        numpy.save(published / "test" / f"{number}.npy", {})
    refused = call(published, "--trust-pickle")
    assert refused.out.count("no plan    ") == 21 and "no plan    10 more\n" in refused.out
    assert_refused(refused, "30 of 38 files are no plans")
    assert_refused(call(published, "--trust-pickle", "--skip-bad"), f"{published}: no file of test is a plan")


def test_pixels_between_two_are_rounded():
    entry = entry_of(HOUSE)
    entry["corners_np"] = PIXELS + 0.25
    entry[ROWS][:4, :2] = (entry["corners_np"] - 128) / 128
    assert plan_of_entry(entry).corners.tolist() == PIXELS.tolist()


# ---- Nothing is executed ----


def test_without_trust_no_pickle_is_read(call, published, monkeypatch):
    monkeypatch.setattr(convert, "read_entry", lambda path: pytest.fail(f"read {path}"))
    refused = call(published)
    assert_refused(refused, f"{published / 'train' / '0.npy'} is a pickle, which can run any command")
    assert "--trust-pickle" in refused.err and not (published.parent / "data").exists()


@pytest.mark.parametrize("place", ["the whole", "a value", "a key", "a state"])
@pytest.mark.parametrize("words", [[], ["--trust-pickle"], ["--trust-pickle", "--skip-bad"]])
def test_a_malicious_pickle_does_not_execute(call, published, tmp_path, place, words):
    trap, file = Trap(tmp_path / "executed"), published / "train" / "0.npy"
    entry = {
        "the whole": trap,
        "a value": {**entry_of(HOUSE), "file_id": trap},
        "a key": {**entry_of(HOUSE), trap: 1},
        "a state": {**entry_of(HOUSE), "corners_np": numpy.array([trap, 1], dtype=object)},
    }[place]
    numpy.save(file, numpy.array(entry, dtype=object))
    outcome = call(published, *words)
    assert outcome.code == (0 if "--skip-bad" in words else 2)
    if words:
        assert "it wants to use posix.mkdir, which no array needs" in outcome.out
    assert not trap.folder.exists()
    try:
        numpy.load(file, allow_pickle=True)
    except TypeError:
        assert place == "a key"  # after it ran
    assert trap.folder.exists()  # the same file does execute with NumPy


class Lying:
    """An array whose pickle says something else of it than what is true."""

    def __init__(self, array, number_format, shape, content):
        self.array, self.state = array, (1, shape, numpy.dtype(number_format), False, content)

    def __reduce__(self):
        make, arguments, _ = self.array.__reduce__()
        return make, arguments, self.state


@pytest.mark.parametrize(
    ("number_format", "shape", "content"),
    [
        ("f8", (4, 2), bytes(8)),  # too few bytes
        ("f8", (2**40, 2), bytes(64)),
        ("f8", (-1, 2**62), bytes(64)),
        ("O", (4, 2), [None] * 8),
        ("O", (1,), [PIXELS]),
        ("O", (8,), b"f" * 64),  # bytes as pointers
        ("U16", (1,), bytes(64)),
        ([("x", "f8")], (8,), bytes(64)),
    ],
    ids=str,
)
def test_a_state_that_lies_never_reaches_numpy(tmp_path, number_format, shape, content):
    lying = Lying(PIXELS, number_format, shape, content)
    numpy.save(tmp_path / "7.npy", {**entry_of(HOUSE), "corners_np": lying})
    with pytest.raises(ValueError, match="no whole pickle of plain values"):
        read_entry(tmp_path / "7.npy")


def test_other_files_are_no_plans(tmp_path):
    path = tmp_path / "7.npy"
    numpy.save(path, entry_of(HOUSE))
    whole = path.read_bytes()
    for content, message in (
        (b"", "no .npy file: "),
        (b"\x93NUMPY\1\0", "no .npy file: "),
        (whole[:100], "no .npy file: "),
        (whole.replace(b"NUMPY\1", b"NUMPY\2"), "version 2.0 of the format, not 1.0"),
        (whole.replace(b"'|O'", b"'|X'"), "no .npy file: "),
        (whole.replace(b"()", b"3,"), "no .npy file: "),
        (whole.replace(b"(), ", b"(1,)", 1), "it holds numbers (object, shape (1,)), not one dictionary"),
        (whole[:-1], "no whole pickle of plain values: "),
        (whole[:128], "no whole pickle of plain values: "),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError) as refused:
            read_entry(path)
        assert message in str(refused.value) and "\n" not in str(refused.value)
    for value, message in (
        (PIXELS, "it holds numbers (float64, shape (4, 2))"),
        ([1], "it holds numbers (int"),
    ):
        numpy.save(path, value)
        with pytest.raises(ValueError, match=r"it holds numbers \(") as refused:
            read_entry(path)
        assert message in str(refused.value)
    numpy.save(path, numpy.array(None, dtype=object))
    with pytest.raises(ValueError, match="it holds a NoneType, not a dictionary"):
        read_entry(path)
    with pytest.raises(ValueError, match="cannot be read: it is a folder, not a file"):
        read_entry(tmp_path)


def test_mutated_file_gives_a_plan_or_one_reason(tmp_path):
    path, chance = tmp_path / "7.npy", random.Random(0)
    entry = entry_of(HOUSE)
    del entry["edge_coords"]  # it is long
    numpy.save(path, entry)
    whole, refused = path.read_bytes(), 0
    for _ in range(300):
        path.write_bytes(mutated(whole, chance))
        try:
            plan = plan_of_entry(read_entry(path))
        except ValueError:
            refused += 1
        else:
            assert 0 <= plan.corners.min() <= plan.corners.max() <= 255
            assert plan.kinds.shape == (len(plan.corners), 7) and plan.kinds.dtype == bool
            assert (plan.walls < len(plan.corners)).all() and (plan.walls[:, 0] < plan.walls[:, 1]).all()
    assert 50 < refused < 300


# ---- Which files, and where to ----


def test_files_in_one_folder_are_divided_always_alike(call, published):
    folder = published.parent / "flat"
    folder.mkdir()
    for number in range(30):
        numpy.save(folder / f"{number}.npy", entry_of(HOUSE))
    found = find_files(folder)
    assert [len(files) for files in found.values()] == [24, 3, 3]
    assert sorted(itertools.chain(*found.values())) == sorted(folder.iterdir())
    assert found == find_files(folder) and found["train"] != sorted(found["train"])
    assert call(folder, "--trust-pickle").code == 0
    for file in found["train"] + found["val"][1:]:
        file.unlink()
    assert [len(files) for files in find_files(folder).values()] == [2, 1, 1]
    for file in found["test"][1:]:
        file.unlink()
    with pytest.raises(UsageError, match=r"has 2 \.npy files and no folder train; it takes three or more"):
        find_files(folder)


def test_a_single_file_is_in_all_splits(call, published):
    assert call(published / "train" / "0.npy", "--trust-pickle").code == 0
    found = read_splits(published.parent / "data" / "rplan")
    assert torch.equal(found.train.corners, found.test.corners) and len(found.val) == 1


def test_what_has_no_files_is_one_line(call, published):
    assert_refused(call(published / "none"), "is neither a folder nor a file")
    (published / "test" / "0.npy").unlink()
    assert_refused(call(published, "--trust-pickle"), f"{published / 'test'} has no .npy files")
    (published / "test").rmdir()
    assert_refused(call(published, "--trust-pickle"), f"{published / 'test'} has no .npy files")


def test_a_finished_folder_is_not_written_again(call, published, monkeypatch):
    """That is said before minutes of reading."""
    out = published.parent / "data" / "rplan"
    assert call(published, "--trust-pickle").code == 0
    before = contents(out)
    monkeypatch.setattr(convert, "read_entry", lambda path: pytest.fail(f"read {path}"))
    assert_refused(call(published, "--trust-pickle"), "data/rplan is not empty; choose another --out")
    assert contents(out) == before and len(before) == 3


def test_an_interruption_leaves_nothing(call, published, monkeypatch):
    def read(path):
        if path.parent.name == "val":
            raise KeyboardInterrupt
        return read_entry(path)

    monkeypatch.setattr(convert, "read_entry", read)
    stopped = call(published, "--trust-pickle", "--out", "new")
    assert (stopped.code, stopped.err) == (130, "interrupted\n")
    assert [path.name for path in published.parent.iterdir()] == ["rplan"]
