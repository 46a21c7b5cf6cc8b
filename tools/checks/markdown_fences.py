"""The fenced blocks of a Markdown page, as the site's renderer reads them.

A fence may be indented or quoted, but nothing else stands before it: after the mark of a list item (`- ```)
the renderer sees no fence. It ends at a line with exactly the marks that began it, neither fewer nor more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<prefix>[ \t>]*)(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)$")
_INCLUDE = re.compile(r'--8<-- "(?P<place>[^":]+(?::[a-z][a-z0-9_-]*)?)"')
_MARKER = re.compile(r"^[\s>]*;*-+8<-+")


@dataclass(frozen=True)
class Fence:
    """One fenced block of a page: `first` and `last` are the 1-based lines of its marks."""

    first: int
    last: int
    prefix: str  # what stands before the marks: the indentation inside tabs, lists and admonitions
    info: str  # what stands behind them: `python`, `py title="x"` or `{ .python title="x" }`
    body: tuple[str, ...]  # without the prefix

    @property
    def language(self) -> str:
        """The first word of the info string, in small letters."""
        word = re.match(r"\s*\{?\s*\.?([\w#+-]+)", self.info)
        return word[1].lower() if word else ""

    @property
    def include(self) -> str | None:
        """The included `path:section` or `path`, None where the body is anything but one include."""
        return read_include(self.text.strip())

    @property
    def text(self) -> str:
        """The body as one text."""
        return "\n".join(self.body).rstrip()


def find_fences(markdown: str) -> tuple[list[Fence], int | None]:
    """Find the fences of a page, and the line of one that is never closed (there can only be one)."""
    fences: list[Fence] = []
    opened: tuple[int, re.Match[str]] | None = None
    body: list[str] = []
    for number, line in enumerate(markdown.split("\n"), start=1):
        if opened is None:
            if match := _FENCE.match(line):
                opened, body = (number, match), []
            continue
        first, match = opened
        if line.strip(" \t>") == match["marks"]:
            fences.append(Fence(first, number, match["prefix"], match["info"].strip(), tuple(body)))
            opened = None
        else:
            body.append(line.removeprefix(match["prefix"]))
    return fences, opened[0] if opened else None


def read_include(line: str) -> str | None:
    """Return the `path:section` or `path` that a line includes, None where it is anything else."""
    found = _INCLUDE.fullmatch(line)
    return found["place"] if found else None


def is_include_marker(line: str) -> bool:
    """Whether a line begins like an include, `--8<--`: the renderer expands it in a fence and outside."""
    return _MARKER.match(line) is not None
