"""The proof that every Python line on a page ran: shown sections against the coverage data of the tests.

`tools/run_tests.py` runs all tests under coverage, which also follows the processes that tests start.
Coverage's static context is the device of the run: `cpu`, `mps` on a Mac, `cuda` where there is such a GPU.
Afterwards `measure` looks at every Python section that a page shows: each executable line must have been
executed in some context, except those that docs/data/not_executed.yaml lists (tools/checks/not_executed.py).
`# pragma: no cover` excuses nothing here.

Coverage data of other sources (edited since, or left over) are recognised by the text of the sources, which
is noted when the tests begin, and not by clocks. The result of a proof is docs/data/executed.txt
(tools/checks/executed_record.py).
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tools.checks.coverage_data import (
    RUN_FOLDER,
    RUN_RECORD,
    Executed,
    SourceFile,
    read_coverage,
    source_hashes,
)
from tools.checks.not_executed import EXCEPTIONS, read_exceptions
from tools.checks.page_code import check_pages, unused
from tools.checks.sections import Section, all_sections


@dataclass
class Report:
    """What a proof found; `records`, by Section.identity, are what docs/data/executed.txt keeps."""

    problems: list[str] = field(default_factory=list)
    records: dict[str, dict] = field(default_factory=dict)
    never_ran: dict[str, list[int]] = field(default_factory=dict)  # lines, of sections that have such
    contexts: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    lines: Counter[str] = field(default_factory=Counter)  # compared, excepted, and run by each context

    def summary(self) -> str:
        """Say how much was compared."""
        text = [
            f"compared {len(self.records)} sections with {self.lines['compared']} executable lines; "
            f"{self.lines['excepted']} lines are excepted in {EXCEPTIONS}"
        ]
        for context in self.contexts:
            whole = sum(context in record["contexts"] for record in self.records.values())
            text.append(f"  {context}: {self.lines[context]} lines ran, {whole} sections as a whole")
        return "\n".join(text)


def measure(root: Path) -> Report:
    """Compare every shown Python section with the coverage data of the last test run."""
    report = Report()
    if not (root / RUN_RECORD).is_file():
        report.problems.append(f"{RUN_RECORD} is missing: there was no test run; `make test` makes one")
        return report
    run = json.loads((root / RUN_RECORD).read_text(encoding="utf-8"))
    report.contexts, report.versions = run["contexts"], run["versions"]
    before, now = run["sources"], source_hashes(root)
    for file in sorted(file for file in before.keys() | now if before.get(file) != now.get(file)):
        report.problems.append(f"{file} changed after the tests began: run them again")
    if report.problems:
        return report  # the data belong to other lines
    executed = read_coverage(root)
    if not executed:
        report.problems.append(f"the test run left no coverage data in {RUN_FOLDER}")
    sections, defects = all_sections(root)
    users, _ = check_pages(root, sections)  # tests/site/ reports what is wrong with pages
    report.problems += defects + unused(root, sections, users)
    shown = [section for key, section in sections.items() if section.path.endswith(".py") and key in users]
    _compare(root, report, shown, executed)
    if not report.lines["compared"]:
        report.problems.append("no line was compared: no page shows a Python section")
    return report


def _compare(root: Path, report: Report, shown: list[Section], executed: Executed) -> None:
    """Fill in each shown section's statements and what became of them."""
    files = {section.path: SourceFile(root, section.path, executed) for section in shown}
    excepted, wrong = read_exceptions(root, {section.key: section for section in shown}, files)
    report.problems += wrong
    compared: dict[str, set[int]] = {path: set() for path in files}
    for section in shown:
        file = files[section.path]
        statements = file.statements(section.first, section.last)
        if not statements:
            report.problems.append(f"{section.key} has no executable line: there is nothing to prove")
        kinds = {line: kind for line, kind in excepted[section.path].items() if line in statements}
        report.records[section.identity] = _record(file, statements, kinds, report.contexts)
        missed = [line for line in sorted(statements - kinds.keys()) if not file.contexts(line)]
        if missed:
            report.never_ran[section.key] = missed
        compared[section.path] |= statements
    for path, statements in compared.items():  # a line of two nested sections counts once
        file = files[path]
        report.lines["compared"] += len(statements)
        report.lines["excepted"] += len(statements & excepted[path].keys())
        for line in sorted(statements):
            report.lines.update(file.contexts(line))
            if not file.contexts(line) and line not in excepted[path]:
                report.problems.append(f"{path}:{line} is shown on a page but never ran: {file.text(line)}")


def _record(file: SourceFile, statements: set[int], kinds: dict[int, str], contexts: list[str]) -> dict:
    """Return what executed.txt keeps of a section: the contexts that ran every line but the excepted."""
    runners = [file.contexts(line) for line in sorted(statements - kinds.keys())]
    whole = [context for context in contexts if runners and all(context in ran for ran in runners)]
    record: dict[str, object] = {"contexts": whole}
    parts = [context for context in contexts if any(context in ran for ran in runners)]
    if parts and not whole:  # no context alone ran all of it
        record["parts"] = parts
    if kinds:
        record["exceptions"] = dict(sorted(Counter(kinds.values()).items()))
    return record
