"""docs/data/executed.json: which sections ran where, and with which versions, for the badges on the pages.

Written by the test run on the reference platform: Linux without a GPU, with the pinned PyTorch and
torchvision. There the committed file must say exactly what was measured; where it does not, it is rewritten
and the check fails once, so that the new file is committed. Only the Python version may differ (the pins hold
for several), and with it the number of lines, which Python versions count differently.

Elsewhere (a Mac, a CUDA machine, the newest PyTorch) the contexts differ by nature, so only the texts' hashes
are compared and nothing is written: badges stay what the reference platform measured. Whoever edits a section
there lets the Linux job of the continuous integration write the file, or runs `make test` on Linux.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path

from packaging.requirements import Requirement

from tools.executed_lines import Report

RECORD = Path("docs/data/executed.json")
PINS = Path("requirements/examples.txt")
REFERENCE_CONTEXTS = ["cpu", "simulated-mps"]


def document(report: Report) -> dict:
    """Return what the file should hold."""
    return {"verified_with": report.versions, "sections": dict(sorted(report.records.items()))}


def on_reference_platform(root: Path, report: Report) -> bool:
    """Whether this run may write the file: Linux, no GPU, the pinned versions."""
    pinned = pinned_versions(root)
    here = {name: report.versions[name] for name in pinned}
    return platform.system() == "Linux" and report.contexts == REFERENCE_CONTEXTS and here == pinned


def pinned_versions(root: Path) -> dict[str, str]:
    """Return the pinned versions of torch and torchvision for this machine."""
    lines = (root / PINS).read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line.startswith("torch")]
    return {
        pin.name: str(pin.specifier).removeprefix("==")
        for pin in pins
        if pin.name in ("torch", "torchvision") and (pin.marker is None or pin.marker.evaluate())
    }


def check(root: Path, report: Report) -> str | None:
    """Compare the file with the report, rewrite it on the reference platform, return what is wrong."""
    path = root / RECORD
    committed = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"sections": {}}
    measured = document(report)
    if not on_reference_platform(root, report):
        return _compare_hashes(committed["sections"], measured["sections"])
    if _comparable(committed, measured) == _comparable(measured, committed):
        return None
    path.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    return f"{RECORD} was out of date; it has been rewritten, commit it"


def _comparable(one: dict, other: dict) -> dict:
    """Return `one` without what may differ between Python versions, if those of `one` and `other` differ."""
    versions = dict(one.get("verified_with", {}))
    if versions.get("python") == other.get("verified_with", {}).get("python"):
        return one
    versions.pop("python", None)
    sections = {
        key: {name: value for name, value in record.items() if name != "lines"}
        for key, record in one["sections"].items()
    }
    return {"verified_with": versions, "sections": sections}


def _compare_hashes(committed: dict, measured: dict) -> str | None:
    hashes = [{key: record["hash"] for key, record in records.items()} for records in (committed, measured)]
    different = sorted(
        key for key in hashes[0].keys() | hashes[1] if hashes[0].get(key) != hashes[1].get(key)
    )
    if not different:
        return None
    return (
        f"{RECORD} does not know the present text of {', '.join(different)}; it is written by `make test` on "
        "Linux with the pinned versions, as the continuous integration does"
    )
