"""docs/data/not_executed.yaml: the shown lines that a test run cannot execute, with reasons.

An entry quotes its lines instead of numbering them, so that it survives edits:

    - file: snippets/profiling.py
      section: capture
      code: |
        with torch.mps.profiler.metal_capture("step.gputrace"):
      kind: macos-only
      reason: Metal captures need a Mac's GPU.

`cuda-only`, `macos-only` and `meant-to-fail` (shown mistakes: lines behind the one that fails) are permanent.
`mps-only` lines wait for a device that runs them. An entry that matches nothing, or whose lines did run, is
an error: the list can only shrink.
"""

from __future__ import annotations

import platform
from pathlib import Path

from tools.checks.coverage_data import SourceFile
from tools.checks.sections import Section, is_marker
from tools.read_yaml import read_yaml

EXCEPTIONS = Path("docs/data/not_executed.yaml")
KEYS = {"file", "section", "code", "kind", "reason"}
KINDS = ("cuda-only", "macos-only", "mps-only", "meant-to-fail")


def read_exceptions(
    root: Path, shown: dict[str, Section], files: dict[str, SourceFile]
) -> tuple[dict[str, dict[int, str]], list[str]]:
    """Read the list: the kind of each excepted statement, by file and line, and what is wrong with it.

    `shown` are the sections on pages by `path:name`, `files` their files by path.
    """
    excepted: dict[str, dict[int, str]] = {path: {} for path in files}
    problems = []
    path = root / EXCEPTIONS
    entries = read_yaml(path) if path.is_file() else []
    for number, entry in enumerate(entries or [], start=1):
        try:
            section, statements = _statements_of(entry, shown, files)
            excepted[section.path] |= dict.fromkeys(statements, entry["kind"])
        except ValueError as error:
            problems.append(f"{EXCEPTIONS}, entry {number}: {error}")
    return excepted, problems


def _statements_of(
    entry: dict, shown: dict[str, Section], files: dict[str, SourceFile]
) -> tuple[Section, set[int]]:
    """Return an entry's section and statements. Raises ValueError with what is wrong with the entry."""
    if not isinstance(entry, dict) or set(entry) != KEYS:
        raise ValueError(f"expected the keys {', '.join(sorted(KEYS))}")
    key = f"{entry['file']}:{entry['section']}"
    if entry["kind"] not in KINDS:
        raise ValueError(f"{key}: unknown kind {entry['kind']!r}; choose one of {', '.join(KINDS)}")
    if not str(entry["reason"] or "").strip():
        raise ValueError(f"{key}: give a reason")
    if key not in shown:
        raise ValueError(f"{key}: stale exception, no page shows such a section")
    section, file = shown[key], files[entry["file"]]
    statements = file.statements(*_quoted_lines(file, section, str(entry["code"])))
    if not statements:
        raise ValueError(f"{key}: the quoted code has no executable line")
    ran = [line for line in sorted(statements) if file.contexts(line) - _may_run(entry["kind"])]
    if ran and not (entry["kind"] == "macos-only" and platform.system() == "Darwin"):
        raise ValueError(f"{key}: stale exception, this line ran: {file.text(ran[0])}")
    return section, statements


def _may_run(kind: str) -> set[str]:
    """Return the contexts that may execute lines of a kind without making the entry stale."""
    return {"cuda-only": {"cuda"}, "mps-only": {"mps"}}.get(kind, set())


def _quoted_lines(file: SourceFile, section: Section, code: str) -> tuple[int, int]:
    """Find where a section contains the quoted lines; indentation and blank lines are free.

    Returns the first and last line number. Raises ValueError unless there is exactly one such place.
    """
    quoted = [line.strip() for line in code.splitlines() if line.strip()]
    numbers = [
        number
        for number in range(section.first, section.last + 1)
        if file.text(number) and not is_marker(file.lines[number - 1])
    ]
    texts = [file.text(number) for number in numbers]
    size = len(quoted)
    found = [start for start in range(len(texts)) if quoted and texts[start : start + size] == quoted]
    if not found:
        raise ValueError(f"{section.key}: stale exception, the section does not contain {code.strip()!r}")
    if len(found) > 1:
        raise ValueError(f"{section.key} contains {code.strip()!r} {len(found)} times: quote more lines")
    return numbers[found[0]], numbers[found[0] + size - 1]
