"""The commands for a rented GPU, run here: a folder stands in for that machine, and `scp` copies to it."""

import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from examples.programs.run_folder import read_json, read_metrics
from snippets.digit_pictures import write_digits
from tools.checks.sections import all_sections
from tools.downloads import PROJECT, project_files, read_files, zipped
from tools.working_copy import environment, working_copy

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240  # seconds, for a machine with much else to do
SCP = """#!/usr/bin/env bash
set -e
words=()
for word in "$@"; do words+=("${word/#gpu:/$RENTED/}"); done
exec cp "${words[@]}"
"""

SSH = """#!/bin/sh
cd "$RENTED"
shift
"$@"
"""

pytestmark = [pytest.mark.program, pytest.mark.unmeasured]


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until `true()`. Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.1)


def run(section: str, folder: Path, **variables: str) -> str:
    """Run a section of the snippet in `folder`; return what it printed."""
    text = all_sections(ROOT)[0][f"snippets/shell/rented_gpu.sh:{section}"].text
    text = text.replace("--epochs 50", "--width 4 --epochs 50").replace("--device cuda", "--device cpu")
    done = subprocess.run(
        ["bash", "-ec", text],
        cwd=folder,
        env=environment() | variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_address_is_added_to_the_settings_of_ssh(tmp_path):
    (tmp_path / ".ssh").mkdir()
    settings = tmp_path / ".ssh" / "config"
    settings.write_text("Host other")  # some editors end a file so
    run("host", tmp_path, HOME=str(tmp_path))
    assert settings.read_text().startswith("Host other\nHost gpu\n    HostName gpu.example.com\n")


@pytest.fixture
def rented(tmp_path):
    """Return the folder in place of the rented machine."""
    (tmp_path / "rented").mkdir()
    return tmp_path / "rented"


@pytest.fixture
def path(tmp_path, rented):
    """Return the variables with which `scp` and `ssh` reach `rented`."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {"scp": SCP, "ssh": SSH}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return {"PATH": f"{programs}{os.pathsep}{environment()['PATH']}", "RENTED": str(rented)}


@pytest.mark.long
def test_a_run_goes_there_and_comes_home(tmp_path, rented, path):
    mac = tmp_path / "mac"
    mac.mkdir()
    (mac / f"{PROJECT}.zip").write_bytes(zipped(PROJECT, read_files(project_files(ROOT), ROOT)))

    run("upload", mac, **path)
    printed = run("train", rented, PIP_NO_INDEX="1", OMP_NUM_THREADS="1")
    there = rented / "mps-handbook" / "runs" / "rented"
    pid = read_json(there / "heartbeat.json")["pid"]
    assert f"process {pid} trains in runs/rented" in printed
    wait_until((there / "checkpoints" / "last.pt").exists)
    os.kill(pid, signal.SIGTERM)  # the command that the launcher prints
    wait_until(lambda: read_json(there / "heartbeat.json")["status"] != "running")

    with working_copy(ROOT) as folder:
        printed = run("home", folder, **path)
        steps = [values["step"] for values in read_metrics(folder / "runs" / "rented" / "metrics.jsonl")]
    assert "continuing after step" in printed
    assert steps == sorted(steps) and len(steps) > len(read_metrics(there / "metrics.jsonl"))


@pytest.mark.long
def test_a_run_on_own_pictures_goes_along(rented, path):
    """It ends there after the steps that it had left."""
    train = [sys.executable, "examples/cifar_optimizers/train.py", "--width", "4", "--epochs", "2"]
    with working_copy(ROOT) as mac:
        write_digits(mac / "my_pictures")
        train += ["--data", "my_pictures", "--image-size", "8", "--out", "runs/mine"]
        training = subprocess.Popen(train, cwd=mac, env=environment(), stdout=subprocess.DEVNULL)
        wait_until(lambda: len(read_metrics(mac / "runs/mine/metrics.jsonl")) > 0)
        training.send_signal(signal.SIGTERM)
        training.wait(PATIENCE)
        done = read_json(mac / "runs/mine/heartbeat.json")
        run("along", mac, **path)
    assert done["status"] == "interrupted"
    (rented / f"{PROJECT}.zip").write_bytes(zipped(PROJECT, read_files(project_files(ROOT), ROOT)))
    with zipfile.ZipFile(rented / f"{PROJECT}.zip") as archive:
        archive.extractall(rented)
    run("go-on", rented / PROJECT)
    there = rented / PROJECT / "runs" / "mine"
    wait_until(lambda: read_json(there / "heartbeat.json")["status"] == "finished")
    assert f"continuing after step {done['step']}" in (there.parent / "mine.log").read_text(encoding="utf-8")
