"""Grids of runs: what is trained, skipped, continued, noted as failed; the table and the pictures."""

import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from examples.cifar_optimizers import grid, grid_run, label_noise, train
from examples.cifar_optimizers.grid_report import by_optimizer, draw_grid, mean_and_deviation, table
from examples.cifar_optimizers.grid_run import Run, outcome, train_apart, why
from examples.cifar_optimizers.label_noise import pair
from examples.programs.run_folder import read_json
from snippets.errors import RunError, UsageError, exit_with_one_line
from snippets.stop_signals import StopSignals

ROOT = Path(__file__).resolve().parents[3]
SMALL = shlex.split("--device cpu --image-size 8 --width 1 --data-fraction 0.2 --batch-size 32")
TWO_STEPS = (*SMALL, "--max-steps", "2")


@pytest.fixture
def begun(monkeypatch, one_thread):
    """Let runs train in this process, which takes no start-up time; return the names of those begun."""
    names = []

    def train_here(run, stop):
        names.append(run.folder.name)
        try:
            assert train.PROGRAM.main([*run.options, "--out", str(run.folder), "--resume", "auto"]) == 0
        except RunError as error:
            return str(error)
        return None

    monkeypatch.setattr(grid, "train_apart", train_here)
    return names


@pytest.fixture
def call(tmp_path, monkeypatch, capsys, begun):
    """Return a function that calls a program in an empty folder: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def run(program, *words):
        capsys.readouterr()
        return exit_with_one_line(program.main, [str(word) for word in words]), *capsys.readouterr()

    return run


@pytest.mark.program
def test_every_combination_is_trained_once(call, begun, tmp_path):
    words = ("--optimizers", "sgd,lion", "--seeds", "3,4", "--out", "g", *TWO_STEPS)
    code, out, _ = call(grid, *words)
    assert code == 0
    assert begun == ["sgd-seed3", "sgd-seed4", "lion-seed3", "lion-seed4"]
    saved = json.loads((tmp_path / "g/grid.json").read_text())
    assert saved["options"] == list(TWO_STEPS)
    assert {"torch", "command", "git_commit"} <= saved["provenance"].keys()
    for entry in saved["runs"]:
        summary = read_json(tmp_path / "g" / entry["name"] / "summary.json")
        assert (entry["status"], entry["test_accuracy"]) == ("finished", summary["test_accuracy"])
        assert summary["steps"] == 2
        assert summary["options"].items() >= {name: entry[name] for name in ("optimizer", "seed")}.items()
    assert (tmp_path / "g/grid.png").read_bytes().startswith(b"\x89PNG")
    begun.clear()
    code, again, _ = call(grid, *words)
    assert (code, begun) == (0, [])
    header = "optimizer   n"
    assert again[again.index(header) :] == out[out.index(header) :]
    code, _, err = call(grid, *words, "--lr", "0.5")
    assert (code, begun) == (2, [])
    assert "--lr is 0.5 here but 0.1 in the run in g/sgd-seed3" in err


@pytest.mark.program
def test_an_unfinished_run_is_continued(call, begun, tmp_path):
    words = ("--optimizers", "sgd", "--seeds", "0", "--out", "g", *TWO_STEPS)
    folder = tmp_path / "g" / "sgd-seed0"
    assert train.PROGRAM.main([*TWO_STEPS, "--optimizer", "sgd", "--seed", "0", "--out", str(folder)]) == 0
    heartbeat = json.loads((folder / "heartbeat.json").read_text()) | {"status": "interrupted"}
    (folder / "heartbeat.json").write_text(json.dumps(heartbeat))
    before = read_json(folder / "summary.json")
    assert call(grid, *words)[0] == 0
    assert begun == ["sgd-seed0"]
    assert "continuing after step 2 of 2" in (folder / "train.log").read_text()
    assert read_json(folder / "summary.json")["test_accuracy"] == before["test_accuracy"]


@pytest.mark.parametrize("summary", [{}, {"test_accuracy": "x", "best_accuracy": 1.0, "seconds": 1.0}])
def test_a_summary_without_its_numbers_is_a_failure(tmp_path, summary):
    (tmp_path / "heartbeat.json").write_text('{"status": "finished"}')
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    found = outcome(Run("sgd", 0, tmp_path, ()))
    assert (found["status"], found["reason"]) == ("failed", "its summary.json is damaged")


@pytest.mark.program
def test_failed_run_is_noted_and_others_continue(call, begun, tmp_path):
    words = ("--optimizers", "sgd,lion", "--seeds", "0,1", "--lr", "1000", "--weight-decay", "1000", *SMALL)
    code, out, _ = call(grid, *words, "--max-steps", "12", "--out", "g")
    assert code == 1
    assert len(begun) == 4
    runs = {run["name"]: run for run in json.loads((tmp_path / "g/grid.json").read_text())["runs"]}
    failed = [name for name, run in runs.items() if run["status"] == "failed"]
    assert "sgd-seed0" in failed
    reason = runs["sgd-seed0"]["reason"]
    assert re.search(r"the loss became (nan|inf) at step \d+|a weight became NaN", reason)
    for name in failed:
        assert f"failed     {name}: " in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--optimizers", "sgd,sdg"), "--optimizers: 'sdg' is none of sgd, adam, adamw, radam, lion, muon"),
        (("--seeds", "1,x"), "--seeds: 'x' is no whole number"),
        (("--seeds", "9" * 5000), "--seeds: '9999"),
        (("--seeds", "-1"), "--seeds: '-1' is no whole number"),
        (("--seed", "1"), "--seed is no option of a grid"),
        (("--wdth", "3"), "unknown option '--wdth'"),
        (("--out", "file"), "cannot make the folder file"),
    ],
)
def test_wrong_usage_is_one_line_before_anything_is_trained(call, begun, tmp_path, words, message):
    (tmp_path / "file").write_text("in the way")
    code, _, err = call(grid, *words)
    assert (code, err.count("\n"), begun) == (2, 1, [])
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_stop_leaves_the_rest_for_later(call, begun, monkeypatch, tmp_path):
    here = grid.train_apart

    def interrupted(run, stop):
        reason = here(run, stop)
        stop.note(signal.SIGINT, None)
        return reason

    monkeypatch.setattr(grid, "train_apart", interrupted)
    words = ("--optimizers", "sgd", "--seeds", "0,1", "--out", "g", *TWO_STEPS)
    code, out, _ = call(grid, *words)
    assert (code, begun) == (130, ["sgd-seed0"])
    assert "stopped by SIGINT; 1 of 2 runs are finished; to go on: python " in out
    states = [run["status"] for run in json.loads((tmp_path / "g/grid.json").read_text())["runs"]]
    assert states == ["finished", "not begun"]


def a_run(folder, *words):
    return Run("sgd", 0, folder / "sgd-seed0", (*SMALL, *words))


@pytest.mark.long
def test_ctrl_c_in_a_terminal_stops_the_run_once(tmp_path, one_thread):
    """The whole program in a process group, which gets the signal as from a terminal; then it goes on."""
    out = tmp_path / "g"
    words = ["--optimizers", "sgd", "--seeds", "0,1", "--out", str(out), *SMALL, "--epochs", "40"]
    command = [sys.executable, str(ROOT / "examples/cifar_optimizers/grid.py"), *words]
    first = subprocess.Popen(
        command, cwd=ROOT, env=one_thread, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    while (read_json(out / "sgd-seed0" / "heartbeat.json") or {}).get("step") in (None, 0):
        assert first.poll() is None
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGINT)
    said, _ = first.communicate(timeout=60)
    assert first.returncode == 130
    assert "to go on: python " in said
    assert read_json(out / "sgd-seed0" / "heartbeat.json")["status"] == "interrupted"
    again = subprocess.run(command, cwd=ROOT, env=one_thread, capture_output=True, text=True, check=True)
    assert "2 of 2  sgd-seed1" in again.stdout
    assert "continuing after step" in (out / "sgd-seed0" / "train.log").read_text()


def test_reasons_of_processes():
    assert why(1, "Warning: odd\nerror: out of memory; lower --batch-size\n") == (
        "out of memory; lower --batch-size"
    )
    assert why(-9, "half a li") == "killed by SIGKILL"
    assert why(3, "") == "exit code 3"


def finished(optimizer, *accuracies, **more):
    return [
        {"name": f"{optimizer}-seed{seed}", "optimizer": optimizer, "seed": seed, "status": "finished"}
        | {"test_accuracy": accuracy}
        | more
        for seed, accuracy in enumerate(accuracies)
    ]


def test_table_sorts_best_first_and_shows_sample_deviation():
    results = finished("sgd", 0.90, 0.94) + finished("lion", 0.97) + finished("adam", 0.5, 0.6, 0.7)
    results[0] = results[0] | {"status": "failed", "reason": "the loss became nan"}
    assert list(by_optimizer(results)) == ["lion", "sgd", "adam"]
    lines = table(results)
    assert "adam        3   60.00% ± 10.00    50.00% 60.00% 70.00%" in lines  # √(0.02 / 2) = 0.1
    assert "lion        1   97.00% ±     –    97.00%" in lines
    assert lines[-1] == "failed     sgd-seed0: the loss became nan"
    assert mean_and_deviation([0.5, 0.7]) == f"{0.6:7.2%} ± {100 * statistics.stdev([0.5, 0.7]):5.2f}"


def test_the_picture_shows_every_optimizer_and_every_seed(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    results = finished("sgd", 0.8, 0.9) + finished("lion", 0.7)
    for result in results:
        folder = tmp_path / result["name"]
        folder.mkdir()
        steps = [
            {"step": step, "epoch": step, "test_accuracy": result["test_accuracy"] * step / 2}
            for step in (1, 2)
        ]
        lines = [{"step": 1, "epoch": 0.5}, *steps]
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw_grid(tmp_path, results, tmp_path / "grid.png")
    course, end = figures[0].axes
    assert {line.get_label(): list(line.get_ydata()) for line in course.lines} == {
        "sgd": pytest.approx([0.425, 0.85]),
        "lion": pytest.approx([0.35, 0.7]),
    }
    assert len(course.collections) == 1  # one seed has no deviation
    assert sorted(value for line in end.lines for value in line.get_ydata()) == [0.7, 0.8, 0.9]
    beside = sorted(place for line in end.lines for place in line.get_xdata())
    assert beside == pytest.approx([-0.07, 0.07, 1])  # on both sides of the name, and above it


def test_label_noise_pairs_seeds_and_leaves_out_failures():
    clean = finished("sgd", 0.9, 0.8) + finished("lion", 0.95, 0.95)
    noisy = finished("sgd", 0.7, 0.7) + finished("lion", 0.90, 0.80)
    noisy[3] = noisy[3] | {"status": "failed"}
    lion, sgd = pair(clean, noisy)
    assert (lion.optimizer, lion.drops) == ("lion", [pytest.approx(0.05)])
    assert (sgd.optimizer, sgd.drops) == ("sgd", [pytest.approx(0.2), pytest.approx(0.1)])
    lines = label_noise.table([sgd], 0.3)
    assert lines[2] == "sgd         2   85.00% ±  7.07    70.00% ±  0.00    15.00% ±  7.07"


@pytest.mark.program
@pytest.mark.parametrize("share", [0.4, 0.4000000001])
def test_label_noise_runs_both_grids(call, begun, tmp_path, share):
    words = ("--optimizers", "sgd", "--seeds", "0", "--label-noise", str(share), "--out", "n", *TWO_STEPS)
    code, out, _ = call(label_noise, *words)
    assert (code, begun) == (0, ["sgd-seed0", "sgd-seed0"])
    folders = [tmp_path / "n" / part / "sgd-seed0" for part in ("noise-0", f"noise-{share}")]
    options = [read_json(folder / "config.json")["options"] for folder in folders]
    assert [option["label_noise"] for option in options] == [0.0, share]
    assert {**options[0], "label_noise": share} == options[1]
    saved = read_json(tmp_path / "n/label_noise.json")
    assert saved["label_noise"] == share
    assert saved["test_accuracy"]["sgd"].keys() == {"clean", "noisy"}
    assert "40% of them wrong" in out


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Return a function that lets a few lines of Python take the place of train.py."""

    def replace(lines):
        script = tmp_path / "train.py"
        script.write_text(lines)
        monkeypatch.setattr(grid_run, "TRAIN", script)

    return replace


