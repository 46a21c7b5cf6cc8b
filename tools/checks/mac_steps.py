"""The key `handbook` of a report from a Mac: what `make verify-mac` tried of the handbook, step by step.

    commit    of the handbook, 12 hexadecimal digits, or "" where it is not known
    full      whether it was the long run
    complete  whether every planned step was tried
    seconds   that all took
    steps     each with kind, name, outcome and seconds; expected, found and why (of a step that was not
              tried) are texts in one line; figures are numbers and short texts

`figures.code` of a recipe or a block is the hash of the code that ran (tools/checks/sections.py). With
another hash than the page's code has now, the page has no badge of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from examples.systems import SYSTEMS
from tools.checks.claims import read_claims
from tools.checks.shapes import is_number, short
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = ROOT / "docs" / "data" / "error_messages"
OUTCOMES = {  # of each kind: as the handbook says, and not
    "recipe": ("ran", "failed"),
    "block": ("ran", "failed"),
    "claim": ("holds", "does not hold"),
    "message": ("as said", "differs"),
    "system": ("as said", "differs"),
    "benchmark": ("measured", "failed"),
}
NOT_TRIED = "not tried"
STOPPED = ("ended the process", "hung")
NAMES = {  # a later commit may have other files
    "recipe": r"snippets/recipes/\w+\.py",
    "block": r"snippets/(?:\w+/)*\w+\.\w+:[a-z][a-z0-9_-]*",
    "benchmark": r"(?:cpu|mps)(?:\+[a-z0-9_-]+)*",
}
RATES = ("lowest", "median", "highest")
TEXT, SHORT_TEXT = 500, 100  # characters
HOME = re.compile(r"/(?:Users|home)/\w")  # what follows is somebody's name
STEP: dict[str, Any] = {
    **dict.fromkeys(("kind", "name", "outcome"), str),
    "seconds": float,
    **dict.fromkeys(("expected?", "found?", "why?"), str),
    "figures?": dict,
}
HANDBOOK: dict[str, Any] = {
    "commit": str,
    **dict.fromkeys(("full", "complete"), bool),
    "seconds": float,
    "steps": [STEP],
}


def verdict(step: dict[str, Any]) -> bool | None:
    """Return whether a step found what the handbook says; None where it says nothing or was not tried."""
    if step["outcome"] in (NOT_TRIED, "measured"):
        return None
    return bool(step["outcome"] == OUTCOMES[step["kind"]][0])


@cache
def known_names(kind: str) -> frozenset[str]:
    """Return the ids of all claims, or of all error messages, or the names of all systems."""
    if kind == "claim":
        return frozenset(claim["id"] for claims in read_claims(ROOT).values() for claim in claims)
    if kind == "message":
        topics = map(read_yaml, sorted(MESSAGES.glob("*.yaml")))
        return frozenset(message["id"] for topic in topics for message in topic["messages"])
    return frozenset(system.name for system in SYSTEMS)


def wrong_name(kind: str, name: str) -> Iterator[str]:
    """Yield what is wrong with the name of a step."""
    if kind in NAMES:
        if not re.fullmatch(NAMES[kind], name, re.ASCII):
            yield f"{short(name)} is no name of a {kind}"
        return
    known, colon, what = name.partition(": ") if kind == "system" else (name, "", "")
    if known not in known_names(kind) or bool(colon) != bool(what) or not is_line(name, SHORT_TEXT):
        yield f"there is no {kind} {short(known)}"


def is_line(text: Any, most: int) -> bool:
    """Say whether a value is a text of one line, without characters that nobody sees and paths of homes."""
    return isinstance(text, str) and len(text) <= most and text.isprintable() and not HOME.search(text)


def wrong_figures(figures: dict[str, Any], measured: bool) -> Iterator[str]:
    """Yield what is wrong with the figures of a step."""
    for key, value in figures.items():
        if not is_line(key, SHORT_TEXT) or not (is_number(value) or is_line(value, SHORT_TEXT)):
            yield f"the figure {short(key)} is {short(value)}, no number and no short text"
    rates: list[Any] = [figures.get(key) for key in RATES]
    numbers = [rate for rate in rates if is_number(rate) and rate > 0]
    unit = re.fullmatch(r"\w+/s", str(figures.get("unit")), re.ASCII)
    if measured and (len(numbers) < 3 or numbers != sorted(numbers) or not unit):
        yield "its figures need a unit such as samples/s, and lowest, median and highest in this order"


def wrong_step(step: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a step; only the first is certain."""
    kind, outcome = step["kind"], step["outcome"]
    if kind not in OUTCOMES:
        yield f"there is no kind {short(kind)}"
    if outcome not in (*OUTCOMES[kind], NOT_TRIED, *STOPPED):
        yield f"{short(outcome)} is no outcome of a {kind}"
    yield from wrong_name(kind, step["name"])
    for key in ("expected", "found", "why"):
        if not is_line(step.get(key, ""), TEXT):
            yield f"{key} is not one line of at most {TEXT} characters without a path: {short(step[key])}"
    if "why" in step and outcome != NOT_TRIED:
        yield f"only what was not tried says why, and this {outcome}"
    if step["seconds"] < 0:
        yield f"it took {step['seconds']} seconds"
    yield from wrong_figures(step.get("figures", {}), outcome == "measured")


def wrong_steps(handbook: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the key `handbook`, which has its shape."""
    if not re.fullmatch(r"[0-9a-f]{12}|", handbook["commit"]):
        yield f"the handbook has no commit {short(handbook['commit'])}"
    for place, step in enumerate(handbook["steps"], start=1):
        yield from (f"step {place}: {fault}" for fault in wrong_step(step))
    names = Counter((step["kind"], step["name"]) for step in handbook["steps"])
    if twice := [name for name, times in names.items() if times > 1]:
        yield f"the {twice[0][0]} {short(twice[0][1])} is there twice"
