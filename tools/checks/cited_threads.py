"""Find threads that are cited twice, with a restriction in one place that the other lacks.

    python -m tools.checks.cited_threads    one line per difference that nobody reviewed; exit 1 for one

"Random in-place operations did nothing" is wrong if the thread speaks of tensors that are not contiguous. So
when two places cite the same issue or pull request, each kind of restriction (RESTRICTIONS) that one text has
and the other lacks has to be reviewed. Either the other text is corrected; or the difference is right, as it
tells something else of the thread: then it goes into docs/data/reviewed_citations.yaml, with the reason.

A place is an entry of the data or an answer of the FAQ, as tools/checks/readings.py names them, or a section
of a page: guides/numerics.md#nan. Sections called *Evidence* list sources and state nothing of their own.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.checks.readings import english, kind, parts
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
REVIEWED = "docs/data/reviewed_citations.yaml"
EVIDENCE = "#evidence"
RESTRICTIONS = {
    "layout": r"contiguous|channels[_-]last|transpos|\bslices?\b",
    "dimensions": r"\b[1-5]-D\b|-dimensional|\bbmm\b|batched",
    "macos": r"macOS (?:before|up to|older|\d)|before macOS",
    "chip": r"\bM[1-9]\b",
    "dtype": r"\b(?:bf|fp)16\b|\bb?float(?:16|32)\b",
    "bias": r"\bbias\b",
    "pass": r"backward|gradient|training steps?|validation|inference|generation",
}
_THREAD = re.compile(r"github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull|discussions)/(\d+)")
_NAMED = re.compile(r"\b(?:issue|pull request) (\d{4,})\b|\bpytorch#(\d+)")  # in the data, of PyTorch


@dataclass(frozen=True)
class Citation:
    """A place that cites a thread."""

    thread: str  # owner/name#number
    place: str
    has: frozenset[str]  # kinds of restrictions in the sentence, row or entry itself
    around: frozenset[str]  # and in its whole paragraph


Unit = tuple[
    str, str, str, Iterable[str]
]  # a place, its text about the threads, the text around that, the threads


def restrictions(text: str) -> frozenset[str]:
    """Return the kinds of restrictions that a text has."""
    return frozenset(name for name, words in RESTRICTIONS.items() if re.search(words, text, re.I))


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value of a data file."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if parts is not None:
        for part in parts:
            yield from _texts(part)
    elif value is not None:
        yield str(value)


def _linked(text: str) -> set[str]:
    return {f"{name}#{number}" for name, number in _THREAD.findall(text)}


def _sources(sources: Any) -> Iterator[str]:
    """Yield the threads among the sources of an entry: lists such as [issue, 5, owner/name], or a text."""
    for source in sources if isinstance(sources, list) else [sources]:
        if isinstance(source, list):
            if source[0] in ("issue", "pull"):
                yield f"{source[2] if len(source) > 2 else 'pytorch/pytorch'}#{source[1]}"
        else:
            yield from (f"pytorch/pytorch#{one or other}" for one, other in _NAMED.findall(str(source)))


def _of_entry(key: str, entry: Any) -> Iterator[Unit]:
    """Yield an entry of the data; of a table of published speeds each row."""
    entry = english(entry)
    if kind(key) == "published_speeds":
        for text in (" ".join(_texts(row)) for row in entry["rows"]):
            yield key, text, text, _linked(text)
    elif isinstance(entry, dict):
        cited = [*_sources(entry.get("sources")), *_sources(entry.get("source"))]
        own = {name: part for name, part in entry.items() if name not in ("sources", "source")}
        text = " ".join(_texts(own))
        # What a release brings is several statements, of which the sources are not told apart; so is a truth.
        several = kind(key) in ("versions", "claims") and len(cited) > 1
        yield key, "" if several else text, text, {*cited, *_linked(text)}


def _of_page(page: str, text: str) -> Iterator[Unit]:
    """Yield the sentences of a page, and the rows of its tables."""
    place = page
    for line in text.split("\n"):
        if heading := re.match(r"#+ .*\{ #([\w-]+) \}", line):
            place = f"{page}#{heading[1]}"
        for sentence in [line] if line.startswith("|") else re.split(r"(?<=[.!?;])\s+", line):
            if not place.endswith(EVIDENCE):
                yield place, sentence, line, _linked(sentence)


def citations(root: Path = ROOT) -> list[Citation]:
    """Return every citation of a thread, on the English pages and in the data."""
    found = []
    for key, part in parts(root).items():
        if kind(key) == "faq":
            units: Iterable[Unit] = [(key, part.text, part.text, _linked(part.text))]
        else:
            units = _of_page(key, part.text) if kind(key) == "pages" else _of_entry(key, part.entry)
        for place, own, around, threads in units:
            has, more = restrictions(own), restrictions(around)
            found += [Citation(thread, place, has, more) for thread in sorted(set(threads))]
    return found


def differences(found: Iterable[Citation]) -> dict[tuple[str, str], set[str]]:
    """Return the kinds of restrictions that a place lacks and another citation of the thread has."""
    found = list(found)
    has: dict[str, set[str]] = {}
    for citation in found:
        has.setdefault(citation.thread, set()).update(citation.has)
    lacks: dict[tuple[str, str], set[str]] = {}
    for citation in found:
        if lacking := has[citation.thread] - citation.around:
            lacks.setdefault((citation.thread, citation.place), set()).update(lacking)
    return lacks


def check(root: Path = ROOT) -> tuple[list[str], int]:
    """Return what nobody has reviewed, and which reviews are out of date; and the number of citations."""
    path = root / REVIEWED
    content = (read_yaml(path) if path.is_file() else None) or {}
    reviewed = {(thread, place): set(lacks) for thread, of in content.items() for place, lacks in of.items()}
    found = citations(root)
    lacks = differences(found)
    defects = [
        f"{REVIEWED}: {thread}: {place}: nothing to review any more: remove the line"
        for thread, place in reviewed
        if not reviewed[thread, place] & lacks.get((thread, place), set())
    ]
    for (thread, place), lacking in sorted(lacks.items()):
        if new := lacking - reviewed.get((thread, place), set()):
            others = ", ".join(sorted({one.place for one in found if one.thread == thread and one.has & new}))
            names = ", ".join(sorted(new))
            defects.append(f"{place}: cites {thread} without a restriction ({names}) of {others}")
    return defects, len(found)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return the exit code."""
    argparse.ArgumentParser(prog="cited_threads.py", description=__doc__.split("\n")[0]).parse_args(arguments)
    defects, count = check(root)
    print("\n".join([*defects, f"cited threads: {count} citations compared; {len(defects)} defects"]))
    return 1 if defects or not count else 0


if __name__ == "__main__":
    sys.exit(main())
