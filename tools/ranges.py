"""In which releases of PyTorch a text or a variable is, from docs/data/ranges.json.

tools/measuring/releases.py reads the macOS wheels and writes that file. It has a mark per release, the oldest
first: "x" says that the wheel has it, "." that it does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, reduce
from typing import Any

from tools.read_yaml import read_yaml
from tools.versions import DATA

MESSAGES = DATA / "error_messages"
TABLES_FROM = "2.9"  # the oldest release of the operator tables on pages and of the simulated device
CLASS = re.compile(r"[\w.]+(?:Error|Warning|Exception): ")  # what Python writes before a message
FILLED_IN = re.compile(r"\{[^}]*\}|%[sd]")  # in a literal of Python
TO = {"en": " to ", "zh": " 到 "}
JOINT = {"en": ", ", "zh": "、"}


@cache
def read() -> dict[str, Any]:
    """Return the data."""
    return json.loads((DATA / "ranges.json").read_text(encoding="utf-8"))


@cache
def not_in_wheels() -> dict[str, str]:
    """Return the messages that no wheel of PyTorch can date, with the reason."""
    groups = read_yaml(DATA / "not_in_wheels.yaml")
    return {ident: group["reason"] for group in groups for ident in group["ids"]}


def stands_for(literal: str, text: str) -> bool:
    """Say whether a literal, with whatever is filled in, is a part of a message as it is printed.

    One with a line break at its end is the end of the message.
    """
    parts = (re.escape(part.strip()) for part in FILLED_IN.split(literal))
    end = "$" if literal.endswith("\n") else ""
    return re.search(".*".join(parts) + end, text) is not None


def literals(text: str, search: Iterable[str] = ()) -> list[str]:
    """Return what a wheel with this message contains: those of `search` that fit, or else the message."""
    return [literal for literal in search if stands_for(literal, text)] or [CLASS.sub("", text, count=1)]


def texts(message: Mapping[str, Any]) -> list[str]:
    """Return all wordings of a message."""
    return [message["text"], *message.get("variants", [])]


def marks(message: Mapping[str, Any]) -> list[str]:
    """Return the marks of each wording; "" where no wheel has it or none was read for it."""
    if message["id"] in not_in_wheels():
        return ["" for _ in texts(message)]
    known = read()["texts"]
    found = []
    for text in texts(message):
        each = [known.get(literal, "") for literal in literals(text, message.get("search", ()))]
        every = reduce(lambda one, other: "".join(map(min, one, other)), each)  # "." sorts before "x"
        found.append(every if "x" in every else "")
    return found


def words(found: str, language: str) -> str:
    """Return marks as a range: "PyTorch 1.13 to 2.15", with gaps "PyTorch 1.12, 2.0 to 2.6"."""
    releases = list(read()["wheels"])
    parts = []
    for run in re.finditer("x+", found):
        first, last = releases[run.start()], releases[run.end() - 1]
        parts.append(first if first == last else f"{first}{TO[language]}{last}")
    return f"PyTorch {JOINT[language].join(parts)}" if parts else ""


def since(variable: Mapping[str, Any], language: str) -> str | None:
    """Return the first release with an environment variable; the range if a later one lacks it, or None."""
    found = "" if "since" in variable else read()["variables"].get(variable["name"], "")
    first = found.find("x")
    whole = first >= 0 and "." not in found[first:]
    return words("." * first + "x" if whole else found, language) or None
