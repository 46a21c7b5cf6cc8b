"""The check of a data set: what it prints of a whole one, and what it calls wrong."""

from dataclasses import replace
from types import SimpleNamespace

import numpy
import pytest

from examples.floorplan_diffusion import check_data
from examples.floorplan_diffusion.generated_plans import generate_plans, generate_splits
from examples.floorplan_diffusion.plan_files import write_plans, write_splits
from examples.floorplan_diffusion.plans import Plan, PlanSet, Splits
from snippets.errors import UsageError, exit_with_one_line
from tests.examples.floorplan_diffusion.data_files import hand_made
from tests.examples.floorplan_diffusion.published import Trap, entry_of
from tests.examples.program_runs import assert_refused


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Return a function that calls check_data.py in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(check_data.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


def wrong(outcome):
    """Return what was called wrong; the exit code must be that of it."""
    lines = [
        line.removeprefix("wrong      ") for line in outcome.out.splitlines() if line.startswith("wrong ")
    ]
    assert (outcome.code, outcome.err) == (1 if lines else 0, "")
    assert outcome.out.endswith("result     nothing is wrong\n") != bool(lines)
    return lines


def test_data_from_make_data_is_found_and_described(call, tmp_path):
    write_splits(tmp_path / "data" / "plans", generate_splits(30, 0))
    done = call()
    assert wrong(done) == []
    counts = generate_splits(30, 0).train.counts.tolist()
    lines = done.out.splitlines()
    assert lines[:2] == [
        "data       data/plans",
        f"train      30 plans, {min(counts)} to {max(counts)} corners, {sum(counts) / 30:.1f} on average, "
        "closed 100.0%",
    ]
    assert lines[2].startswith("           living room 100%, bedroom 100%, storage ")
    assert [line.split()[0] for line in lines[3::2]] == ["val", "test", "result"]


def test_missing_data_names_the_program_that_makes_it(call):
    for words in ([], ["data/other"]):
        path = words[0] if words else "data/plans"
        refused = call(*words)
        assert_refused(
            refused, f"there is no {path}; to make a data set: python examples/floorplan_diffusion/"
        )
        assert refused.err.endswith(f"make_data.py --out {path}\n")


def test_shares_of_closed_plans_and_of_kinds(call, tmp_path):
    """By hand: a house that is closed, and a wall that is not; bedrooms in one, a balcony in the other."""
    write_splits(tmp_path / "plans", Splits(hand_made(), generate_plans(8, 0), generate_plans(8, 1)))
    lines = call("plans").out.splitlines()
    assert lines[1] == "train      2 plans, 2 to 4 corners, 3.0 on average, closed 50.0%"
    assert lines[2].split(maxsplit=2)[2].startswith("0%, bedroom 50%, storage 0%, kitchen 0%, bath")
    assert lines[2].endswith("balcony 50%, outside 100%")


def test_closed_rooms_are_counted_in_the_first_plans(call, tmp_path, monkeypatch):
    monkeypatch.setattr(check_data, "CLOSED", 10)
    write_splits(tmp_path / "plans", generate_splits(20, 0))
    out = call("plans").out
    assert out.count("closed 100.0% of 10\n") == 1 and out.count("closed 100.0%\n") == 2


def reordered(plan, random):
    """Return the same plan with its corners in another order."""
    order = random.permutation(len(plan.corners))
    walls = numpy.sort(order.argsort()[plan.walls], axis=1)
    return Plan(plan.corners[order], plan.kinds[order], walls[random.permutation(len(walls))])


def test_reordered_copies_of_training_plans_are_found(call, tmp_path):
    splits, random = generate_splits(30, 0), numpy.random.default_rng(0)
    known, new = list(splits.train), list(splits.val)
    mixed = [reordered(known[3], random), *new[:5], reordered(known[29], random)]
    write_splits(tmp_path / "plans", replace(splits, val=PlanSet.of("", "", mixed)))
    assert wrong(call("plans")) == [
        "2 plans of val are in train, too: results there do not tell anything new"
    ]


@pytest.mark.parametrize("part", ["corners", "kinds", "walls"])
def test_plans_that_differ_in_one_part_are_not_equal(part):
    plan = next(iter(hand_made()))
    changed = {
        "corners": plan.corners + numpy.array([[0, 0], [1, 0], [1, 0], [0, 0]]),
        "kinds": plan.kinds.copy(),
    }
    changed["kinds"][2, 4] = True
    changed["walls"] = numpy.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    (first,), (second,) = (
        set(check_data.keys([one])) for one in (plan, replace(plan, **{part: changed[part]}))
    )
    assert first != second


def test_each_damaged_file_is_named(call, tmp_path):
    write_splits(tmp_path / "plans", generate_splits(20, 0))
    (tmp_path / "plans" / "val.npz").write_bytes(b"")
    (tmp_path / "plans" / "test.npz").unlink()
    first, second = wrong(call("plans"))
    assert first.startswith("plans/val.npz is no whole .npz file with plain numbers")
    assert second.startswith("plans has no test.npz")
    assert wrong(call("plans/train.npz")) == []
    assert "plans has no test.npz" in wrong(call("plans"))[1]
    (only,) = wrong(call("plans/val.npz"))
    assert only == first


# ---- Published files ----


@pytest.fixture
def published(tmp_path):
    """Return a folder with generated plans as they are published."""
    plans = iter(generate_plans(7, 0))
    for split, count in (("train", 4), ("val", 2), ("test", 1)):
        (tmp_path / "rplan" / split).mkdir(parents=True)
        for number in range(count):
            numpy.save(tmp_path / "rplan" / split / f"{number}.npy", entry_of(next(plans)))
    return tmp_path / "rplan"


def test_of_published_files_the_heads_are_read(call, published, monkeypatch):
    monkeypatch.setattr(check_data, "read_entry", lambda path: pytest.fail(f"read {path}"))
    done = call("rplan")
    assert wrong(done) == []
    assert done.out.splitlines()[:4] == [
        "data       rplan",
        "train      4 files",
        "val        2 files",
        "test       1 files",
    ]
    assert "note       only the heads were read" in done.out
    assert "convert.py rplan --trust-pickle\n" in done.out


def test_heads_of_other_arrays_are_wrong(call, published):
    numpy.save(published / "train" / "2.npy", numpy.arange(5))
    numpy.save(published / "val" / "0.npy", numpy.array([{}, {}], dtype=object))
    (published / "val" / "1.npy").write_bytes(b"")
    first, second, third = wrong(call("rplan"))
    assert first == "rplan/train/2.npy: it holds numbers (int64, shape (5,)), not one dictionary"
    assert second == "rplan/val/0.npy: it holds numbers (object, shape (2,)), not one dictionary"
    assert third.startswith("rplan/val/1.npy: no .npy file: ")


@pytest.mark.parametrize("words", [[], ["--trust-pickle"]])
def test_a_malicious_pickle_does_not_execute(call, published, tmp_path, words):
    trap, file = Trap(tmp_path / "executed"), published / "train" / "0.npy"
    numpy.save(file, {**entry_of(next(iter(hand_made()))), "file_id": trap})
    found = wrong(call("rplan", *words))
    assert len(found) == len(words) and all("it wants to use posix.mkdir" in line for line in found)
    assert not trap.folder.exists()
    numpy.load(file, allow_pickle=True)
    assert trap.folder.exists()


def test_with_trust_published_files_are_described_and_compared(call, published):
    done = call("rplan", "--trust-pickle")
    assert wrong(done) == [] and "note" not in done.out
    assert "train      4 plans, " in done.out and "closed 100.0%" in done.out
    (published / "test" / "1.npy").write_bytes((published / "train" / "3.npy").read_bytes())
    assert wrong(call("rplan", "--trust-pickle")) == [
        "1 plans of test are in train, too: results there do not tell anything new"
    ]


ENTRY = entry_of(next(iter(hand_made())))
CHANGED = {
    "no key": ({"semantics": ...}, "no semantics"),
    "two": ({"edges": ..., "file_id": ...}, "no edges; no file_id"),
    "fewer corners": (
        {"adjacency_list_np": ENTRY["adjacency_list_np"][:3]},
        "adjacency_list_np is uint8 (3, 4), not uint8 (4, 4)",
    ),
    "padded to 50": (
        {"padding_mask": ENTRY["padding_mask"][:50]},
        "padding_mask is uint8 (50, 1), not uint8",
    ),
    "32 bits": ({"edge_coords": ENTRY["edge_coords"].astype("f")}, "edge_coords is float32 (2809, 4), not f"),
    "flat": ({"edges": ENTRY["edges"].ravel()}, "edges is uint8 (2809,), not uint8 (2809, 1)"),
    "a list": ({"edges": ENTRY["edges"].tolist()}, "edges is list, not uint8 (2809, 1)"),
    "texts": ({"file_id": "7"}, "file_id is str, not int"),
    "an array": ({"corners": ENTRY["corners_np"]}, "corners is float64 (4, 2), not list"),
    "no plan": ({"corners_np": ENTRY["corners_np"] * 0}, "two corners at one place"),
}


@pytest.mark.parametrize(("changed", "message"), CHANGED.values(), ids=CHANGED.keys())
def test_keys_shapes_and_types_are_checked(call, tmp_path, changed, message):
    entry = {key: value for key, value in (ENTRY | changed).items() if value is not ...}
    numpy.save(tmp_path / "7.npy", entry)
    (line,) = wrong(call("7.npy", "--trust-pickle"))
    assert line.startswith(f"7.npy: {message}")
    assert wrong(call("7.npy")) == []  # its head is in order


def test_a_single_file_is_compared_with_nothing(call, tmp_path):
    numpy.save(tmp_path / "7.npy", ENTRY)
    done = call("7.npy", "--trust-pickle")
    assert (
        wrong(done) == [] and "file       1 plans, 4 to 4 corners, 4.0 on average, closed 100.0%" in done.out
    )


def test_many_wrong_files_are_counted(call, published):
    for number in range(30):
        (published / "val" / f"{number}.npy").write_bytes(b"")
    lines = wrong(call("rplan"))
    assert len(lines) == 21 and lines[-1] == "10 more"


def test_the_first_plans_are_drawn(tmp_path, capsys):
    (tmp_path / "train.npz").parent.mkdir(exist_ok=True)
    write_plans(tmp_path / "train.npz", generate_plans(14, 0))
    words = [str(tmp_path / "train.npz"), "--picture", str(tmp_path / "plans.png")]
    assert check_data.main(words) == 0
    assert f"drawn      {tmp_path}/plans.png: the first 12 plans of train\n" in capsys.readouterr().out
    assert (tmp_path / "plans.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="is there already"):  # nobody's picture is replaced
        check_data.main(words)
