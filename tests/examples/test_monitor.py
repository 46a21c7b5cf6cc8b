"""The monitor says what a run does, and whether it lives."""

import contextlib
import fcntl
import json
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from examples import monitor
from examples.monitoring.run_state import PATIENCE, is_locked, read_run
from snippets.errors import exit_with_one_line

SCRIPT = Path(monitor.__file__)
FAKE = Path(__file__).with_name("fake_training.py")
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CONFIG = {
    "system": "cifar_optimizers",
    "provenance": {
        "kernel": platform.release(),
        "command": "python -u examples/cifar_optimizers/train.py --out 'runs/my night'",
    },
}
BEAT = {"pid": None, "status": "running", "step": 1240, "total_steps": 23_400, "device": "mps:0"}
BEAT |= {"precision": "bf16", "loss": 0.8312, "samples_per_s": 812.4, "eta_s": 6733.0, "memory_mb": 2130.5}


HUGE = (1e308, -1e308)


@pytest.fixture
def dead_pid():
    """Return the number of a process that has ended and been waited for."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def make_run(tmp_path):
    """Return a function that writes a run folder, by default with a heartbeat of one second before NOW.

    If it is `alive`, its train.log is locked, as by a training.
    """
    with contextlib.ExitStack() as opened:

        def make(name="run", config=CONFIG, losses=(2.0, 1.0, 0.5), age=1, alive=False, **beat):
            folder = tmp_path / name
            folder.mkdir()
            if config is not None:
                (folder / "config.json").write_text(json.dumps(config))
            if alive:
                log = opened.enter_context((folder / "train.log").open("a"))
                fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
            beaten = (NOW - timedelta(seconds=age)).isoformat()
            values = BEAT | {"updated_at": beaten, "pid": 4321 if alive else None} | beat
            (folder / "heartbeat.json").write_text(json.dumps(values))
            lines = [json.dumps({"step": 10 * n, "loss": loss}) for n, loss in enumerate(losses, 1)]
            (folder / "metrics.jsonl").write_text("".join(line + "\n" for line in lines))
            return folder

        yield make


@pytest.fixture
def watch(monkeypatch, capsys):
    """Return a function that calls the monitor's main at the time NOW and gives exit code and output."""
    monkeypatch.setattr(monitor, "read_run", lambda folder: read_run(folder, NOW))
    monkeypatch.setenv("COLUMNS", "72")
    monkeypatch.setenv("LINES", "14")

    def call(*words):
        code = exit_with_one_line(monitor.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err

    return call


# ---- What is shown ----


def test_a_running_run(make_run, watch, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_run(alive=True)
    code, lines, _ = watch("run", "--once")
    assert code == 0
    assert lines[:4] == [
        "run",
        "running   cifar_optimizers · mps:0 · bf16 · pid 4321",
        "step      1,240 of 23,400  ██▏····································  5.3%",
        "now       loss 0.8312 · 812 samples/s · 2.1 GB · 1 h 52 min left · hear…",
    ]
    assert lines[4].startswith("       2 ⠉⠒⠢⢄⣀")  # the highest value on the left
    assert lines[-2].startswith("     0.5 ")
    assert lines[-1].split() == ["10", "step", "30"]
    assert len(lines) == 14
    assert all(len(line) <= 72 for line in lines)
    _, lines, _ = watch("run", "--once", "--ascii")
    assert "\n".join(lines).isascii()
    assert lines[2] == "step      1,240 of 23,400  ##.....................................  5.3%"


def test_a_finished_run(make_run, watch):
    folder = make_run(status="finished", step=23_400, age=7200, eta_s=0.0)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 40, "loss": 0.4, "train_loss": 0.5, "test_accuracy": 0.987654}\n')
    code, lines, _ = watch(folder, "--once")
    assert code == 0
    assert lines[1] == "finished  cifar_optimizers · mps:0 · bf16"
    assert lines[2].endswith("█  100.0%")
    assert lines[3] == "last      loss 0.8312 · 812 samples/s · 2.1 GB · ended 2 h ago"
    assert lines[4] == "epoch     test_accuracy 0.9877"  # the curve shows the training loss


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_run_that_ended_early_shows_how_to_continue(make_run, watch, tmp_path, monkeypatch, status):
    monkeypatch.chdir(tmp_path)
    make_run("my night", status=status, error="RunError: the loss became nan at step 7")
    code, lines, _ = watch("my night", "--once")
    assert code == 1
    text = " ".join(line[10:] for line in lines if line.startswith(("!  ", "    ")))
    assert lines[1].startswith(status)
    assert "RunError: the loss became nan at step 7" in text
    assert "continue with: python examples/cifar_optimizers/train.py --resume 'my night'" in text


@pytest.mark.program
def test_a_dead_process_is_noticed_at_once(make_run, watch, dead_pid):
    code, lines, _ = watch(make_run(pid=dead_pid, age=190), "--once")
    assert code == 1
    assert lines[1].startswith("died ")
    assert lines[2] == f"!         no sign of life for 3 min 10 s; process {dead_pid} is gone"
    assert watch(make_run("fresh", pid=dead_pid, age=0), "--once")[0] == 1
    # The lock decides: a number may be in use again (there is always a process 1) or of another container.
    assert watch(make_run("number", pid=1), "--once")[1][1].startswith("died ")
    assert watch(make_run("container", pid=dead_pid, alive=True), "--once")[0] == 0


def test_a_process_that_lives_and_is_silent(make_run, watch):
    """At 100 s per step, a heartbeat of half an hour ago is no reason to worry."""
    assert watch(make_run("quick", alive=True, age=PATIENCE), "--once")[0] == 0
    code, lines, _ = watch(make_run("late", alive=True, age=600), "--once")
    assert code == 1
    assert lines[1].startswith("silent ")
    assert lines[2].startswith("!         no sign of life for 10 min; a process holds the run; it")
    slow = {"alive": True, "step": 0, "total_steps": 10, "eta_s": 1000.0}
    assert [watch(make_run(f"{age}", age=age, **slow), "--once")[0] for age in (1999, 2001)] == [0, 1]
    last = {"alive": True, "step": 10, "total_steps": 10, "eta_s": 0.0}  # it evaluates, saves or draws
    assert [watch(make_run(f"last{age}", age=age, **last), "--once")[0] for age in (179, 181)] == [0, 1]


def test_a_log_that_cannot_be_read_proves_nothing(make_run, watch):
    folder = make_run()
    (folder / "train.log").mkdir()  # even root cannot open it
    assert watch(folder, "--once")[0] == 0


@pytest.mark.program
def test_run_of_another_machine_is_judged_by_heartbeat(make_run, watch, dead_pid):
    elsewhere = CONFIG | {"provenance": {"kernel": "not this one"}}
    assert watch(make_run("a", elsewhere, pid=dead_pid), "--once")[0] == 0
    code, lines, _ = watch(make_run("b", elsewhere, pid=dead_pid, age=500), "--once")
    assert (code, lines[1][:6]) == (1, "silent")
    assert "another machine" in lines[2]


def test_clocks_that_differ(make_run, watch):
    code, lines, _ = watch(make_run(alive=True, age=-90), "--once")
    assert code == 0
    assert "!         the clocks differ: this heartbeat is 90 s in the future" in lines


@pytest.mark.program
def test_a_run_that_ends_while_we_look(make_run, dead_pid, monkeypatch):
    folder = make_run(pid=dead_pid)

    def finish(log):
        (folder / "heartbeat.json").write_text(json.dumps(BEAT | {"status": "finished"}))
        return is_locked(log)

    monkeypatch.setattr("examples.monitoring.run_state.is_locked", finish)
    assert read_run(folder, NOW).status == "finished"


# ---- What may be wrong with the files ----


@pytest.mark.parametrize(
    ("heartbeat", "says"),
    [
        ("", "heartbeat.json is damaged: it holds no JSON"),
        ('{"status": "runn', "heartbeat.json is damaged: it holds no JSON"),
        ("[" * 5000, "heartbeat.json is damaged: it holds no JSON"),
        ("[1]", "heartbeat.json is damaged: it holds no JSON object"),
        ('{"status": "paused"}', "unknown status 'paused': another version"),
    ],
)
def test_a_damaged_heartbeat(make_run, watch, heartbeat, says):
    folder = make_run()
    (folder / "heartbeat.json").write_text(heartbeat)
    code, lines, _ = watch(folder, "--once")
    assert code == 1
    assert lines[1].startswith("unreadable")
    assert says in lines[2]
    assert watch(folder)[0] == 1  # does not wait for ever


@pytest.mark.parametrize("name", ["heartbeat.json", "config.json", "metrics.jsonl"])
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (Path.mkdir, "a folder"),
        (os.mkfifo, "a named pipe"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
    ],
    ids=["folder", "pipe", "device"],
)
def test_a_file_that_cannot_be_read(make_run, watch, name, make, what):
    folder = make_run(status="finished")
    (folder / name).unlink()
    make(folder / name)
    _, lines, _ = watch(folder, "--once")
    assert any(f"cannot read {name}: it is {what}, not a file" in line for line in lines)


