"""Where the handbook treats what a report from a Mac tried: addresses as seen from project/verified-on.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from error_messages import PAGES, places
from origins import DATA, load

from tools.checks.markdown_fences import find_fences

DOCS = Path(__file__).resolve().parents[1]
VERIFY = "../start/verify-your-mac.md"
_ANCHOR = re.compile(r"^#+ .*\{ #([\w-]+)")


def of_check(check: Mapping[str, Any]) -> str:
    """Return the page that a check of verify_mac.py tries, of a known wrong result its entry."""
    if check["group"] == "device":
        return f"../guides/{'device' if check['name'] == 'torch.accelerator' else 'precision'}.md"
    if check["group"] == "operators":
        return "../reference/operators.md"
    if check["group"] != "wrong results":
        return VERIFY
    number = check["name"].partition(" ")[0]
    known = {str(case["sources"][0][1]) for case in load("wrong_results", DATA)["cases"]}
    return "../reference/wrong-results.md" + (f"#report-{number}" if number in known else "")


def of_step(step: Mapping[str, Any], language: str) -> str:
    """Return the page that holds a recipe, a block, a claim, a message, a system or the benchmark."""
    kind, name = step["kind"], step["name"]
    if kind == "claim":
        return f"../facts/claims.md#{name}"
    if kind == "message":
        return f"../{PAGES}{places()[name]}.md#{name}"
    if kind == "system":
        return f"../examples/{name.partition(':')[0].replace('_', '-')}/index.md"
    if kind == "benchmark":
        return "../guides/benchmarking.md"
    shown = blocks(language)
    found = shown.get(name) or next((page for key, page in shown.items() if key.startswith(f"{name}:")), "")
    return found or VERIFY


@cache
def blocks(language: str) -> Mapping[str, str]:
    """Return for each include the section of the first page that shows it."""
    found: dict[str, str] = {}
    for path in sorted((DOCS / language).rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        lines, page = text.split("\n"), f"../{path.relative_to(DOCS / language).as_posix()}"
        for fence in find_fences(text)[0]:
            anchors = [match[1] for line in lines[: fence.first] if (match := _ANCHOR.match(line))]
            if fence.include:
                found.setdefault(fence.include, page + (f"#{anchors[-1]}" if anchors else ""))
    return found
