"""docs/data/executed.txt: which sections ran where, and with which versions, for the badges on the pages.

The first line has the versions. Each other line is a section, the hash of its code without comments and
docstrings, and where it ran: as a whole (`cpu`), in part (`part:cpu`), with excepted lines (`cuda-only=2`).
A line counts for the code of its hash alone, so that git may keep what two branches noted (`merge=union` in
docs/data/.gitattributes); the next test run sorts the lines and drops those of code that is gone.

Every test run brings the record up to date for the sections that it ran: a complete one, or some tests in a
few seconds (`make test ARGS=tests/snippets/test_device.py`), so that a changed line and its record are one
commit. That the record has the present code is compared without running anything (`out_of_date`), in
`make check` too.

A complete run on the reference platform, Linux without a GPU and with the pinned PyTorch and torchvision,
also decides what is true: a section that did not run there as a whole loses that claim, and the check fails.
What ran elsewhere (a Mac, a CUDA machine) is kept until the code changes. Runs with other versions of PyTorch
than the record names change nothing.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from tools.checks.page_code import check_pages
from tools.checks.sections import all_sections

if TYPE_CHECKING:  # it needs coverage, which the site, whose badges come from here, does not install
    from tools.checks.executed_lines import Report

RECORD = Path("docs/data/executed.txt")
PINS = Path("requirements/examples.txt")
REFERENCE_CONTEXTS = ["cpu", "simulated-mps"]
HEAD, PART = "verified-with", "part:"
UPDATE = "make test ARGS=tests/..., with the tests of that code, records that it ran; commit both together"


@dataclass
class Record:
    """The versions by name, and what is known of each section with its present code, by Section.identity."""

    versions: dict[str, str] = field(default_factory=dict)
    sections: dict[str, dict] = field(default_factory=dict)


def read(root: Path) -> Record:
    """Return the record, an empty one where there is no file."""
    record, path = Record(), root / RECORD
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        first, *words = line.split() or [""]
        pairs = dict(word.split("=") for word in words if "=" in word)
        if first == HEAD:
            record.versions |= pairs
        elif first:
            known: dict = {"contexts": [word for word in words[1:] if ":" not in word and "=" not in word]}
            if parts := [word.removeprefix(PART) for word in words if word.startswith(PART)]:
                known["parts"] = parts
            if pairs:
                known["exceptions"] = {kind: int(number) for kind, number in pairs.items()}
            record.sections[f"{first} {words[0]}"] = known
    return record


def write(root: Path, record: Record) -> None:
    """Write the record in its one form, with sorted lines."""
    lines = [" ".join([HEAD, *(f"{name}={version}" for name, version in record.versions.items())]), ""]
    for identity, known in sorted(record.sections.items()):
        parts = [f"{PART}{context}" for context in known.get("parts", [])]
        exceptions = [f"{kind}={number}" for kind, number in known.get("exceptions", {}).items()]
        lines.append(" ".join([identity, *known["contexts"], *parts, *exceptions]))
    text = "\n".join(lines) + "\n"
    if not (root / RECORD).is_file() or (root / RECORD).read_text(encoding="utf-8") != text:
        (root / RECORD).write_text(text, encoding="utf-8")


def out_of_date(root: Path) -> list[str]:
    """Return the shown Python sections, as `path:name`, whose present code is not in the record."""
    sections, _ = all_sections(root)
    users, _ = check_pages(root, sections)
    recorded = read(root).sections
    shown = (section for key, section in sections.items() if ".py:" in key and key in users)
    return sorted(section.key for section in shown if section.identity not in recorded)


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
    """Write what a test run found into the record; return the lines that are new or say something else.

    `complete` is true for a run of all tests on the reference platform. Other runs only add to what is known
    of unchanged code, and leave out changed sections of which a line never ran. Lines of code that is gone
    are dropped.
    """
    if not report.records:  # nothing was compared, so nothing is known
        return []
    record = read(root)
    if _torch(record.versions) != _torch(report.versions):
        if not complete:
            return []
        record.versions = report.versions
    known, sections = record.sections, {}
    for identity, found in report.records.items():
        if identity in known:
            sections[identity] = _merged(known[identity], found, complete)
        elif _key(identity) not in report.never_ran:
            sections[identity] = found
    write(root, Record(record.versions, sections))
    return sorted(identity for identity in sections if known.get(identity) != sections[identity])


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
    wrong = [
        _key(identity)
        for identity in changed
        if identity not in before.sections or _claims(before, identity) - _claims(after, identity)
    ]
    if before.versions != after.versions:
        wrong.append("the versions")
    left = [key for key in stale if key not in wrong]
    if wrong:
        return f"{RECORD} was out of date and has been rewritten; commit it: {', '.join(wrong)}"
    if left:
        return f"{RECORD} does not know the present code of {', '.join(left)}; {UPDATE}"
    if changed:
        print(f"{RECORD} now says more of {len(changed)} sections; it may be committed")
    return None


def _claims(record: Record, identity: str) -> set[str]:
    return set(record.sections[identity]["contexts"])


def _key(identity: str) -> str:
    return identity.partition(" ")[0]


def _torch(versions: dict[str, str]) -> list[str | None]:
    return [versions.get(name) for name in ("torch", "torchvision")]
