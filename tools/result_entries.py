"""Result files with an entry for each machine that measured: docs/data/results/*.yaml."""

from __future__ import annotations

import datetime
import shlex
import sys
from pathlib import Path
from typing import Any

import torch
import yaml

from examples.benchmarking.machine import machine


def new_entry(module: str, device: torch.device) -> dict[str, Any]:
    """Return the facts that every entry begins with: device, machine, versions, date and command."""
    facts = machine()
    return {
        "device": device.type,
        "machine": {name: facts[name] for name in ("chip", "cpu_cores", "gpu", "power")},
        "cpu_threads": torch.get_num_threads(),
        "versions": {"torch": str(torch.__version__), "python": sys.version.split()[0]},
        "date": datetime.date.today(),
        "command": shlex.join(["python", "-m", module, *sys.argv[1:]]),
    }


def store(entry: dict[str, Any], path: Path, header: str, same: tuple[str, ...]) -> None:
    """Put `entry` into the file at `path`, which begins with `header`.

    It takes the place of an older entry with equal values under the names in `same`.
    """
    entries = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else []
    kept = [old for old in entries if any(old[name] != entry[name] for name in same)]
    text = yaml.safe_dump([*kept, entry], sort_keys=False, allow_unicode=True, width=110)
    path.write_text(header + text, encoding="utf-8")
