"""The page of known wrong results, from docs/data/wrong_results.yaml: a card per case, below its topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mac_marks
from origins import DATA, load
from source_links import links

WORDS = {
    "en": {
        "open": "**open**",
        "closed": "closed",
        "fixed": "fixed in {}",
        "read": "read up to {}",
        "note": "; ",
        "between": ", ",
        "versions": "PyTorch: {}",
    },
    "zh": {
        "open": "**未解决**",
        "closed": "已关闭",
        "fixed": "{} 已修复",
        "read": "读到 {} 为止",
        "note": "；",
        "between": "、",
        "versions": "PyTorch：{}",
    },
}


def state(case: Mapping[str, Any], language: str) -> str:
    """Return whether a case is corrected, in which release, and what else is known of that."""
    words, known = WORDS[language], case["state"]
    parts = [words[known["is"]].format(known.get("in"))]
    parts += [known["note"][language]] if "note" in known else []
    parts += [words["read"].format(case["newest"])] if case["newest"] else []
    return words["note"].join(parts)


def card(case: Mapping[str, Any], language: str, seen: Iterable[str] = ()) -> str:
    """Return a case as an item of a list: what is wrong, then in small type releases, state and sources.

    `seen` says what reports from Macs found; other pages link to a case by the number of its first source.
    """
    words = WORDS[language]
    versions = case["versions"][language]
    facts = [words["versions"].format(versions)] if versions else []
    facts += [state(case, language), *seen, words["between"].join(links(case["sources"]))]
    number = case["sources"][0][1]
    return f'- {case["what"][language]}\n    <small id="report-{number}">{" · ".join(facts)}</small>'


def render(language: str) -> str:
    """Return all cases in `language` ("en" or "zh"), below headings of topics."""
    data, seen = load("wrong_results", DATA), mac_marks.wrong_results(language)
    parts = []
    for name, title in data["topics"].items():
        cases = [case for case in data["cases"] if case["topic"] == name]
        cards = [card(case, language, seen.get(case["sources"][0][1], ())) for case in cases]
        if cards:
            parts.append(f"## {title[language]} {{ #{name} }}")
            parts.append('<div class="wrong-results" markdown>\n\n' + "\n\n".join(cards) + "\n\n</div>")
    return "\n\n".join(parts) + "\n"


TABLES: dict[str, Callable[[str], str]] = {"wrong-results": render}
