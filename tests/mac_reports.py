"""Reports as from a Mac: one that verify_mac.py wrote on the simulated device, with few of its checks.

Its GPU is "simulated" in every copy, so the site itself never takes one in.
"""

import json
from pathlib import Path

STORED = Path(__file__).with_name("simulated_mac.json")
MAC = {"system": "Darwin", "chip": "Apple M3 Pro", "gpu_cores": 18, "memory_gb": 36.0, "macos": "26.1"}


def report(**machine) -> dict:
    """Return the stored report with the machine and the versions of a Mac."""
    found = json.loads(STORED.read_text(encoding="utf-8"))
    found["machine"] |= MAC | {"torch": "2.15.0", "power": "AC Power"} | machine
    return found


def write(folder: Path, name: str, content: dict) -> None:
    """Write a report into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