@pytest.mark.program
def test_run_gets_its_options_and_reports_its_end(stand_in, tmp_path):
    run = a_run(tmp_path)
    stand_in(f"import sys; open({str(tmp_path / 'told')!r}, 'w').write(' '.join(sys.argv[1:]))")
    assert train_apart(run, StopSignals()) is None
    told = f"--optimizer sgd --seed 0 --out {run.folder} --resume auto"
    assert (tmp_path / "told").read_text() == f"{' '.join(SMALL)} {told}"
    stand_in("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert train_apart(run, StopSignals()) == "killed by SIGSEGV"
    # What only the run itself can find out to be wrong would be wrong in all others, too.
    stand_in("import sys; print('error: there is no folder', file=sys.stderr); sys.exit(2)")
    with pytest.raises(UsageError, match=r"^there is no folder$"):
        train_apart(run, StopSignals())


@pytest.mark.program
def test_run_gets_one_signal_and_finishes_its_step(stand_in, tmp_path):
    ready, ended = tmp_path / "ready", tmp_path / "ended"
    stand_in(
        "import signal, sys, time\n"
        "def end(*_):\n"
        "    signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "    time.sleep(0.3)\n"
        f"    open({str(ended)!r}, 'w').close()\n"
        "    sys.exit(130)\n"
        "signal.signal(signal.SIGINT, end)\n"
        f"open({str(ready)!r}, 'w').close()\n"
        "time.sleep(60)\n"
    )
    stop = StopSignals()

    def stop_when_ready():
        while not ready.exists():
            time.sleep(0.01)
        stop.received = signal.SIGINT

    threading.Thread(target=stop_when_ready, daemon=True).start()
    assert train_apart(a_run(tmp_path), stop) == "exit code 130"
    assert ended.exists()
