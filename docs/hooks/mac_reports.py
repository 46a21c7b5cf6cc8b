"""Reports from Macs, from docs/data/macs/: what is in them, and the words for a Mac and for what it found.

tools/checks/macs.py explains the files; one that is not taken in ends the build. docs/hooks/verified_on.py
makes their page, docs/hooks/mac_marks.py the marks on other pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rendering import TableError, code_span

from tools.checks.mac_steps import OUTCOMES, verdict
from tools.checks.macs import MACS, SIMULATED, read_macs
from tools.versions import number

FOLDER = MACS
WITH_SIMULATED = False  # tests set it, with a folder of their own
NEWEST = 2  # Macs that a mark names; the others are counted
PAGE = "@home/project/verified-on/"  # in HTML; docs/hooks/operator_finder.py puts the way there in
WORDS = {
    "en": {
        "place": "{chip}, macOS {macos}, PyTorch {torch}",
        "simulated": " (simulated)",
        "between": "; ",
        "all": "{}",
        "more": '{} and <a href="{}">{} more</a>',
        "said": "expected {}, found {}",
    },
    "zh": {
        "place": "{chip}，macOS {macos}，PyTorch {torch}",
        "simulated": "（模拟）",
        "between": "；",
        "all": "{} ",
        "more": '{} 和<a href="{}">另外 {} 个环境</a>',
        "said": "预期 {}，实际 {}",
    },
}
Report = Mapping[str, Any]
Step = Mapping[str, Any]


def reports() -> Sequence[Report]:
    """Return the reports. Raises TableError with a line for each file that is not taken in."""
    try:
        return read(FOLDER, WITH_SIMULATED)
    except ValueError as error:
        raise TableError(str(error)) from None


@cache
def read(folder: Path, simulated: bool) -> Sequence[Report]:
    """Read the reports once. docs/hooks/whole_site.py forgets them before each build."""
    return read_macs(folder, simulated)


def steps(report: Report, *kinds: str) -> list[Step]:
    """Return what a report tried of the handbook, of these kinds or all."""
    found = report.get("handbook", {}).get("steps", [])
    return [step for step in found if not kinds or step["kind"] in kinds]


def tried(*kinds: str) -> Iterator[tuple[Report, Step]]:
    """Yield each step of these kinds with its report."""
    yield from ((report, step) for report in reports() for step in steps(report, *kinds))


def chip(report: Report, language: str) -> str:
    """Return the chip, "M3 Pro"; one of the simulated device is marked."""
    about = report["machine"]
    mark = WORDS[language]["simulated"] if about["gpu"] == SIMULATED else ""
    return about["chip"].removeprefix("Apple ") + mark


def release(report: Report) -> str:
    """Return PyTorch without its patch, "2.15"."""
    return str(report["machine"]["torch"].rpartition(".")[0])


def place(report: Report, language: str, brief: bool = False) -> str:
    """Return the machine and the versions in words."""
    about = report["machine"] | {"chip": chip(report, language)}
    return WORDS[language]["place"].format(**about | ({"torch": release(report)} if brief else {}))


def anchor(report: Report) -> str:
    """Return the place of a report's differences on the page of all reports."""
    about = report["machine"]
    parts = [about["chip"].removeprefix("Apple "), about["gpu_cores"], f"{about['memory_gb']:g}"]
    parts += [about["macos"], about["torch"], *(["virtual"] if about["virtual"] else [])]
    return re.sub(r"[^a-z0-9]+", "-", " ".join(map(str, parts)).lower()).strip("-")


def differences_of(report: Report, text: str) -> str:
    """Return a link to the differences of a report, in HTML."""
    return f'<a href="{PAGE}#{anchor(report)}">{text}</a>'


def newest_first(found: Iterable[Report]) -> list[Report]:
    """Return reports, the newest first; of one day, those of the newest macOS and PyTorch."""

    def age(report: Report) -> tuple[Any, ...]:
        about = report["machine"]
        return report["date"], number(about["macos"]), number(about["torch"])

    return sorted(found, key=age, reverse=True)


def named(found: Iterable[Report], language: str, differ: bool = False) -> str:
    """Return the newest of these Macs in words and the number of the others, in HTML.

    With `differ`, each is a link to its differences.
    """
    words, ordered = WORDS[language], newest_first(found)
    shown = [(report, place(report, language, brief=True)) for report in ordered[:NEWEST]]
    text = words["between"].join(differences_of(*one) if differ else one[1] for one in shown)
    more = len(ordered) - NEWEST
    return words["more"].format(text, PAGE, more) if more > 0 else words["all"].format(text)


def code(*texts: str) -> str:
    """Return what a report holds as inline code in one line."""
    text = "".join(one if one.isprintable() else " " for one in ": ".join(filter(None, texts)))
    return code_span(" ".join(text.split()))


def said(expected: str, found: str, language: str) -> str:
    """Return what was expected and what was found."""
    return WORDS[language]["said"].format(expected, found)


def said_and_found(step: Step, language: str) -> str:
    """Return what was expected of a step and what it found."""
    outcome = OUTCOMES[step["kind"]][0]
    expected = code("" if step.get("expected") else outcome, step.get("expected", ""))
    repeated = step["outcome"] == OUTCOMES[step["kind"]][1] and step.get("found")
    found = code("" if repeated else step["outcome"], step.get("found", ""))
    return said(expected, found, language)


def differs(step: Step) -> bool:
    """Say whether a step found something else than the handbook says."""
    return verdict(dict(step)) is False


def table(head: Sequence[Any], rows: Iterable[Sequence[Any]], right: Iterable[int] = ()) -> str:
    """Return a Markdown table; the columns of these places are aligned to the right."""
    marks = ["---:" if place in set(right) else "---" for place in range(len(head))]
    lines = "\n".join(f"| {' | '.join(map(str, line))} |" for line in (head, marks, *rows))
    return f'<div class="mac-table" markdown>\n\n{lines}\n\n</div>'


def written(value: Any) -> str:
    """Return a text as it is, and a number with three digits or more."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
