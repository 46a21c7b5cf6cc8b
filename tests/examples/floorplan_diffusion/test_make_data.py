"""The program that writes generated plans as a data set, or checks one."""

import subprocess
import sys
from types import SimpleNamespace

import numpy
import pytest

from examples.floorplan_diffusion import make_data
from examples.floorplan_diffusion.generated_plans import generate_splits
from examples.floorplan_diffusion.plan_files import SPLITS, read_splits
from snippets.errors import exit_with_one_line
from tests.examples.floorplan_diffusion.data_files import assert_equal, hand_made
from tests.examples.floorplan_diffusion.published import entry_of
from tests.examples.program_runs import assert_refused, contents


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Return a function that calls make_data.py in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(make_data.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


def test_what_is_written_is_what_trains_without_files(call, tmp_path):
    done = call("--plans", 20, "--seed", 3, "--out", "some plans")
    assert (done.code, done.err) == (0, "")
    size = sum(map(len, contents(tmp_path / "some plans").values())) / 1e6
    assert done.out == (
        f"written    some plans: train 20, val 8, test 8 plans, {size:.1f} MB\n"
        "next       python examples/floorplan_diffusion/train_nodes.py --data 'some plans'\n"
    )
    found, given = read_splits(tmp_path / "some plans"), generate_splits(20, 3)
    for split in SPLITS:
        assert_equal(getattr(found, split), getattr(given, split))


def test_equal_options_give_equal_files(call, tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        call("--plans", 20, "--seed", seed, "--out", name)
    one, two, three = (list(contents(tmp_path / name).values()) for name in ("one", "two", "three"))
    assert one == two != three


def test_a_data_set_is_not_written_over(call, tmp_path):
    assert call("--plans", 20).code == 0
    before = contents(tmp_path)
    assert len(before) == 3
    assert_refused(call("--plans", 20, "--seed", 1), "data/plans is not empty; choose another --out")
    assert contents(tmp_path) == before


def test_a_folder_may_be_checked_instead(call, tmp_path):
    call("--plans", 20, "--out", "plans")
    checked = call("--data", "plans")
    assert (checked.code, checked.out.splitlines()[-1]) == (0, "result     nothing is wrong")
    (tmp_path / "plans" / "val.npz").write_bytes(b"")
    checked = call("--data", "plans")
    assert checked.code == 1 and "wrong      plans/val.npz is no whole .npz file" in checked.out
    numpy.save(tmp_path / "7.npy", entry_of(next(iter(hand_made()))))
    assert "only the heads were read" in call("--data", "7.npy").out
    assert_refused(call("--data", "none"), "there is no none; to make a data set")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", [["--plans", "0"], ["--plans", "x"], ["--seed", "-1"], ["--Seed", "1"]])
def test_wrong_options_are_one_line(call, words):
    assert_refused(call(*words), words[0])


@pytest.mark.program
@pytest.mark.parametrize(  # each start takes seconds
    "name", ["make_data", *(pytest.param(name, marks=pytest.mark.long) for name in ("check_data", "convert"))]
)
def test_the_programs_start_from_any_folder(tmp_path, name):
    file = sys.modules[make_data.__name__].__file__.replace("make_data", name)
    done = subprocess.run(
        [sys.executable, file, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith(f"usage: {name}.py")
