"""The page of reports from Macs: each report, what differs in it, how much was tried, and speeds.

docs/hooks/mac_reports.py reads the reports, docs/hooks/mac_marks.py shows them on other pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mac_speeds
from mac_reports import (
    Report,
    Step,
    anchor,
    chip,
    code,
    differs,
    place,
    release,
    reports,
    said,
    said_and_found,
    steps,
    table,
    written,
)
from rendering import MISSING
from step_pages import VERIFY, of_check, of_step

from tools.checks.mac_steps import NOT_TRIED, verdict
from tools.checks.macs import GROUPS
from tools.versions import number

COMPARED = GROUPS[:3]
KINDS = (("recipe", "block"), ("claim",), ("message",), ("system",))  # of steps, a column each
WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "none": "No report from a Mac is in the handbook yet. If you have a Mac, "
        "[verify the handbook on it](../start/verify-your-mac.md) and send the report.",
        "some": "Readers [verified the handbook](../start/verify-your-mac.md) on these Macs. Each row is one "
        "report as it was sent, so it counts what the handbook said on that day. Agreement does not prove "
        "that your training is right.",
        "head": ("Chip", "GPU cores", "Memory, GB", "macOS", "PyTorch", "As said", "Differ", "Date"),
        "places": "## Which Macs are missing { #missing }\n\nThe cells count the points that agree with the "
        "handbook, of all that were compared. Where there is no report, yours would be the first.",
        "places_head": "Chip",
        "column": "macOS {}, PyTorch {}",
        "of": "{} of {}",
        "other": "another chip",
        "invite": "verify yours",
        "differ": "## What differs { #differ }\n\nEach line is a check or a step, and links to what it "
        "tries.",
        "no_difference": "Nothing differs.",
        "line": "{}: {}",
        "tried": "## What was tried { #tried }\n\n`make verify-mac` also runs code, claims and trainings of "
        "the handbook. The cells count those that went as the handbook says, of those that were tried.",
        "tried_head": ("Mac", "Commit", "Code", "Claims", "Error messages", "Systems", "Not tried"),
        "stopped": "{}; not complete",
        "systems": "**Systems as said**",
        "system": "{} on {}",
        "comma": ", ",
    },
    "zh": {
        "none": "手册里还没有来自 Mac 的报告。如果你有 Mac，"
        "请[在你的 Mac 上验证本手册](../start/verify-your-mac.md)，并把报告发给我们。",
        "some": "读者在下面这些 Mac 上[验证过本手册](../start/verify-your-mac.md)。每一行是一份报告，"
        "内容与收到时相同，所以统计的是手册当天的说法。结果一致不能证明你的训练没有问题。",
        "head": ("芯片", "GPU 核数", "内存，GB", "macOS", "PyTorch", "一致", "不一致", "日期"),
        "places": "## 还缺哪些 Mac { #missing }\n\n数字是与手册一致的项数和比较过的总项数。"
        "还没有报告的格子，等你来填。",
        "places_head": "芯片",
        "column": "macOS {}，PyTorch {}",
        "of": "{} / {}",
        "other": "其他芯片",
        "invite": "验证你的 Mac",
        "differ": "## 哪些不一致 { #differ }\n\n每一行是一项检查或一个步骤，并链接到它所检验的内容。",
        "no_difference": "没有不一致的结果。",
        "line": "{}：{}",
        "tried": "## 试过哪些内容 { #tried }\n\n`make verify-mac` 还会运行手册里的代码、说法的核对和训练。"
        "每格是与手册一致的项数和试过的总项数。",
        "tried_head": ("Mac", "提交", "代码", "说法", "报错信息", "系统", "没有试"),
        "stopped": "{}；没有试完",
        "systems": "**与手册一致的系统**",
        "system": "{}，{}",
        "comma": "，",
    },
}


def agreed(report: Report) -> tuple[int, int]:
    """Return how many checks and steps found what the handbook says, and how many did not."""
    groups = [report["counts"][group] for group in COMPARED]
    verdicts = [verdict(dict(step)) for step in steps(report)]
    said, differ = (sum(group[key] for group in groups) for key in ("as said", "differ"))
    return said + verdicts.count(True), differ + verdicts.count(False)


def row(report: Report, language: str) -> list[Any]:
    """Return a report as a row: where it was made, and how much in it is as the handbook says."""
    about = report["machine"]
    cells = [chip(report, language), about["gpu_cores"] or MISSING, f"{about['memory_gb']:g}"]
    return [*cells, about["macos"], about["torch"], *agreed(report), report["date"]]


def places(found: Sequence[Report], language: str) -> str:
    """Return which chips were tried with which macOS and PyTorch; an empty cell invites."""
    words = WORDS[language]
    cells: dict[tuple[str, tuple[str, str]], list[str]] = {}
    for report in found:
        said, differ = agreed(report)
        text = f"[{words['of'].format(said, said + differ)}](#{anchor(report)})"
        cells.setdefault((chip(report, language), versions(report)), []).append(text)
    chips = dict.fromkeys(name for name, _ in cells)
    columns = sorted({pair for _, pair in cells}, key=lambda pair: [number(part) for part in pair])
    empty = f"[{words['invite']}]({VERIFY})"
    rows = [[name, *("<br>".join(cells.get((name, pair), [empty])) for pair in columns)] for name in chips]
    head = [words["places_head"], *(words["column"].format(*pair) for pair in columns)]
    return table(head, [*rows, [words["other"], *(empty for _ in columns)]])


def versions(report: Report) -> tuple[str, str]:
    """Return the first number of macOS, and PyTorch without its patch."""
    return report["machine"]["macos"].partition(".")[0], release(report)


def differences(report: Report, language: str) -> str:
    """Return each check and each step that found something else, below the name of the machine."""
    words = WORDS[language]
    lines = [
        words["line"].format(
            f"[{code(check['name'])}]({of_check(check)})",
            said(
                code(check["expected"], check["expected_text"]),
                code(check["found"], check.get("text", "")),
                language,
            ),
        )
        for check in report["checks"]
        if check["agrees"] is False
    ]
    lines += [
        words["line"].format(linked(step, language), said_and_found(step, language))
        for step in steps(report)
        if differs(step)
    ]
    items = [f"- {line}" for line in lines] or [words["no_difference"]]
    return f"### {place(report, language)} {{ #{anchor(report)} }}\n\n" + "\n".join(items)


def linked(step: Step, language: str) -> str:
    """Return the name of a step as a link to what it tries."""
    return f"[{code(step['name'])}]({of_step(step, language)})"


def tried(found: Iterable[Report], language: str) -> list[str]:
    """Return how much of the handbook each Mac tried, and the figures of the systems that are as said."""
    words, rows, systems = WORDS[language], [], []
    for report in found:
        own = [step for step in steps(report) if step["outcome"] != NOT_TRIED]
        counts = []
        for kinds in KINDS:
            those = [verdict(dict(step)) for step in own if step["kind"] in kinds]
            counts.append(words["of"].format(those.count(True), len(those)) if those else MISSING)
        where, handbook = place(report, language), report["handbook"]
        name = where if handbook["complete"] else words["stopped"].format(where)
        rows.append([name, code(handbook["commit"] or MISSING), *counts, len(steps(report)) - len(own)])
        for step in own:
            if step["kind"] == "system" and not differs(step):
                systems.append(f"- {system_line(step, where, language)}")
    parts = [words["tried"], table(words["tried_head"], rows, range(2, 7))]
    return [*parts, words["systems"], "\n".join(systems)] if systems else parts


def system_line(step: Step, where: str, language: str) -> str:
    """Return what a system was tried for, on which Mac, and the figures that were found."""
    words = WORDS[language]
    line = words["system"].format(linked(step, language), where)
    figures = [code(key, written(value)) for key, value in step.get("figures", {}).items()]
    return words["line"].format(line, words["comma"].join(figures)) if figures else line


def render(language: str) -> str:
    """Return the content of the page in `language` ("en" or "zh")."""
    words, found = WORDS[language], reports()
    if not found:
        return words["none"]
    parts = [words["some"], table(words["head"], (row(report, language) for report in found), (1, 2, 5, 6))]
    parts += [words["places"], places(found, language), words["differ"]]
    parts += [differences(report, language) for report in found]
    if whole := [report for report in found if steps(report)]:
        parts += tried(whole, language)
    parts.append(mac_speeds.section(found, language))
    return "\n\n".join(parts) + "\n"


TABLES: dict[str, Callable[[str], str]] = {"verified-on": render}