def test_values_of_another_version(make_run, watch):
    strange = {name: ["?"] for name in BEAT if name != "status"} | {"updated_at": "yesterday"}
    code, lines, _ = watch(make_run(config={"system": 7, "provenance": "x"}, alive=True, **strange), "--once")
    assert code == 1
    assert lines[1] == "silent"
    assert lines[2].startswith("!         no sign of life yet; a process holds the run")


@pytest.mark.parametrize(
    "beat",
    [
        {"status": []},
        {"status": {"a": 1}},
        {"status": "\ud800"},
        {"step": 10**400},
        {"total_steps": 10**400},
        {"step": True, "total_steps": 10**18},
        {"pid": 10**400},
        {"device": "\ud800\x1b[2J"},
        *[{name: value} for name in ("loss", "eta_s", "samples_per_s", "memory_mb") for value in HUGE],
        {"updated_at": "9999-12-31T23:59:59+00:00"},
        {"updated_at": "0001-01-01T00:00:00+00:00"},
        {"error": "\x1b[2J" * 10, "status": "failed"},
    ],
    ids=str,
)
@pytest.mark.parametrize("alive", [True, False])
def test_strange_values_are_shown_or_left_out(make_run, watch, beat, alive):
    folder = make_run(alive=alive, **beat)
    for words in ((folder, "--once"), (folder, "--json"), (folder, folder, folder, "--once")):
        code, lines, err = watch(*words)
        assert code in (0, 1) and err == ""
        assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("losses", [(1e308, -1e308), (1e-320, 1e308), (-1e308, 0.0, 1e308), (5e-324, 1e-323)])
