"""Several seeds, one after the other: what is trained, continued, noted, and summed up."""

import json
import statistics
import subprocess
import sys
from types import SimpleNamespace

import pytest

from examples.genomic_caduceus import compare_seeds, train
from examples.genomic_caduceus.compare_seeds import mean_and_deviation, result_of, summary_of, table
from snippets.errors import exit_with_one_line

pytestmark = pytest.mark.unmeasured

TINY = ("dataset.sequences=48", "dataset.max_length=24", "model.config.d_model=4", "model.config.d_state=1")
TINY = (*TINY, "batch_size=24", "max_steps=2", "device=cpu")


@pytest.fixture
def commands(monkeypatch, one_thread):
    """Let train.py run in this process, which takes no start-up time; return the words it was given."""
    given = []

    def run(command):
        given.append(command[2:])
        assert command[:2] == [sys.executable, str(compare_seeds.PROGRAM)]
        return exit_with_one_line(train.PROGRAM.main, command[2:])

    monkeypatch.setattr(compare_seeds, "run", run)
    monkeypatch.setattr(train.PROGRAM.report, "draw_curves", lambda *arguments: None)
    return given


@pytest.fixture
def call(capsys, tmp_path, monkeypatch, commands):
    """Return a function that calls compare_seeds.py in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(compare_seeds.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


@pytest.mark.program
def test_every_seed_is_trained_once(call, commands, tmp_path):
    words = (4, 3, 4, "--out", "some seeds", "--", *TINY)
    done = call(*words)
    assert (done.code, done.err) == (0, "")
    own = [[f"seed={seed}", f"out=some seeds/seed-{seed}", "resume=auto"] for seed in (4, 3)]
    assert commands == [[*TINY, *words] for words in own]
    summary = json.loads((tmp_path / "some seeds/summary.json").read_text())
    assert summary["settings"] == list(TINY)
    accuracies = []
    for entry, seed in zip(summary["runs"], (4, 3), strict=True):
        result = json.loads((tmp_path / f"some seeds/seed-{seed}/summary.json").read_text())
        assert (entry["seed"], entry["status"], result["options"]["seed"]) == (seed, "finished", seed)
        assert entry["test_accuracy"] == result["test_accuracy"]
        assert entry["best_possible_accuracy"] == result["best_possible_accuracy"]
        accuracies.append(entry["test_accuracy"])
    assert summary["test_accuracy"] == {
        "mean": statistics.fmean(accuracies),
        "standard_deviation": statistics.stdev(accuracies),
    }
    again = call(*words)
    assert again.code == 0 and "some seeds/seed-4 is finished; see" in again.out
    header = "\nseed  "
    assert again.out[again.out.index(header) :] == done.out[done.out.index(header) :]
    other = call(*words[:-1], "device=cpu", "lr=0.5")
    assert (other.code, other.err.count("\n")) == (2, 1)
    assert "lr is 0.5 here but 0.02 in the run in some seeds/seed-4" in other.err


@pytest.fixture
def codes(monkeypatch):
    """Return a list of exit codes that trainings take one after the other; 0 leaves a summary."""
    left, begun = [], []

    def train_with(seed, folder, settings):
        begun.append(seed)
        folder.mkdir(parents=True, exist_ok=True)
        code = left.pop(0)
        if code == 0:
            result = {"test_accuracy": 0.9 + seed / 100, "best_possible_accuracy": 0.97, "seconds": 1.0}
            (folder / "summary.json").write_text(json.dumps(result))
        return code

    monkeypatch.setattr(compare_seeds, "train_with", train_with)
    return SimpleNamespace(left=left, begun=begun)


def statuses(tmp_path):
    summary = json.loads((tmp_path / "runs/genomic_caduceus/seeds/summary.json").read_text())
    return [entry["status"] for entry in summary["runs"]]


def test_five_seeds_without_any_word(call, codes, tmp_path):
    codes.left += [0] * 5
    done = call()
    assert (done.code, codes.begun) == (0, [0, 1, 2, 3, 4])
    assert done.out == (
        "\nseed        accuracy   at best   below it\n"
        "0             90.00%    97.00%       7.00\n"
        "1             91.00%    97.00%       6.00\n"
        "2             92.00%    97.00%       5.00\n"
        "3             93.00%    97.00%       4.00\n"
        "4             94.00%    97.00%       3.00\n"
        "mean       92.00 ± 1.58  accuracy\n"
        "mean       5.00 ± 1.58  points below the best possible accuracy\n"
        "summary    runs/genomic_caduceus/seeds/summary.json\n"
    )
    assert statuses(tmp_path) == ["finished"] * 5


def test_a_failure_is_noted_and_the_others_go_on(call, codes, tmp_path):
    codes.left += [1, 0]
    done = call(0, 1)
    assert (done.code, codes.begun) == (1, [0, 1])
    assert "0           exit code 1\n1             91.00%" in done.out
    assert statuses(tmp_path) == ["exit code 1", "finished"]


def test_an_interruption_ends_the_comparison(call, codes, tmp_path):
    codes.left += [0, 130]
    done = call(0, 1, 2)
    assert (done.code, codes.begun) == (130, [0, 1])
    assert done.out.startswith("to go on with the comparison: python ") and done.out.count("\n") == 1
    assert statuses(tmp_path) == ["finished", "exit code 130", "not begun"]


def test_wrong_usage_of_a_run_ends_the_comparison(call, codes):
    codes.left += [2]
    done = call(0, 1)
    assert (done.code, done.out, codes.begun) == (2, "", [0])  # train.py has said why


def test_data_whose_best_is_unknown():
    results = [
        {"seed": seed, "status": "finished", "test_accuracy": 0.5 + seed / 10, "best_possible_accuracy": None}
        for seed in (0, 1)
    ]
    assert summary_of(results).keys() == {"test_accuracy"}
    assert table(results)[1:] == [
        "seed        accuracy",
        "0             50.00%",
        "1             60.00%",
        "mean       55.00 ± 7.07  accuracy",
    ]
    assert table(results[:1])[-1] == "mean       50.00  accuracy"
    assert summary_of([{"status": "not begun"}]) == {}


def test_the_deviation_is_that_of_a_sample():
    assert mean_and_deviation([0.5, 0.7]) == (pytest.approx(0.6), pytest.approx(0.02**0.5))  # √(0.02 / 1)
    assert mean_and_deviation([0.5]) == (0.5, None)


def test_a_finished_run_that_lost_its_summary(tmp_path):
    assert result_of(0, tmp_path, 0)["status"] == "without a summary"
    (tmp_path / "summary.json").write_text('{"test_accuracy": "x"}')
    assert result_of(0, tmp_path, 0)["status"] == "without a summary"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x"], "SEED: must be a whole number from 0"),
        (["-1"], "SEED: must be a whole number from 0 to 4294967295, not '-1'"),
        (["0", "quick=true"], "'quick=true' is no seed; settings of train.py follow --"),
        (["--seeds", "3"], "unknown option '--seeds'"),
        (["--", "seed=3"], "seed= is set by this program"),
        (["--", "out=runs/x"], "out= is set by this program"),
        (["--", "resume=auto"], "resume= is set by this program"),
        (["--", "widht=3"], "widht"),
        (["--", "data=nowhere"], "data=nowhere: neither motif nor a folder"),
        (["--", "--lr", "3"], "unknown option '--lr'"),
    ],
)
def test_mistakes_are_one_line(call, codes, tmp_path, words, message):
    done = call(*words)
    assert (done.code, done.out, done.err.count("\n"), codes.begun) == (2, "", 1, [])
    assert done.err.startswith("error: ") and message in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_the_program_itself(tmp_path, one_thread):
    command = [sys.executable, compare_seeds.__file__, "7", "--out", "seeds", "--", *TINY]
    done = subprocess.run(
        command, cwd=tmp_path, env=one_thread, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "run        seeds/seed-7\n" in done.stdout
    assert json.loads((tmp_path / "seeds/summary.json").read_text())["runs"][0]["status"] == "finished"
