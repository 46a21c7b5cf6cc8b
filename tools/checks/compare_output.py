"""Compare what a command printed with what is recorded of it: exactly, or with measurements masked.

Masked are numbers, builds of PyTorch, durations, sizes, paths, hashes, curves drawn in characters and whether
a place of a report was met once or "N times" (a slow machine saves more often), nothing else: the two outputs
must have the same lines, with the same words, in the same order.
"""

from __future__ import annotations

import re
from itertools import groupby, zip_longest

_MASKS = (
    (re.compile(r"(?<=\d)\+(?:cpu|cu\d+)\b"), ""),  # builds of PyTorch
    (re.compile(r"\d{4}-\d\d-\d\d[_T ]\d\d[-:]\d\d[-:]\d\d"), "TIME"),  # names of run folders
    (re.compile(r"(?<![\w.])(?:~|\.{1,2})?/[\w./+@~-]+"), "PATH"),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"), "HASH"),
    (re.compile(r"(?<![A-Za-z_\d])[-+]?\d+(?:[.,:]\d+)*(?:e[-+]?\d+)?"), "N"),
    (re.compile(r"\bN (?:ms|s|min|h)\b(?: N (?:s|min)\b)?"), "N time"),
    (re.compile(r"\bN (?:k|M|G)i?B\b"), "N bytes"),
    (re.compile(r"(?<=:N), N times$"), ""),
    (re.compile(r"[\u2801-\u28ff]+(?:[ \t]+[\u2801-\u28ff]+)*"), "CURVE"),  # Braille patterns
    (re.compile("={3,}"), "==="),  # rules that pytest makes as long as what they enclose leaves room for
    (re.compile(r"[ \t]+"), " "),
)


def mask(line: str) -> str:
    """Return a line with its measurements masked and its columns one space apart."""
    for pattern, replacement in _MASKS:
        line = pattern.sub(replacement, line)
    return line.strip()


def compare(recorded: str, now: str, how: str) -> tuple[int, list[str]]:
    """Compare two outputs line by line, `how` is "exact" or "masked".

    Returns the number of lines compared, and what differs.
    """
    look = mask if how == "masked" else str
    pairs = list(zip_longest(recorded.splitlines(), now.splitlines()))
    differences = [
        f"line {number}: recorded {old!r}, printed {new!r}"
        for number, (old, new) in enumerate(pairs, start=1)
        if old is None or new is None or look(old) != look(new)
    ]
    return len(pairs), differences


def compared_part(entry: dict, text: str) -> str:
    """Return the lines of an output that are compared: all, or those up to the one with the words `until`.

    Where the tests run a shorter command, equal lines that follow one another, numbers masked, become one.
    Raises ValueError when no line has the words.
    """
    if "repeat" in entry:
        text = "\n".join(line for line, _ in groupby(map(mask, text.splitlines())))
    if "until" not in entry:
        return text
    lines = text.splitlines()
    last = next((number for number, line in enumerate(lines, start=1) if entry["until"] in line), None)
    if last is None:
        raise ValueError(f"{entry['name']}: no line of the output contains {entry['until']!r}")
    return "\n".join(lines[:last])