def test_a_curve_of_any_losses(make_run, watch, losses):
    code, lines, err = watch(make_run(losses=losses, alive=True), "--once")
    assert (code, err) == (0, "")
    assert f"{max(losses):.4g}" in "".join(lines)


@pytest.mark.parametrize("name", ["COLUMNS", "LINES"])
def test_an_impossible_size_does_not_keep_it_busy(make_run, watch, monkeypatch, name):
    folder = make_run(alive=True)
    monkeypatch.setenv(name, "9" * 7)
    assert max(map(len, watch(folder, "--once")[1])) <= 1000


def test_without_metrics_and_heartbeat(make_run, watch):
    folder = make_run()
    (folder / "metrics.jsonl").unlink()
    (folder / "heartbeat.json").unlink()
    code, lines, _ = watch(folder, "--once")
    assert (code, lines[1]) == (1, "died      cifar_optimizers")  # begun, never reported, nobody at work
    assert lines[2] == "!         no sign of life yet; no process trains here"


@pytest.mark.parametrize(("seconds", "exit_code", "word"), [(9, 0, "starting"), (600, 1, "silent")])
def test_a_run_before_its_first_heartbeat(make_run, watch, seconds, exit_code, word):
    began = {"started_at": (NOW - timedelta(seconds=seconds)).isoformat()}
    folder = make_run(config={"system": "new", "provenance": began}, losses=[], alive=True)
    (folder / "heartbeat.json").unlink()
    code, lines, _ = watch(folder, "--once")
    assert code == exit_code
    assert lines[1].startswith(word)
    assert lines[-1] == f"now       began {'9 s' if word == 'starting' else '10 min'} ago"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nothing", "nothing does not exist; name the folder of a run"),
        ("file", "file is a file; name the folder of a run"),
        ("empty", "empty holds no run (no config.json); name the folder of a run"),
        (".", ". holds no run (no config.json); did you mean run?"),
    ],
)
def test_what_is_no_run(make_run, watch, tmp_path, monkeypatch, path, says):
    monkeypatch.chdir(tmp_path)
    make_run()
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    assert watch(path) == (2, [], f"error: {says}\n")


def test_wrong_options(watch):
    assert watch("--twice")[2].startswith("error: unknown option '--twice'; options: --help --once --json")
    assert "must be a number from 0.1 to 3600, not '0'" in watch("--interval", "0")[2]


# ---- Several runs ----


