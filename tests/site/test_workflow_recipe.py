"""The workflow that readers copy: as careful as our own, and in step with the simulated device."""

import json
import re
from pathlib import Path

import pytest
import yaml

from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "snippets/workflows/test_mps.yml"
TEXT = RECIPE.read_text(encoding="utf-8")
JOB = yaml.safe_load(TEXT)["jobs"]["simulated-mps"]
DEVICE = ROOT / "tests/simulated_mps/simulated_mps"
COPY = "$/vendor/simulated_mps"  # the folder, which is an action; $ is the repository at the running commit


def pinned(text):
    return dict(re.findall(r"uses: ([\w/-]+)@([0-9a-f]{40})", text))


def test_actions_are_pinned_to_the_commits_that_we_use():
    ours = {}
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        ours |= pinned(path.read_text(encoding="utf-8"))
    assert len(pinned(TEXT)) == TEXT.count("uses:") - TEXT.count(f"uses: {COPY}") == 2
    assert pinned(TEXT).items() <= ours.items()


def test_device_gets_only_inputs_that_its_action_has():
    (step,) = (step for step in JOB["steps"] if step.get("uses") == COPY)
    inputs = read_yaml(ROOT / "tests/simulated_mps/action.yml")["inputs"]
    assert step["with"].keys() <= inputs.keys()


def test_the_job_may_only_read():
    assert yaml.safe_load(TEXT)["permissions"] == {}
    assert JOB["permissions"] == {"contents": "read"}
    assert all("${{" not in step.get("run", "") for step in JOB["steps"])  # nothing is pasted into a command


def test_newer_commit_cancels_the_older_run():
    ours = read_yaml(ROOT / ".github/workflows/linux.yml")
    assert yaml.safe_load(TEXT)["concurrency"] == ours["concurrency"]


def test_releases_have_tables():
    known = json.loads((DEVICE / "kernels.json").read_text(encoding="utf-8"))["releases"]
    assert set(JOB["strategy"]["matrix"]["release"]) <= known.keys()


@pytest.mark.parametrize(
    "path",
    [
        RECIPE,
        ROOT / "snippets/shell/simulated_mps_install.sh",
        ROOT / "tests/simulated_mps/README.md",
        ROOT / "tests/simulated_mps/action.yml",
    ],
)
def test_what_is_installed_can_hold_the_device(path):
    (supported,) = re.findall(r"SUPPORTED = \((.+)\)", (DEVICE / "build.py").read_text("utf-8"))
    installed = set(
        re.findall(
            r"(?:pip install|torch:|default:) torch==(\d+\.\d+)\.\d+", path.read_text(encoding="utf-8")
        )
    )
    assert installed
    assert installed <= set(re.findall(r"[\d.]+", supported))
