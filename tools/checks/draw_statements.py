"""Draw statements at random, of each kind equally many, for somebody to check who did not write them.

    python -m tools.checks.draw_statements --seed 26 --number 200

A statement is one sentence, one row of a table, or what an entry of the data says on one matter. A seed draws
the same of a kind until that kind gets or loses a statement. Below the numbered lines, each with its place,
stands how many of each kind were drawn from how many: a rate over all needs these weights.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools import ranges
from tools.checks.page_reader import read_markdown
from tools.checks.readings import kind, parts

ROOT = Path(__file__).resolve().parents[2]
NO_STATEMENTS = ("project/changes.md", "project/glossary.md")
_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+")
_ITEM = re.compile(r"^[\s>]*(?:[-*+]|\d+[.)])?\s*")
FEWEST_WORDS = 4  # a shorter sentence, such as "No.", belongs to the next one


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a Markdown text without code, and the rows of its tables."""
    page = read_markdown(text)
    titles = {heading.line for heading in page.headings}
    for number, line in enumerate(page.prose, 1):
        if number in page.table_lines or number in titles:
            continue
        begun = ""
        for part in _END.split(_ITEM.sub("", line).strip()):
            begun = f"{begun} {part}".strip()
            if len(begun.split()) >= FEWEST_WORDS:
                yield page.show(begun)
                begun = ""
    for section in page.sections:
        for head, *rows in section.tables:
            for row in rows:
                cells = [
                    f"{name}: {cell}".removeprefix(": ")
                    for name, cell in zip(head, row, strict=False)
                    if cell
                ]
                yield page.show("; ".join(cells))


def prose(text: str) -> Iterator[str]:
    """Yield what a page states: whole sentences that are no questions and no sources, and rows of tables."""
    for found in sentences(text):
        if re.search(r"[.!)*\w`]$", found) and not re.match(r"Sources?:", found):
            yield found


def _message(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("cause", "cure"):
        for sentence in sentences(entry[field]["en"]):
            yield f"error messages: {field}", sentence
    for text, marks in zip(ranges.texts(entry), ranges.marks(entry), strict=True):
        if marks:
            yield "error messages: range", f"“{text}”: {ranges.words(marks, 'en')}"
    if "releases" in entry:
        yield "error messages: range", f"“{entry['text']}”: {entry['releases']['en']}"


def _variable(entry: dict[str, Any]) -> Iterator[str]:
    yield from sentences(entry["effect"]["en"])
    for field, value in (entry | {"since": ranges.since(entry, "en")}).items():
        if field in ("default", "read", "since") and value:
            yield f"{entry['name']}: {field}: {value['en'] if isinstance(value, dict) else value}"


def _case(entry: dict[str, Any]) -> Iterator[str]:
    state = entry["state"]
    words = [f"{state['is']} {state.get('in', '')}".strip(), state.get("note", {}).get("en", "")]
    for field, value in (("PyTorch", entry["versions"]["en"]), ("state", "; ".join(filter(None, words)))):
        if value:
            yield f"{entry['what']['en']} | {field}: {value}"


def _release(entry: Any) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield str(entry)
        return
    for field, value in entry.items():
        if field == "brings":
            yield from (f"brings: {part}" for part in value["en"].split("; "))
        elif field != "sources":
            yield f"{field}: {value}"


def _speeds(entry: dict[str, Any]) -> Iterator[str]:
    def shown(value: Any) -> str:
        if isinstance(value, list):
            return " / ".join(map(str, value))
        return value["en"] if isinstance(value, dict) else str(value)

    heads = list(map(shown, entry["columns"]))
    for row in entry["rows"]:
        cells = zip(heads, row, strict=True)
        yield "; ".join(f"{head}: {shown(value)}" for head, value in cells if value is not None)
    yield from sentences(entry["note"]["en"])


def _package(entry: dict[str, Any]) -> Iterator[str]:
    for field in ("note", "instead"):
        yield f"{entry['name']} {entry['release']}: {field}: {entry[field]['en']}"


def _program(entry: dict[str, Any]) -> Iterator[str]:
    yield f"{entry['name']} {entry.get('release', '')}: MPS: {entry['mps']}; {entry['do']['en']}"


def _claim(entry: dict[str, Any]) -> Iterator[str]:
    for sentence in sentences(entry["truth"]["en"]):
        yield f"on “{entry['claim']['en']}”: {sentence}"


KINDS: dict[str, tuple[str, Callable[[Any], Iterator[str]]]] = {
    "environment_variables": ("environment variables", _variable),
    "wrong_results": ("wrong results", _case),
    "versions": ("versions", _release),
    "published_speeds": ("published speeds", _speeds),
    "claims": ("claims", _claim),
    "cuda_only_packages": ("packages that need CUDA", _package),
    "programs": ("programs", _program),
}


def statements(root: Path = ROOT) -> dict[str, list[tuple[str, str]]]:
    """Return all statements as (place, text), by kind."""
    found: dict[str, list[tuple[str, str]]] = {}
    for key, part in parts(root).items():
        about = kind(key)
        if about == "error_messages":
            stated = list(_message(part.entry))
        elif about in KINDS:
            name, read = KINDS[about]
            stated = [(name, text) for text in read(part.entry)]
        else:
            name = "FAQ answers" if about == "faq" else "pages"
            stated = [(name, text) for text in prose(part.text) if key not in NO_STATEMENTS]
        for name, text in stated:
            found.setdefault(name, []).append((key, text))
    return found


def draw(found: dict[str, list[tuple[str, str]]], number: int, seed: int) -> dict[str, list[tuple[str, str]]]:
    """Return `number` of the statements, of each kind equally many, or all where there are fewer."""
    chosen = {}
    for place, name in enumerate(sorted(found, key=lambda name: (len(found[name]), name))):
        share = min(len(found[name]), number // (len(found) - place))  # what small kinds lack, others give
        number -= share
        chosen[name] = random.Random(f"{seed} {name}").sample(found[name], share)
    return {name: sorted(chosen[name]) for name in sorted(chosen)}


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="draw_statements.py", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--number", type=int, default=200)
    options = parser.parse_args(arguments)
    found = statements(root)
    drawn = draw(found, options.number, options.seed)
    lines = (f"{place} | {text}" for chosen in drawn.values() for place, text in chosen)
    print("\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)))
    print("\n" + "\n".join(f"{name}: {len(drawn[name])} of {len(found[name])}" for name in drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
