"""The steps of action.yml, each run as GitHub runs it, with pip and GitHub's files replaced."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[1]
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
OUR_PIP = """#!/bin/bash
if [ "$1 $2" = "-m pip" ]; then printf '%s\\n' "${{@:3}}" end >>pip-calls; exit; fi
exec {python} "$@"
"""
TESTS = """
import torch

def test_sum():
    assert torch.ones(3, device="mps").sum() == 3

def test_distances():
    points = torch.ones(2, 3, device="mps", requires_grad=True)
    torch.cdist(points, points).sum().backward()
"""


class Job:
    """A checked-out project in which steps of the action run."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        defaults = {name: words.get("default", "") for name, words in ACTION["inputs"].items()}
        self.inputs = defaults | {name.replace("_", "-"): value for name, value in inputs.items()}
        self.folder = folder
        python = folder / "bin" / "python"
        python.parent.mkdir()
        python.write_text(OUR_PIP.format(python=sys.executable), encoding="utf-8")
        python.chmod(0o755)
        (folder / "test_it.py").write_text(TESTS, encoding="utf-8")
        self.variables = {
            **os.environ,
            "PATH": f"{python.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(FOLDER),
            "PYTEST_PLUGINS": "simulated_mps.pytest_plugin",  # pip would register it
            "PYTEST_ADDOPTS": "-p no:cacheprovider",
            "GITHUB_ACTION_PATH": str(FOLDER),
            "GITHUB_WORKSPACE": str(folder),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "RUNNER_OS": "Linux",
            "RUNNER_ARCH": "X64",
            "RUNNER_TEMP": str(folder),
        }

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run the step `name`."""
        step = next(step for step in STEPS if step.get("name") == name)
        given = {key: self.fill_in(value) for key, value in step.get("env", {}).items()}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(
            command, cwd=self.folder, env=self.variables | given, capture_output=True, text=True, check=False
        )

    def fill_in(self, value: str) -> str:
        """Return a value of `env` with the inputs in place of their expressions."""
        return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: self.inputs[found[1]], value)

    def read(self, name: str) -> str:
        """Return what a step left in a file."""
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("inputs", "calls"),
    [
        (
            {"install": ".[test] timm"},
            [
                "install --index-url https://download.pytorch.org/whl/cpu torch==2.15.0",
                f"install .[test] timm {FOLDER}",
            ],
        ),
        ({"torch": ""}, [f"install pytest {FOLDER}"]),
    ],
)
def test_action_installs_what_is_asked(tmp_path, inputs, calls):
    job = Job(tmp_path, **inputs)
    assert job.run("Install").returncode == 0
    assert job.read("pip-calls").replace("\n", " ").split(" end ")[:-1] == calls


def test_action_names_what_it_compiles(tmp_path):
    from simulated_mps.build import cache_folder

    job = Job(tmp_path)
    assert job.run("Name the compiled device").returncode == 0
    folder = cache_folder()
    assert job.read("output") == f"folder={folder}\nkey=simulated-mps-Linux-X64-{folder.name}\n"
    assert job.run("Compile the device").returncode == 0


@pytest.mark.long
def test_action_reports_what_another_release_lacks(tmp_path):
    job = Job(tmp_path, release="2.12")
    done = job.run("Test")
    assert done.returncode == 1, done.stderr
    assert "::error file=test_it.py,line=9,title=simulated MPS::missing on MPS, PyTorch 2.12" in done.stdout
    assert "| **fails** | missing: `aten::_cdist_backward` | 1 | `test_it.py:9` |" in job.read("summary.md")


def test_action_passes_arguments_but_never_runs_them(tmp_path):
    job = Job(tmp_path, pytest_arguments="-k 'sum or nothing' test_it.py --junit-xml='$(touch ran)'")
    done = job.run("Test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 deselected" in done.stdout
    assert not (tmp_path / "ran").exists()
    assert (tmp_path / "$(touch ran)").exists()


def test_action_refuses_arguments_that_do_not_end(tmp_path):
    assert Job(tmp_path, pytest_arguments="-k 'sum").run("Test").returncode != 0


def test_action_is_pinned_and_takes_inputs_as_variables():
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name) for name in used)
    assert not any("${{" in step.get("run", "") for step in STEPS)
    given = " ".join(str(step.get("env", "")) for step in STEPS)
    assert all(f"inputs.{name} " in given for name in ACTION["inputs"])
