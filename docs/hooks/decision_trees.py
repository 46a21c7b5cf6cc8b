"""Decision trees as boxes and arrows, from docs/data/decision_trees.yaml: each box is a link.

A tree is a list in Markdown, so that MkDocs checks its links, and readable without its style sheet: a
question, the answer that leads to a cure, the answer that leads to the next question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from origins import DATA, load

END = "#no-branch"  # the section of each page that says what to do then
WORDS = {"en": {True: "Yes", False: "No"}, "zh": {True: "是", False: "否"}}


def step(check: Mapping[str, Any], language: str) -> list[str]:
    """Return a check: a link to its line on the page, the answer with its cure, the other answer."""
    words: Mapping[Any, str] = WORDS[language]
    answer, other = words[check["leads"]], words[not check["leads"]]
    cure = f"[{check['then'][language]}]({check['cure']}){{ .decision-cure }}"
    return [
        f"1. [{check['question'][language]}](#{check['id']}){{ .decision-question }}",
        f"    *{answer}*{{ .decision-answer }} {cure}",
        f"    *{other}*{{ .decision-next }}",
    ]


def render(tree: Mapping[str, Any], language: str) -> str:
    """Return a tree as Markdown."""
    parts = [line for check in tree["checks"] for line in step(check, language)]
    parts.append(f"1. [{tree['end'][language]}]({END}){{ .decision-cure .decision-end }}")
    return "\n\n".join(['<div class="decision-tree" markdown>', *parts, "</div>", ""])


TABLES: dict[str, Callable[[str], str]] = {
    f"tree-{tree['name']}": partial(render, tree) for tree in load("decision_trees", DATA)
}