def test_several_runs_share_the_screen(make_run, watch, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINES", "24")
    make_run("a", alive=True)
    make_run("b", status="finished")
    code, lines, _ = watch("a", "b", "--once")
    assert code == 0
    assert [lines.index(name) for name in ("a", "", "b")] == [0, 11, 12]
    assert len(lines) == 23  # 11 and 11, and an empty one


@pytest.mark.program
def test_many_runs_get_a_line_each(make_run, watch, monkeypatch, tmp_path, dead_pid):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINES", "6")
    make_run("a", alive=True)
    make_run("b", pid=dead_pid)
    code, lines, _ = watch("a", "b", "--once")
    assert code == 1
    assert lines == [
        "running     a   5%  loss 0.8312         812/s  1 h 52 min left",
        "died        b   5%  loss 0.8312         812/s  heartbeat 1 s ago",
    ]
    monkeypatch.setenv("COLUMNS", "30")
    lines = watch(make_run("a long name"), make_run("another long name"), "--once")[1]
    assert [line[:22] for line in lines] == ["died        …long name", "died        …long name"]
    names = [make_run(f"c{n}", alive=True).name for n in range(20)]
    assert watch(*names, "--once")[1][-1] == "and 15 more"


def test_without_a_name_it_takes_what_is_running(make_run, watch, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert watch("--once")[2] == "error: there is no run in runs/; name the folder of a run, or start one\n"
    (tmp_path / "runs" / "system").mkdir(parents=True)
    make_run("runs/old", status="finished")
    time.sleep(0.01)
    make_run("runs/system/new", status="failed")
    assert [line for line in watch("--once")[1] if line.startswith("runs/")] == ["runs/system/new"]
    make_run("runs/system/one", alive=True)
    make_run("runs/two", alive=True)
    (tmp_path / "runs/plans/train_edges").mkdir(parents=True)
    make_run("runs/plans/train_edges/three", alive=True)
    json_of = json.loads("\n".join(watch("--json")[1]))
    running = {"runs/system/one", "runs/two", "runs/plans/train_edges/three"}
    assert {run["folder"] for run in json_of} == running


@pytest.mark.parametrize(
    ("system", "script"), [("plans/train_edges", "plans/train_edges.py"), ("plans", "plans/train.py")]
)
def test_unknown_command_continues_with_its_own_program(make_run, watch, system, script):
    lines = watch(make_run("a", {"system": system}, status="failed"), "--once")[1]
    assert f"continue with: python examples/{script} --resume" in " ".join(lines)


@pytest.mark.program
def test_json(make_run, watch, dead_pid):
    folder = make_run(pid=dead_pid, age=5)
    code, lines, _ = watch(folder, "--json")
    (run,) = json.loads("\n".join(lines))
    assert code == 1
    assert run["folder"] == str(folder)
    assert (run["status"], run["over"], run["fine"]) == ("died", True, False)
    assert (run["step"], run["age_s"], run["memory_mb"]) == (1240, 5.0, 2130.5)
    assert run["notes"][0] == f"no sign of life for 5 s; process {dead_pid} is gone"


# ---- As a program ----


@pytest.mark.program
def test_monitor_needs_neither_pytorch_nor_unicode(make_run):
    words = ["monitor.py", str(make_run(status="finished")), "--once"]
    code = f"import runpy, sys; sys.argv = {words}; sys.modules['torch'] = None"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"],
        env={"PYTHONIOENCODING": "latin-1", "PATH": "", "PYTHONPATH": str(SCRIPT.parents[1])},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"finished" in done.stdout and done.stdout.isascii()


@pytest.mark.program
def test_a_reader_that_has_seen_enough(make_run):
    command = f"{sys.executable} {SCRIPT} {make_run(status='finished')} --once | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.program
def test_redirected_output_is_plain_lines(tmp_path):
    """A real run, its end by SIGKILL, and no escape codes."""
    run = Path("run")  # short, so that it fits in its column
    training = subprocess.Popen([sys.executable, FAKE, "--out", run, "--steps", "100000"], cwd=tmp_path)
    while not (tmp_path / run / "metrics.jsonl").exists():
        time.sleep(0.02)
    watching = subprocess.Popen(
        [sys.executable, SCRIPT, run, "--interval", "0.1"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    first = watching.stdout.readline()
    training.kill()
    training.wait()
    rest = watching.stdout.read()
    assert watching.wait() == 1
    assert first.startswith(f"running     {run}   0%")
    assert "\x1b" not in first + rest
    assert f"{run}: no sign of life for " in rest
    assert f"; process {training.pid} is gone" in rest
    assert f"{run}: continue with: python fake_training.py --resume {run}" in rest
