"""The report for programs, for GitHub's summary of a job, and beside the lines of code."""

import json
import os
from collections.abc import Collection
from pathlib import Path

from simulated_mps.findings import Finding
from simulated_mps.reports import Report

ROWS = 100  # of the table
ANNOTATIONS = 10  # of each level that GitHub shows for a step


def as_json(report: Report, failing: Collection[Finding], root: Path) -> str:
    """Return everything, with paths seen from `root`."""
    found = [
        {
            "kind": finding.kind,
            "event": finding.event,
            "operator": finding.operator,
            "file": finding.path(root),
            "line": finding.line,
            "test": finding.test,
            "count": count,
            "expected": finding.expected,
            "fails": finding in failing,
        }
        for finding, count in report.findings.items()
    ]
    content = {
        "release": report.release,
        "processes": report.processes,
        "peak_bytes": report.peak_bytes,
        "operators": dict(sorted(report.with_kernel.items())),
        "findings": found,
    }
    return json.dumps(content, indent=1) + "\n"


def as_markdown(report: Report, failing: Collection[Finding], root: Path) -> str:
    """Return a table of what was found; what fails the run comes first."""
    calls = sum(report.with_kernel.values())
    lines = [
        f"### Simulated MPS, operators of PyTorch {report.release}",
        "",
        f"{len(report.with_kernel)} operators, {calls:,} calls, {report.peak_bytes / 1e6:,.1f} MB at most",
        "",
    ]
    ranked = sorted(ranking(report), key=lambda item: item[0] not in failing)
    if ranked:
        lines += ["| | What | Times | Where | Test |", "|---|---|---:|---|---|"]
    for found, count in ranked[:ROWS]:
        marks = "**fails**" if found in failing else "expected" if found.expected else ""
        what = f"{found.kind or 'note'}: `{found.what}`"
        test = f"`{cell(found.test)}`" if found.test else ""
        lines.append(f"| {marks} | {what} | {count:,} | `{cell(found.place(root))}` | {test} |")
    if len(ranked) > ROWS:
        lines += ["", f"and {len(ranked) - ROWS} more places"]
    return "\n".join(lines) + "\n\n"


def ranking(report: Report) -> list[tuple[Finding, int]]:
    """Return the findings, errors before waits and waits before notes, the most frequent first."""
    kinds = ["missing", "refused", "float64", "gradient", "wrong", "fallback", "waits", "limit", ""]
    return sorted(report.findings.items(), key=lambda item: (kinds.index(item[0].kind), -item[1]))


def cell(text: str) -> str:
    """Return `text` so that it stays in a cell of a table."""
    return text.replace("|", "\\|").replace("`", "'")


def annotations(report: Report, failing: Collection[Finding], root: Path) -> list[str]:
    """Return lines that GitHub shows beside the code: errors for what fails, warnings for the rest.

    Waits that do not fail have none.
    """
    errors: list[str] = []
    warnings: list[str] = []
    for found, count in ranking(report):
        if not found.file or not found.kind or found.expected:
            continue
        if found not in failing and found.kind == "waits":
            continue
        level, lines = ("error", errors) if found in failing else ("warning", warnings)
        base = Path(os.environ.get("GITHUB_WORKSPACE") or root)
        where = f"file={escaped(found.path(base), ':,')},line={found.line}"
        said = "not simulated, a Mac may do it" if found.kind == "limit" else f"{found.kind} on MPS"
        text = f"{said}, PyTorch {report.release}: {found.what} ({count:,} times)"
        lines.append(f"::{level} {where},title=simulated MPS::{escaped(text)}")
    return errors[:ANNOTATIONS] + warnings[:ANNOTATIONS]


def escaped(text: str, also: str = "") -> str:
    """Return `text` as GitHub's workflow commands want it."""
    for character in "%\r\n" + also:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def write(path: Path, text: str, append: bool) -> None:
    """Write or append to a file."""
    with path.open("a" if append else "w", encoding="utf-8") as file:
        file.write(text)
