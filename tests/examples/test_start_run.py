"""The launcher: a training that outlives its terminal, starts once, and continues."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples.monitoring.run_state import is_locked, read_run
from examples.programs.run_folder import read_json

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "examples" / "start_run.sh"
TWO_TOWERS = ROOT / "examples" / "two_tower" / "launch.sh"
FAKE = Path(__file__).with_name("fake_training.py")
LONG = ("--steps", "100000")


@pytest.fixture
def start(tmp_path):
    """Return a function that calls the launcher in an empty folder. What it started ends with the test."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    started = []

    def call(*words, launcher=LAUNCHER, pass_fds=()):
        done = subprocess.run(
            ["bash", launcher, *map(str, words)],
            pass_fds=pass_fds,
            cwd=tmp_path,
            env=os.environ | {"PATH": programs, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if done.stdout.startswith("process "):
            started.append(int(done.stdout.split()[1]))
        return done

    yield call
    for pid in started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_until_over(run):
    """Wait until no process trains in `run`. A process that nobody has waited for keeps its number."""
    while is_locked(run / "train.log"):
        time.sleep(0.05)


@pytest.mark.program
def test_a_training_is_started_stopped_and_continued(start, tmp_path):
    run = tmp_path / "my runs" / "night"
    done = start("my runs/night/", FAKE, *LONG)
    assert (done.returncode, done.stderr) == (0, "")
    pid = read_json(run / "heartbeat.json")["pid"]
    assert done.stdout.splitlines()[0] == f"process {pid} trains in my runs/night"

    os.kill(pid, signal.SIGHUP)  # what a closing terminal sends
    step = read_run(run).step
    time.sleep(0.3)
    assert is_locked(run / "train.log")

    second = start("my runs/night", FAKE, *LONG)
    assert second.returncode == 2
    assert "another process is training in my runs/night" in second.stderr
    assert read_json(run / "heartbeat.json")["pid"] == pid  # the first one was not disturbed

    os.kill(pid, signal.SIGTERM)
    wait_until_over(run)
    stopped = read_run(run)
    assert stopped.status == "interrupted"
    assert stopped.step > step

    again = start("my runs/night", FAKE, "--steps", stopped.step + 20)
    assert again.returncode == 0
    wait_until_over(run)
    assert (read_run(run).status, read_run(run).step) == ("finished", stopped.step + 20)


@pytest.mark.program
def test_without_nohup_a_closing_terminal_ends_it(tmp_path):
    process = subprocess.Popen([sys.executable, FAKE, "--out", tmp_path / "run", *LONG])
    while read_json(tmp_path / "run" / "heartbeat.json") is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGHUP)
    assert process.wait() == -signal.SIGHUP
    assert read_run(tmp_path / "run").status == "died"


@pytest.mark.program
def test_an_error_at_the_start_is_shown(start):
    done = start("night", FAKE, "--stepps", "3")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: unknown option '--stepps'")
    assert "can't open file" in start("night", "missing.py").stderr
    assert start("night").stderr.startswith("usage: ")


@pytest.mark.program
def test_error_is_shown_beside_a_still_printing_training(start, tmp_path):
    """Both write into the log."""
    (tmp_path / "refused.py").write_text(
        "import sys; print('error: taken', file=sys.stderr); print(*'12345', sep='\\n'); sys.exit(2)"
    )
    (tmp_path / "night.log").write_text("error: of an earlier start\n")
    done = start("night", tmp_path / "refused.py")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error: taken\n")


@pytest.mark.program
@pytest.mark.parametrize("launcher", [LAUNCHER, TWO_TOWERS], ids=["start_run", "launch"])
def test_shellcheck_has_nothing_to_say(launcher):
    shellcheck = Path(sys.executable).parent / "shellcheck"
    subprocess.run([shellcheck, "--shell=bash", launcher], check=True)
    assert os.access(launcher, os.X_OK)


@pytest.fixture
def start_and_wait(start):
    """Return a function that calls the launcher and waits until all processes behind it have ended.

    They share the end of a pipe, which is closed when the last one is gone.
    """

    def call(*words, stop=None):
        reading, writing = os.pipe()
        done = start(*words, pass_fds=(writing,))
        os.close(writing)
        assert done.returncode == 0, done.stderr
        if stop:
            os.kill(int(done.stdout.split()[1]), stop)
        assert os.read(reading, 1) == b""
        os.close(reading)
        return done

    return call


@pytest.mark.program
@pytest.mark.parametrize(("end", "what"), [("abort", "crashed"), ("device", "failed on its device")])
def test_failed_device_continues_on_the_cpu(start_and_wait, tmp_path, end, what):
    done = start_and_wait("--cpu-fallback", "night", FAKE, "--device", "mps", "--end", end, "--steps", "8")
    pid = int(done.stdout.split()[1])
    assert "goes on on the CPU, once" in done.stdout.splitlines()[-1]
    beat = read_json(tmp_path / "night" / "heartbeat.json")
    assert (beat["status"], beat["device"], beat["step"]) == ("finished", "cpu", 8)
    assert beat["pid"] != pid
    assert f"note: process {pid} {what}; going on on the CPU" in (tmp_path / "night.log").read_text()
    assert not (tmp_path / "night" / "train.pid").exists()


@pytest.mark.program
@pytest.mark.parametrize(
    ("option", "words", "stop", "end"),
    [
        (["--cpu-fallback"], ["--device", "cpu", "--end", "abort"], None, ("died", 5)),
        (["--cpu-fallback"], ["--device", "mps", "--end", "nan"], None, ("failed", 5)),
        (["--cpu-fallback"], ["--device", "mps", "--steps", "5"], None, ("finished", 5)),
        (["--cpu-fallback"], ["--device", "mps", *LONG], signal.SIGTERM, ("interrupted", None)),
        (["--cpu-fallback"], ["--device", "mps", "--end", "abort", *LONG], None, ("died", 10)),
        ([], ["--device", "mps", "--end", "abort"], None, ("died", 5)),
    ],
    ids=["on-the-cpu", "nan", "finished", "stopped", "once", "not-wanted"],
)
def test_nothing_else_goes_on_on_the_cpu(start_and_wait, tmp_path, option, words, stop, end):
    """Except that the crash repeats itself: five steps on the GPU, five on the CPU."""
    pid = int(start_and_wait(*option, "night", FAKE, "--steps", "9", *words, stop=stop).stdout.split()[1])
    wait_until_over(tmp_path / "night")  # a process lets go of its files one by one
    found, (status, step) = read_run(tmp_path / "night"), end
    assert found.status == status and step in (None, found.step)
    assert (found.pid == pid) == (step != 10)


@pytest.mark.program
def test_a_second_start_with_the_option_disturbs_nothing(start, tmp_path):
    """The heartbeat says `running`, on a GPU, but not of the process that was refused."""
    words = "--cpu-fallback", "night", FAKE, "--device", "mps", *LONG
    first = start(*words)
    log = tmp_path / "night.log"
    reading, writing = os.pipe()
    assert start(*words, pass_fds=(writing,)).returncode == 2
    os.close(writing)
    assert os.read(reading, 1) == b""  # what watched the second one has ended, too
    os.close(reading)
    pid = int(first.stdout.split()[1])
    assert (tmp_path / "night" / "train.pid").read_text() == f"{pid}\n"
    assert "going on" not in log.read_text()
    os.kill(pid, signal.SIGTERM)
    wait_until_over(tmp_path / "night")


@pytest.mark.long
def test_with_a_real_training(start, tmp_path):
    """Quick as a fake one or not: it begins, stops at SIGTERM with a checkpoint, and goes on from there."""
    script = ROOT / "examples" / "cifar_optimizers" / "train.py"
    options = [script, "--device", "cpu", "--data", "synthetic", "--image-size", "8", "--width", "2"]
    done = start("night", *options, "--epochs", "2000")
    assert done.returncode == 0, done.stderr
    pid = int(done.stdout.split()[1])
    run = tmp_path / "night"
    while not read_run(run).step:
        time.sleep(0.1)
    os.kill(pid, signal.SIGHUP)
    os.kill(pid, signal.SIGTERM)
    wait_until_over(run)
    stopped = read_run(run)
    assert stopped.status == "interrupted"
    assert start("night", *options, "--epochs", "2000").returncode == 0
    assert f"continuing after step {stopped.step:,} of" in (tmp_path / "night.log").read_text()
    os.kill(read_run(run).pid, signal.SIGTERM)


@pytest.mark.skipif(not shutil.which("caffeinate"), reason="caffeinate belongs to macOS")
def test_on_a_mac_the_process_is_the_training_itself(start, tmp_path):
    """A forked caffeinate keeps the Mac awake; the first process becomes the training."""
    pid = int(start("night", FAKE, *LONG).stdout.split()[1])
    command = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=True
    )
    assert "fake_training.py" in command.stdout
    assert not command.stdout.startswith("caffeinate")
