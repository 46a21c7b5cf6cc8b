"""What reports from Macs found of code blocks, operators, claims, error messages and known wrong results.

Their pages show it beside them. Without a report, every function here returns nothing. Nothing is averaged
over Macs.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import mac_reports as macs

from tools.checks.mac_steps import STOPPED

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "verify_mac.py"
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "seen": "seen on {}: {}",
        "right": "right",
        "wrong": "**wrong**",
        "ran": "ran on {}",
        "failed": "failed on {}",
        "operator": "on {}: expected {}, found {}",
        "operators": "[Reports from Macs](../project/verified-on.md) agree with this page in {as_said} "
        "checks of operators and differ in {differ}. What differs is marked at the operator.",
        "claim": "**On {}, the check finds something else:** {}",
        "holds": "The check holds on {}.",
        "comma": ", ",
        "message": "**On {}, the text was:** {}",
        "stopped": "**On {}, the code that provokes it did not come to its end:** {}",
    },
    "zh": {
        "seen": "在 {} 上：{}",
        "right": "正确",
        "wrong": "**错误**",
        "ran": "已在 {}上运行",
        "failed": "在 {}上失败",
        "operator": "在 {} 上：预期 {}，实际 {}",
        "operators": "[来自 Mac 的报告](../project/verified-on.md)检查了算子，有 {as_said} 项与本页一致，"
        "{differ} 项不一致。不一致的算子旁边有标注。",
        "claim": "**在 {} 上，核对结果不同：**{}",
        "holds": "在 {} 上核对，结果成立。",
        "comma": "、",
        "message": "**在 {} 上，报错是：**{}",
        "stopped": "**在 {} 上，触发这个报错的代码没有运行完：**{}",
    },
}
Badge = tuple[str, str]  # its style, and its text in HTML


def wrong_results(language: str) -> Mapping[int, list[str]]:
    """Return for each number of a known wrong result what was seen of it, and on which Mac."""
    words, found = WORDS[language], defaultdict(list)
    for report in macs.reports():
        for check in checks(report, "wrong results"):
            what = (
                words[check["found"]] if check["found"] in ("right", "wrong") else macs.code(check["found"])
            )
            mark = words["seen"].format(macs.place(report, language), what)
            found[int(check["name"].partition(" ")[0])].append(mark)
    return found


def checks(report: macs.Report, group: str) -> list[Mapping[str, Any]]:
    """Return the checks of a group."""
    return [check for check in report["checks"] if check["group"] == group]


def blocks() -> Mapping[str, list[tuple[macs.Report, macs.Step]]]:
    """Return where each recipe and each block was run, by the include that shows it, or a recipe's file."""
    found = defaultdict(list)
    for report, step in macs.tried("recipe", "block"):
        found[step["name"]].append((report, step))
    return found


def badges(runs: Iterable[tuple[macs.Report, macs.Step]], digest: str, language: str) -> list[Badge]:
    """Return on which Macs a block ran or failed; leave out code with another hash than `digest`."""
    words, found = WORDS[language], []
    same = [(report, step) for report, step in runs if step.get("figures", {}).get("code", digest) == digest]
    ran = [report for report, step in same if step["outcome"] == "ran"]
    failed = [report for report, step in same if macs.differs(step)]
    if ran:
        found.append(("mac", words["ran"].format(macs.named(ran, language))))
    if failed:
        found.append(("mac-failed", words["failed"].format(macs.named(failed, language, differ=True))))
    return found


@cache
def operator_of() -> dict[str, str]:
    """Return the operator that each call of examples/verify_mac.py checks, without importing PyTorch."""
    tree = ast.parse(PROGRAM.read_text(encoding="utf-8"))
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) > 2]
    made = [node for node in made if getattr(node.func, "id", "") == "Operator"]
    return {ast.literal_eval(node.args[1]): ast.literal_eval(node.args[0]) for node in made}


def operators(language: str) -> Mapping[str, str]:
    """Return for each operator what differed from the tables, and on which Mac, in HTML."""
    found: dict[str, str] = defaultdict(str)
    for report in macs.reports():
        for check in checks(report, "operators"):
            if check["agrees"] is False and (name := operator_of().get(check["name"])):
                pair = [check["expected"], check["found"]]
                if pair[0] == pair[1]:
                    pair = [check["expected_text"], check.get("text", "")]
                where = macs.differences_of(report, macs.place(report, language, brief=True))
                values = (f"<code>{escape(value, quote=False)}</code>" for value in pair)
                found[name] += f"<small>{WORDS[language]['operator'].format(where, *values)}</small>"
    return {name: f'<div class="mac-mark">{text}</div>' for name, text in found.items()}


def operators_counted(language: str) -> str:
    """Return a sentence: in how many checks of operators Macs agree with the tables."""
    found = [report["counts"]["operators"] for report in macs.reports()]
    if not found:
        return ""
    agree, differ = (sum(count[key] for count in found) for key in ("as said", "differ"))
    return WORDS[language]["operators"].format(as_said=agree, differ=differ)


def claims(language: str) -> Mapping[str, tuple[list[str], str]]:
    """Return for each claim the Macs on which its check finds something else, and those where it holds."""
    words, holds, differ = WORDS[language], defaultdict(list), defaultdict(list)
    for report, step in macs.tried("claim"):
        if macs.differs(step):
            values = macs.said_and_found(step, language)
            mark = words["claim"].format(macs.place(report, language, brief=True), values)
            differ[step["name"]].append(mark)
        elif step["outcome"] == "holds":
            holds[step["name"]].append(macs.chip(report, language))
    # Chips alone: the page has a hundred of these lines and little room.
    lines = {
        name: words["holds"].format(words["comma"].join(dict.fromkeys(on))) for name, on in holds.items()
    }
    return {name: (differ.get(name, []), lines.get(name, "")) for name in holds.keys() | differ.keys()}


def messages(language: str) -> Mapping[str, list[tuple[str, str]]]:
    """Return for each error message the other texts that Macs printed, and a line for each."""
    found = defaultdict(list)
    for report, step in macs.tried("message"):
        if macs.differs(step):
            stopped = step["outcome"] in STOPPED
            text = step["outcome"] if stopped else step.get("found", "") or step["outcome"]
            where = macs.place(report, language, brief=True)
            line = WORDS[language]["stopped" if stopped else "message"]
            found[step["name"]].append((text, line.format(where, macs.code(text))))
    return found
