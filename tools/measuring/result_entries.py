"""Where a result in docs/data/results/ comes from, and files with an entry for each machine that measured.

Every result has the keys machine, versions, date and command (docs/hooks/origins.py writes them in words).
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
import yaml

from examples.benchmarking.machine import machine
from examples.programs.report import provenance
from snippets.timing import Spread
from tools.read_yaml import read_yaml

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "data" / "results"
BY_HAND = ("shared", "busy")  # what a person notes about a machine; it stays when the result is replaced


def origin(
    command: str, packages: Iterable[str] = ("torch",), before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return machine, versions, date and command of a result; what was noted by hand `before` stays."""
    facts, here = machine(), provenance()
    noted = (before or {}).get("machine", {})
    return {
        "machine": {
            "system": here["system"],
            "chip": facts["chip"],
            "cpu_cores": facts["cpu_cores"],
            "cpu_threads": here["cpu_threads"],
            "gpu": facts["gpu"],
            "power": facts["power"],
        }
        | {name: noted[name] for name in BY_HAND if name in noted},
        "versions": {
            # The metadata of some builds do not say for which kind of GPU they are.
            package: str(torch.__version__) if package == "torch" else version(package)
            for package in packages
        }
        | {"python": platform.python_version()},
        "date": datetime.date.today(),
        "command": command,
    }


def rounded(found: Spread, digits: int = 4) -> dict[str, float]:
    """Return median and quantiles for a file, with so many significant digits."""
    return {name: float(f"{getattr(found, name):.{digits}g}") for name in ("median", "low", "high")}


def write(content: Any, path: Path, header: str) -> str:
    """Write `content` below `header` into the file at `path`; return its text."""
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
    path.write_text(header + text, encoding="utf-8")
    return text


def store(
    entry: dict[str, Any], path: Path, header: str, same: tuple[str, ...] = ("device", "machine")
) -> None:
    """Put `entry` into the file at `path`, which begins with `header`.

    It takes the place of an older entry with equal values under the names in `same`, and what was noted by
    hand about its machine.
    """
    entries = read_yaml(path) if path.exists() else []
    kept = []
    for old in entries:
        if all(_agree(old[name], entry[name]) for name in same):
            noted = {name: old["machine"][name] for name in BY_HAND if name in old.get("machine", {})}
            entry = entry | {"machine": entry["machine"] | noted} if noted else entry
        else:
            kept.append(old)
    write([*kept, entry], path, header)


def _agree(old: Any, new: Any) -> bool:
    """Return whether two values are equal; of machines, whether nothing that both name differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(old[name] == new[name] for name in old.keys() & new.keys())
    return old == new
