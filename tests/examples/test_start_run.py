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
from snippets.framework.run_folder import read_json

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "examples" / "start_run.sh"
FAKE = Path(__file__).with_name("fake_training.py")
LONG = ("--steps", "100000")


@pytest.fixture
def start(tmp_path):
    """Return a function that calls the launcher in an empty folder. What it started ends with the test."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    started = []

    def call(*words):
        done = subprocess.run(
            ["bash", LAUNCHER, *map(str, words)],
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
def test_shellcheck_has_nothing_to_say():
    shellcheck = Path(sys.executable).parent / "shellcheck"
    subprocess.run([shellcheck, "--shell=bash", LAUNCHER], check=True)
    assert os.access(LAUNCHER, os.X_OK)


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
