"""The commands for a rented GPU, run here: a folder stands in for that machine, and `scp` copies to it."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from examples.programs.run_folder import read_json, read_metrics
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

pytestmark = [pytest.mark.program, pytest.mark.unmeasured]


def run(section: str, folder: Path, **variables: str) -> str:
    """Run a section of the snippet in `folder`; return what it printed."""
    text = all_sections(ROOT)[0][f"snippets/shell/rented_gpu.sh:{section}"].text
    text = text.replace("--epochs 50", "--width 4 --epochs 50")
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


@pytest.mark.long
def test_a_run_goes_there_and_comes_home(tmp_path):
    rented, mac, programs = (tmp_path / name for name in ("rented", "mac", "programs"))
    for folder in (rented, mac, programs):
        folder.mkdir()
    (programs / "scp").write_text(SCP)
    (programs / "ssh").write_text("#!/bin/sh\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    path = {"PATH": f"{programs}{os.pathsep}{environment()['PATH']}", "RENTED": str(rented)}
    (mac / f"{PROJECT}.zip").write_bytes(zipped(PROJECT, read_files(project_files(ROOT), ROOT)))

    run("upload", mac, **path)
    printed = run("train", rented, PIP_NO_INDEX="1", OMP_NUM_THREADS="1")
    there = rented / "mps-handbook" / "runs" / "rented"
    pid = read_json(there / "heartbeat.json")["pid"]
    assert f"process {pid} trains in runs/rented" in printed
    deadline = time.monotonic() + PATIENCE
    while not (there / "checkpoints" / "last.pt").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(pid, signal.SIGTERM)  # the command that the launcher prints
    while read_json(there / "heartbeat.json")["status"] == "running" and time.monotonic() < deadline:
        time.sleep(0.1)

    with working_copy(ROOT) as folder:
        printed = run("home", folder, **path)
        steps = [values["step"] for values in read_metrics(folder / "runs" / "rented" / "metrics.jsonl")]
    assert "continuing after step" in printed
    assert steps == sorted(steps) and len(steps) > len(read_metrics(there / "metrics.jsonl"))
