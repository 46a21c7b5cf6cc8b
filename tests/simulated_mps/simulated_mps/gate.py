"""Which findings make a run fail (`--fail-on`), and which are known (`--baseline`)."""

import os
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulated_mps.errors import SimulationError

if TYPE_CHECKING:  # they need torch, and the plugin reads its options without
    from simulated_mps.findings import Finding
    from simulated_mps.reports import Report

FAIL_ON = ("missing", "fallback", "float64", "refused", "gradient", "wrong", "waits")
IN_BASELINE = (*FAIL_ON, "limit")  # of the simulation, which fails tests, but no gate
ALL_BUT_WAITS = tuple(kind for kind in IN_BASELINE if kind != "waits")
SHOWN = 20  # findings that are named at the end

OPTIONS = {
    "json": {"metavar": "FILE", "help": "write the report with all places to FILE"},
    "markdown": {
        "metavar": "FILE",
        "help": "write it as Markdown; what $GITHUB_STEP_SUMMARY names is appended to",
    },
    "annotations": {"action": "store_true", "help": "print what GitHub shows beside the lines of code"},
    "fail-on": {"metavar": "KINDS", "help": f"fail if one of these was found: {','.join(FAIL_ON)}"},
    "baseline": {"metavar": "FILE", "help": "findings that are known and do not fail, one a line"},
    "write-baseline": {"action": "store_true", "help": "add to that file what it does not know"},
}


class Gate:
    """The options that decide how a run ends, and what is written of it."""

    def __init__(self, given: Callable[[str], Any], root: Path) -> None:
        """Read the options through `given`; paths are seen from `root`. Raises SimulationError."""
        self.root = root
        self.fail_on = read_kinds(given("fail-on") or "")
        self.annotates = bool(given("annotations"))
        self.files = {name: Path(file) for name in ("json", "markdown") if (file := given(name))}
        self.baseline = Path(file) if (file := given("baseline")) else None
        self.writes_baseline = bool(given("write-baseline"))
        if self.writes_baseline and self.baseline is None:
            raise SimulationError("--write-baseline needs --baseline FILE")
        for path in filter(None, [*self.files.values(), self.baseline]):
            if not path.absolute().parent.is_dir():
                raise SimulationError(f"there is no folder for {path}")
        self.known = read_baseline(self.baseline, self.writes_baseline) if self.baseline else []

    def line_of(self, found: "Finding") -> tuple[str, str, str]:
        """Return how a baseline names `found`: kind, operator and file, but no line, since lines move."""
        return found.kind, found.what, found.path(self.root) or "-"

    def knows(self, found: "Finding") -> bool:
        """Return whether the baseline has `found`."""
        return any(fits(self.line_of(found), pattern) for pattern in self.known)

    def failing(self, report: "Report") -> list["Finding"]:
        """Return the findings that make the run fail, the most frequent of each kind first."""
        found = [
            finding
            for finding, _ in sorted(report.findings.items(), key=lambda item: -item[1])
            if finding.kind in self.fail_on and not finding.expected and not self.knows(finding)
        ]
        return sorted(found, key=lambda finding: self.fail_on.index(finding.kind))

    def conclude(self, report: "Report") -> tuple[list[str], list[str], list[str]]:
        """Write the files that were asked for; return annotations, notes, and errors that fail the run."""
        from simulated_mps import outputs

        failing = [] if self.writes_baseline else self.failing(report)
        notes = self.notes_on_baseline(report)
        annotations = outputs.annotations(report, failing, self.root) if self.annotates else []
        texts = {"json": outputs.as_json, "markdown": outputs.as_markdown}
        for name, path in self.files.items():
            outputs.write(path, texts[name](report, failing, self.root), append=is_step_summary(path))
        errors = [
            f"{found.kind}: {found.what} at {found.place(self.root)}{in_test(found)}" for found in failing
        ]
        if len(errors) > SHOWN:
            errors[SHOWN:] = [f"and {len(errors) - SHOWN} more places"]
        return annotations, notes, errors

    def notes_on_baseline(self, report: "Report") -> list[str]:
        """Complete the baseline if that is asked; else return a note if it knows what did not occur."""
        if self.baseline is None:
            return []
        kinds = self.fail_on or ALL_BUT_WAITS
        found = {
            self.line_of(finding) for finding in report.findings if finding.kind and not finding.expected
        }
        if self.writes_baseline:
            new = sorted(
                line for line in found if line[0] in kinds and not any(fits(line, p) for p in self.known)
            )
            before = self.baseline.read_text(encoding="utf-8") if self.baseline.exists() else ""
            self.baseline.write_text(
                before + "".join(f"{' '.join(line)}\n" for line in new), encoding="utf-8"
            )
            return [f"baseline: {len(new)} findings added to {self.baseline}"]
        gone = [pattern for pattern in self.known if not any(fits(line, pattern) for line in found)]
        return [f"baseline: did not occur: {' '.join(pattern)}" for pattern in gone]


def in_test(found: "Finding") -> str:
    """Return the test of `found` in brackets, if there is one."""
    return f" ({found.test})" if found.test else ""


def fits(line: Iterable[str], pattern: Iterable[str]) -> bool:
    """Return whether each word of a line fits its pattern, in which * stands for anything."""
    return all(map(fnmatchcase, line, pattern))


def read_kinds(text: str) -> list[str]:
    """Return the kinds of `--fail-on`. Raises SimulationError."""
    kinds = [kind.strip() for kind in text.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in FAIL_ON:
            raise SimulationError(f"--fail-on {kind}: there are {', '.join(FAIL_ON)}")
    return kinds


def read_baseline(path: Path, may_be_new: bool) -> list[tuple[str, ...]]:
    """Return the lines of a baseline as words: kind, operator, file. Raises SimulationError."""
    if not path.is_file():
        if may_be_new:
            return []
        raise SimulationError(f"there is no baseline {path}; --write-baseline makes one")
    known: list[tuple[str, ...]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = tuple(line.split(maxsplit=2))
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 3 or words[0] not in (*IN_BASELINE, "*"):
            raise SimulationError(
                f"{path}:{number}: expected kind, operator and file, such as missing aten::x a.py"
            )
        known.append((*words[:2], words[2].rstrip()))
    return known


def add_options(add: Callable[..., object], prefix: str) -> None:
    """Add the options to a parser by its function `add`."""
    for name, words in OPTIONS.items():
        add(prefix + name, **words)


def is_step_summary(path: Path) -> bool:
    """Return whether GitHub shows what is in the file."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY", "")
    return summary != "" and path.absolute() == Path(summary).absolute()
