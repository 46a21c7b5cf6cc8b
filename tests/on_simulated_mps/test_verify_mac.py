"""verify_mac.py on the simulated device, which plays every release of its tables."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from simulated_mps import device

from examples import verify_mac
from tests.mac_reports import MAC
from tools.checks.macs import wrong_report

SCRIPT = Path(verify_mac.__file__)
CASES = {known.source: known for known in verify_mac.CASES}


@pytest.fixture
def as_release():
    """Return what chooses a release, by its second number; the own one comes back afterwards."""
    yield lambda number: device.enable(f"2.{number}")
    device.enable(None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(verify_mac.FIRST, verify_mac.LATEST + 1))
def test_operators_are_as_the_handbook_says(as_release, number):
    as_release(number)
    run = verify_mac.Run("mps", number)
    for check in verify_mac.all_checks():
        if check.group in ("device", "operators"):
            run.add(check, check.run("mps"))
    assert len(run.results) > 60
    assert [row for row in run.results if row["agrees"] is not True] == []


def test_another_release_differs(as_release):
    as_release(13)
    run = verify_mac.Run("mps", 15)
    for check in verify_mac.all_checks():
        if check.name.startswith("torch.heaviside"):
            run.add(check, check.run("mps"))
    assert [row["agrees"] for row in run.results] == [False]


def test_the_wrong_result_of_checkpointing_is_found():
    """It is in PyTorch's Python files, so the simulated device has it; the other cases are of Metal."""
    found = {source: verify_mac.run_case(known, "mps")["found"] for source, known in CASES.items()}
    assert {source for source, what in found.items() if what != "right"} == {127676}
    assert found[127676] == "wrong"


def test_the_wrong_maximum_is_that_of_the_simulated_device(as_release):
    """The simulated device computes on the CPU and warns where the real one is wrong."""
    known = CASES[190064]
    as_release(known.right - 1)
    with pytest.warns(UserWarning, match="pytorch/pytorch/issues/190064"):
        verify_mac.run_case(known, "mps")
    as_release(known.right)
    verify_mac.run_case(known, "mps")


def test_memory_is_measured():
    figures = verify_mac.run_memory("mps")["figures"]
    assert figures["with 256 MB"][0] - figures["before"][0] == 256
    assert figures["freed"] == figures["before"] == figures["emptied"]


@pytest.mark.long
@pytest.mark.program
def test_a_whole_run(tmp_path):
    command = [sys.executable, SCRIPT, "--release", "2.13"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The handbook differs from this machine in ")
    report = json.loads((tmp_path / "verify-mac.json").read_text(encoding="utf-8"))
    assert report["complete"] and report["counts"]["operators"]["differ"] == 0
    differ = [row["name"] for row in report["checks"] if row["agrees"] is False]
    assert all(int(name.split()[0]) in CASES for name in differ)
    report["machine"] |= MAC | {"torch": "2.13.0"}
    assert wrong_report(report, simulated=True) == ""  # the site could show it
