"""Reports as from a Mac: one that verify_mac.py wrote on the simulated device, with few of its checks.

What `make verify-mac` adds is made up, with every kind of step. The GPU is "simulated" in every
copy, so the site itself never takes one in.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import mac_reports

from tools.checks.macs import GROUPS, counts

STORED = Path(__file__).with_name("simulated_mac.json")
MAC = {"system": "Darwin", "chip": "Apple M3 Pro", "gpu_cores": 18, "memory_gb": 36.0, "macos": "26.1"}


def report(**machine) -> dict:
    """Return the stored report with the machine and the versions of a Mac."""
    found = json.loads(STORED.read_text(encoding="utf-8"))
    found["machine"] |= MAC | {"torch": "2.15.0", "power": "AC Power"} | machine
    return found


def without_steps(**machine) -> dict:
    """Return a report of verify_mac.py alone."""
    found = report(**machine)
    del found["handbook"]
    return found


def with_counts(content: dict) -> dict:
    """Return a report whose counts are those of its checks."""
    groups = {group: [check for check in content["checks"] if check["group"] == group] for group in GROUPS}
    return content | {"counts": {group: counts(checks) for group, checks in groups.items()}}


def write(folder: Path, name: str, content: dict) -> None:
    """Write a report into a folder, which the site's hooks read again."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    mac_reports.read.cache_clear()


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Let the site's hooks read a folder of reports of the simulated device, which the site refuses."""
    with mock.patch.multiple(mac_reports, FOLDER=folder, WITH_SIMULATED=True):
        mac_reports.read.cache_clear()
        yield
    mac_reports.read.cache_clear()
