"""The launcher: with a real training whose process crashes, and with its own options."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parents[3]
LAUNCHER = ROOT / "examples" / "two_tower" / "launch.sh"
CRASHING = Path(__file__).with_name("crashing_python.py")
OF_THREADS = ("OMP_NUM_THREADS", "KMP_DUPLICATE_LIB_OK")  # scikit-learn sets the second when it is imported
OPTIONS = ["--data", "generated", "--rows", "240", "--width", "8", "--batch-size", "32", "--epochs", "3"]


@pytest.fixture
def launch(tmp_path):
    """Return a function that calls the launcher and waits for all that it started.

    `python` is a script with the given line there.
    """
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()

    def call(*words, line, **variables):
        python.write_text(f"#!/bin/sh\n{line}\n")
        python.chmod(0o755)
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        reading, writing = os.pipe()  # closed when the last process has ended
        done = subprocess.run(
            ["bash", LAUNCHER, *words],
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if name not in OF_THREADS}
            | {"PATH": path, **variables},
            pass_fds=(writing,),
            capture_output=True,
            text=True,
            check=False,
        )
        os.close(writing)
        assert os.read(reading, 1) == b""
        os.close(reading)
        return done

    return call


@pytest.mark.program
def test_gpu_crash_continues_on_the_cpu_bit_equal(launch, undisturbed, outcome_of, tmp_path):
    line = f'exec "{sys.executable}" "{CRASHING}" "$@"'
    done = launch("--cpu-fallback", "runs/night", *OPTIONS, line=line, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "runs" / "night.log").read_text()
    assert "crashed; going on on the CPU" in log
    assert "continuing after step 12 of 18" in log
    run = outcome_of(tmp_path / "runs" / "night")
    heartbeat = run.json("heartbeat.json")
    assert (heartbeat["status"], heartbeat["device"]) == ("finished", "cpu")
    run.assert_same_as(undisturbed((*OPTIONS, "--device", "cpu")))


@pytest.mark.program
@pytest.mark.parametrize(
    ("variables", "threads"), [({}, min(4, os.cpu_count())), ({"OMP_NUM_THREADS": "7"}, 7)]
)
def test_it_starts_the_training_on_the_default_data(launch, tmp_path, variables, threads):
    done = launch(line='echo "$OMP_NUM_THREADS $KMP_DUPLICATE_LIB_OK $@"; exit 3', **variables)
    assert done.returncode == 3
    out = "--out runs/two_tower/launched --resume auto"
    log = (tmp_path / "runs" / "two_tower" / "launched.log").read_text()
    assert log == f"{threads}  -u {LAUNCHER.with_name('train.py')} {out}\n"


@pytest.mark.program
def test_an_option_needs_a_folder_before_it(launch):
    done = launch("--epochs", "3", line="exit 1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ")
