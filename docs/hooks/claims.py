"""The page of checked claims, from docs/data/claims/: counts by verdict, a filter, and a block per claim.

tools/checks/claims.py explains the entries; what is wrong with one ends the build. A block has no heading,
but a permanent link, whose name is also what `python examples/check_claims.py NAME` takes. Without scripts
(docs/assets/javascripts/claim-filter.js) there is no filter, and all is shown.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import mac_marks
from origins import DATA, load
from rendering import TableError, code_span
from source_links import thread

from tools.checks.claims import PAGE, TOPICS, VERDICTS, in_language, read_claims

ROOT = Path(__file__).resolve().parents[2]
WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "holds": ("holds", "It is right as it is said."),
        "conditions": ("holds with conditions", "It is right in some versions or cases, which are named."),
        "depends": ("depends on the machine", "Chip, model or version decide it, so measure."),
        "outdated": ("out of date", "It was right for an older release."),
        "unsupported": ("unsupported", "We found no measurement and no source that supports it."),
        "wrong": ("not accurate", "PyTorch, its documentation or a run contradicts it."),
        "head": "| Verdict | What it means | Claims |",
        "folded": "Evidence and check",
        "read": "Read: {}",
        "ran": "Run {}",
        "between": "; ",
        "stop": ".",
        "test": "Check: a test of this project",
        "command": "Check: {} must print what matches {}",
        "mac": "Check on a Mac: {} must print what matches {}",
        "none": "No check: {}",
        "more": "More: {}",
        "after": " ",
        "cases": "{} ({})",
        "label": "Words of the claim",
        "topic": "Topic",
        "verdict": "Verdict",
        "all": "all",
        "found": "{found} of {total} claims",
        "reset": "Show all",
    },
    "zh": {
        "holds": ("成立", "照原话就是对的。"),
        "conditions": ("有条件成立", "只在部分版本或情况下是对的，条件已经写明。"),
        "depends": ("取决于机器", "结果由芯片、模型或版本决定，需要实测。"),
        "outdated": ("已过时", "对更早的版本是对的。"),
        "unsupported": ("依据不足", "没有找到支持这个说法的实测或来源。"),
        "wrong": ("不准确", "与 PyTorch 的代码、文档或运行结果不符。"),
        "head": "| 判定 | 含义 | 条数 |",
        "folded": "依据与核对方法",
        "read": "查阅：{}",
        "ran": "运行：{}",
        "between": "；",
        "stop": "。",
        "test": "核对：本项目的测试",
        "command": "核对：运行 {}，输出应当匹配 {}",
        "mac": "在 Mac 上核对：运行 {}，输出应当匹配 {}",
        "none": "没有核对方法：{}",
        "more": "详见：{}",
        "after": "",
        "cases": "{}（{}）",
        "label": "说法里的词",
        "topic": "主题",
        "verdict": "判定",
        "all": "全部",
        "found": "{total} 条说法中的 {found} 条",
        "reset": "显示全部",
    },
}
FILTER = """\
<form class="claim-filter" data-claim-filter data-found="{found}" hidden>
<label>{label}<input type="search" name="q" autocomplete="off" spellcheck="false"></label>
<label>{topic}<select name="topic">{topics}</select></label>
<label>{verdict}<select name="verdict">{verdicts}</select></label>
<button type="reset">{reset}</button>
<p role="status"></p>
</form>
"""
_HEADING = re.compile(r"^#+ (.*?) \{ #([\w-]+)", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def claims() -> dict[str, list[dict[str, Any]]]:
    """Return the claims by topic. Raises TableError with every fault of the entries."""
    try:
        return read_claims(ROOT)
    except ValueError as error:
        raise TableError(str(error)) from None


@cache
def headings(path: str, language: str) -> dict[str, str]:
    """Return the headings of a page by their anchors; that of the page itself also by ""."""
    text = (ROOT / "docs" / language / path).read_text(encoding="utf-8")
    found = {anchor: _LINK.sub(r"\1", title) for title, anchor in _HEADING.findall(text)}
    return {"": next(iter(found.values()))} | found


def page_link(page: str, language: str) -> str:
    """Return a link to the section that treats a claim, named by its heading."""
    path, _, anchor = page.partition("#")
    known = headings(path, language)
    address = posixpath.relpath(path, posixpath.dirname(PAGE)) + ("#" + anchor if anchor else "")
    return f"[{known.get(anchor, known[''])}]({address})"


def evidence(source: Mapping[str, Any], language: str) -> str:
    """Return what a truth stands on: a link, or what was read or run."""
    words = WORDS[language]
    for kind in ("issue", "pull"):
        if kind in source:
            found = source[kind]
            return thread((kind, *found) if isinstance(found, list) else (kind, found))
    if "url" in source:
        return f"[{in_language(source['name'], language)}]({source['url']})"
    kind = "read" if "read" in source else "ran"
    return words[kind].format(source[kind][language])


def check_line(check: Mapping[str, Any], language: str) -> str:
    """Return how a claim is checked, or why it is not."""
    words = WORDS[language]
    if "test" in check:
        return words["test"]  # whose name would be a tenth of the page; check_claims.py prints it
    if "none" in check:
        return words["none"].format(check["none"][language])
    form = words["mac" if check.get("mac") else "command"]
    return form.format(code_span(check["command"]), code_span(check["expect"]))


def block(claim: Mapping[str, Any], language: str, differ: Iterable[str] = (), holds: str = "") -> str:
    """Return a claim with its verdict, what is right, and below a fold evidence and check.

    `differ` and `holds` say on which Macs the check found something else, and where it holds.
    """
    words, ident, verdict = WORDS[language], claim["id"], claim["verdict"]
    facts = [f"[#{ident}](#{ident})"]
    if claim.get("versions"):
        facts.insert(0, in_language(claim["versions"], language))
    sources = words["between"].join(evidence(source, language) for source in claim["evidence"])
    lines = [sources.rstrip(".。") + words["stop"], check_line(claim["check"], language) + words["stop"]]
    lines += [holds] if holds else []
    return "\n\n".join(
        [
            f'<div class="claim" id="{ident}" data-verdict="{verdict}" markdown>',
            f"**{claim['claim'][language]}**\n<span>{words[verdict][0]}</span>",
            claim["truth"][language]
            + words["after"]
            + words["more"].format(page_link(claim["page"], language)),
            *differ,
            f"<small>{' · '.join(facts)}</small>",
            f"<details markdown><summary>{words['folded']}</summary>",
            words["after"].join(lines),
            "</details>",
            "</div>",
        ]
    )


def options(named: Mapping[str, str], language: str) -> str:
    """Return the entries of a list to choose from, below one for all."""
    pairs = {"": WORDS[language]["all"]} | dict(named)
    return "".join(f'<option value="{value}">{escape(text)}</option>' for value, text in pairs.items())


def filter_form(found: Mapping[str, list[dict[str, Any]]], language: str) -> str:
    """Return the fields that filter the claims; the script shows them."""
    words = WORDS[language]
    total = sum(map(len, found.values()))
    names = {
        "topics": options({topic: TOPICS[topic][language] for topic in found}, language),
        "verdicts": options({verdict: words[verdict][0] for verdict in VERDICTS}, language),
        "found": words["found"].replace("{total}", str(total)),
    }
    return FILTER.format(**{key: text for key, text in words.items() if isinstance(text, str)} | names)


def render(language: str) -> str:
    """Return the filter and all claims in `language` ("en" or "zh"), below headings of topics."""
    headings.cache_clear()  # pages change while `make serve` runs
    found, on_macs = claims(), mac_marks.claims(language)
    parts = [filter_form(found, language)]
    for topic, entries in found.items():
        parts.append(f'## {TOPICS[topic][language]} {{ #{topic} data-search-exclude="true" }}')
        parts += [block(claim, language, *on_macs.get(claim["id"], ())) for claim in entries]
    return "\n\n".join(parts) + "\n"


def counts(language: str) -> str:
    """Return a table of the verdicts: what each means, and how many claims have it."""
    words = WORDS[language]
    number = Counter(claim["verdict"] for entries in claims().values() for claim in entries)
    rows = [f"| **{words[each][0]}** | {words[each][1]} | {number[each]} |" for each in VERDICTS]
    total = {"en": "all", "zh": "合计"}[language]
    return "\n".join([words["head"], "|---|---|---:|", *rows, f"| {total} | | {number.total()} |", ""])


def wrong_results(language: str) -> str:
    """Return links to the known wrong results, topic by topic with their number."""
    data = load("wrong_results", DATA)
    number = Counter(case["topic"] for case in data["cases"])
    page, words = posixpath.relpath("reference/wrong-results.md", posixpath.dirname(PAGE)), WORDS[language]
    return "\n".join(
        f"- {words['cases'].format(f'[{title[language]}]({page}#{topic})', number[topic])}"
        for topic, title in data["topics"].items()
        if number[topic]
    )


TABLES: dict[str, Callable[[str], str]] = {
    "claims": render,
    "claims-counts": counts,
    "claims-wrong-results": wrong_results,
}
