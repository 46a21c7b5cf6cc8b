"""docs/data/executed.json: which sections ran where, and with which versions, for the badges on the pages.

A section is known by the hash of its code, without comments and docstrings. Every test run brings the record
up to date for the sections that it ran: a complete one, or some tests in a few seconds
(`make test ARGS=tests/snippets/test_device.py`), so that a changed line and its record are one commit. That
the record has the present code is compared without running anything (`out_of_date`), in `make check` too.

A complete run on the reference platform, Linux without a GPU and with the pinned PyTorch and torchvision,
also decides what is true: a section that did not run there as a whole loses that claim, and the check fails.
What ran elsewhere (a Mac, a CUDA machine) is kept until the code changes. Runs with other versions of PyTorch
than the record names change nothing.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path

from packaging.requirements import Requirement

from tools.checks.executed_lines import Report
from tools.checks.page_code import check_pages
from tools.checks.sections import all_sections

RECORD = Path("docs/data/executed.json")
PINS = Path("requirements/examples.txt")
REFERENCE_CONTEXTS = ["cpu", "simulated-mps"]
UPDATE = "make test ARGS=tests/..., with the tests of that code, records that it ran; commit both together"


def read(root: Path) -> dict:
    """Return the record: versions by name, and what is known of each section by `path:name`."""
    path = root / RECORD
    empty: dict[str, dict] = {"verified_with": {}, "sections": {}}
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else empty


def out_of_date(root: Path) -> list[str]:
    """Return the shown Python sections whose present code is not in the record, and gone ones that are."""
    sections, _ = all_sections(root)
    users, _ = check_pages(root, sections)
    shown = {key: section.hash for key, section in sections.items() if ".py:" in key and key in users}
    recorded = {key: record["hash"] for key, record in read(root)["sections"].items()}
    return sorted(key for key in shown.keys() | recorded if shown.get(key) != recorded.get(key))


def on_reference_platform(root: Path, report: Report) -> bool:
    """Whether a complete run here decides what the record says: Linux, no GPU, the pinned versions."""
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


def update(root: Path, report: Report, complete: bool) -> list[str]:
    """Write what a test run found into the record; return the sections that it changed.

    `complete` is true for a run of all tests on the reference platform. Other runs only add to what is known
    of unchanged code, and leave out changed sections of which a line never ran.
    """
    if not report.records:  # nothing was compared, so nothing is known
        return []
    record = read(root)
    if _torch(record["verified_with"]) != _torch(report.versions):
        if not complete:
            return []
        record["verified_with"] = report.versions
    known = record["sections"]
    sections = {key: old for key, old in known.items() if key in report.records}
    for key, found in report.records.items():
        old = known.get(key)
        if old is not None and old["hash"] == found["hash"]:
            sections[key] = _merged(old, found, complete)
        elif key not in report.never_ran:
            sections[key] = found
    record["sections"] = dict(sorted(sections.items()))
    text = json.dumps(record, indent=2) + "\n"
    if not (root / RECORD).is_file() or (root / RECORD).read_text(encoding="utf-8") != text:
        (root / RECORD).write_text(text, encoding="utf-8")
    return sorted(key for key in known.keys() | sections if known.get(key) != sections.get(key))


def _merged(old: dict, found: dict, complete: bool) -> dict:
    """Return what is known of unchanged code after a run; a complete one decides on its own contexts."""
    kept = [context for context in old["contexts"] if not complete or context not in REFERENCE_CONTEXTS]
    merged = (found if complete else old) | {"contexts": sorted({*kept, *found["contexts"]})}
    if merged["contexts"]:
        merged.pop("parts", None)
    return merged


def check(root: Path, report: Report) -> str | None:
    """Bring the record up to date after a complete run; return what was wrong with the committed one.

    That the run proved more than was recorded is no fault: the new record may be committed or not.
    """
    reference = on_reference_platform(root, report)
    before, stale = read(root), out_of_date(root)
    changed = update(root, report, complete=reference)
    after = read(root)
    wrong = [key for key in changed if key in stale or _claims(before, key) - _claims(after, key)]
    if before["verified_with"] != after["verified_with"]:
        wrong.append("the versions")
    left = [key for key in stale if key not in changed]
    if wrong:
        return f"{RECORD} was out of date and has been rewritten; commit it: {', '.join(wrong)}"
    if left:
        return f"{RECORD} does not know the present code of {', '.join(left)}; {UPDATE}"
    if changed:
        print(f"{RECORD} now says more of {len(changed)} sections; it may be committed")
    return None


def _claims(record: dict, key: str) -> set[str]:
    return set(record["sections"].get(key, {}).get("contexts", []))


def _torch(versions: dict[str, str]) -> list[str | None]:
    return [versions.get(name) for name in ("torch", "torchvision")]
