"""The page of reports from Macs, from docs/data/macs/, and what they found of each known wrong result.

tools/checks/macs.py explains the files; one that is not taken in ends the build.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from error_messages import code_span
from origins import DATA, load
from origins import WORDS as ORIGINS
from table_language import TableError

from tools.checks.macs import GROUPS, MACS, SIMULATED, read_macs

FOLDER = MACS
WITH_SIMULATED = False  # tests set it, with a folder of their own
COMPARED = GROUPS[:3]
VERIFY = "../start/verify-your-mac.md"
PAGES = {"operators": "../reference/operators.md", "wrong results": "../reference/wrong-results.md"}
WORDS: dict[str, Any] = {
    "en": {
        "none": "No report from a Mac is in the handbook yet. If you have a Mac, "
        "[verify the handbook on it](../start/verify-your-mac.md) and send the report.",
        "some": "Readers [verified the handbook](../start/verify-your-mac.md) on these Macs. Each row is one "
        "report as it was sent, so it counts what the handbook said on that day. Agreement does not prove "
        "that your training is right.",
        "head": "| Chip | GPU cores | Memory, GB | macOS | PyTorch | As said | Differ | Date |",
        "differ": "## What differs { #differ }\n\nEach line is a check, and links to the page that it tries.",
        "no_difference": "Nothing differs.",
        "line": "{}: expected {}, found {}",
        "speed": "## How fast { #speed }\n\nTFLOP/s: the median of 10 runs on one Mac, with the lowest and "
        "the highest, and below it the work of a run. Compare only cells with equal work.",
        "speed_head": ("Mac", "Power"),
        "rate": "{median:.3g} ({lowest:.3g} to {highest:.3g})<br>{gflop:g} GFLOP",
        "place": "{chip}, macOS {macos}, PyTorch {torch}",
        "simulated": " (simulated)",
        "seen": "seen on {}: {}",
        "right": "right",
        "wrong": "**wrong**",
    },
    "zh": {
        "none": "手册里还没有来自 Mac 的报告。如果你有 Mac，"
        "请[在你的 Mac 上验证本手册](../start/verify-your-mac.md)，并把报告发给我们。",
        "some": "读者在下面这些 Mac 上[验证过本手册](../start/verify-your-mac.md)。每一行是一份报告，"
        "内容与收到时相同，所以统计的是手册当天的说法。结果一致不能证明你的训练没有问题。",
        "head": "| 芯片 | GPU 核数 | 内存，GB | macOS | PyTorch | 一致 | 不一致 | 日期 |",
        "differ": "## 哪些不一致 { #differ }\n\n每一行是一项检查，并链接到它所检验的页面。",
        "no_difference": "没有不一致的结果。",
        "line": "{}：预期 {}，实际 {}",
        "speed": "## 速度 { #speed }\n\n单位是 TFLOP/s，数字是一台 Mac 上 10 次运行的中位数，"
        "括号里是最低值和最高值，下面一行是一次运行的计算量。请只比较计算量相同的格子。",
        "speed_head": ("Mac", "供电"),
        "rate": "{median:.3g}（{lowest:.3g} 到 {highest:.3g}）<br>{gflop:g} GFLOP",
        "place": "{chip}，macOS {macos}，PyTorch {torch}",
        "simulated": "（模拟）",
        "seen": "在 {} 上：{}",
        "right": "正确",
        "wrong": "**错误**",
    },
}
Report = Mapping[str, Any]


def reports() -> list[dict[str, Any]]:
    """Return the reports. Raises TableError with a line for each file that is not taken in."""
    try:
        return read_macs(FOLDER, WITH_SIMULATED)
    except ValueError as error:
        raise TableError(str(error)) from None


def chip(report: Report, language: str) -> str:
    """Return the chip, "M3 Pro"; one of the simulated device is marked."""
    about = report["machine"]
    mark = WORDS[language]["simulated"] if about["gpu"] == SIMULATED else ""
    return about["chip"].removeprefix("Apple ") + mark


def place(report: Report, language: str) -> str:
    """Return the machine and the versions in words."""
    about = report["machine"] | {"chip": chip(report, language)}
    return WORDS[language]["place"].format(**about)


def code(*texts: str) -> str:
    """Return what a report holds as inline code in one line."""
    text = "".join(one if one.isprintable() else " " for one in ": ".join(filter(None, texts)))
    return code_span(" ".join(text.split()))


def row(report: Report, language: str) -> str:
    """Return a report as a row: where it was made, and how many checks found what the handbook says."""
    about, groups = report["machine"], [report["counts"][group] for group in COMPARED]
    said, differ = (sum(group[key] for group in groups) for key in ("as said", "differ"))
    cells = [chip(report, language), about["gpu_cores"] or "–", f"{about['memory_gb']:g}"]
    cells += [about["macos"], about["torch"], said, differ, report["date"]]
    return f"| {' | '.join(map(str, cells))} |"


def page_of(check: Mapping[str, Any]) -> str:
    """Return the page that a check tries, of a known wrong result its entry."""
    if check["group"] == "device":
        return f"../guides/{'device' if check['name'] == 'torch.accelerator' else 'precision'}.md"
    number = check["name"].partition(" ")[0]
    known = {str(case["sources"][0][1]) for case in load("wrong_results", DATA)["cases"]}
    return PAGES.get(check["group"], VERIFY) + (f"#report-{number}" if number in known else "")


def differences(report: Report, language: str) -> str:
    """Return each check that found something else, below the name of the machine."""
    lines = [
        WORDS[language]["line"].format(
            f"[{code(check['name'])}]({page_of(check)})",
            code(check["expected"], check["expected_text"]),
            code(check["found"], check.get("text", "")),
        )
        for check in report["checks"]
        if check["agrees"] is False
    ]
    items = [f"- {line}" for line in lines] or [WORDS[language]["no_difference"]]
    return f"**{place(report, language)}**\n\n" + "\n".join(items)


def speeds(found: list[dict[str, Any]], language: str) -> list[str]:
    """Return a table with a row for each report; nothing is averaged."""
    words, rows = WORDS[language], []
    kinds = list(dict.fromkeys(one["name"] for report in found for one in measured(report)))
    for report in found:
        power = report["machine"]["power"]
        figures = {one["name"]: words["rate"].format(**one["figures"]) for one in measured(report)}
        cells = [place(report, language), ORIGINS[language]["power"].get(power, code(power))]
        rows.append([*cells, *(figures.get(kind, "–") for kind in kinds)])
    lines = [[*words["speed_head"], *map(code, kinds)], ["---"] * (2 + len(kinds)), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def measured(report: Report) -> list[dict[str, Any]]:
    """Return the checks of speed that have figures."""
    return [one for one in report["checks"] if one["group"] == "speed" and one["found"] == "measured"]


def render(language: str) -> str:
    """Return the content of the page in `language` ("en" or "zh")."""
    words, found = WORDS[language], reports()
    if not found:
        return words["none"]
    table = [words["head"], "|---|---:|---:|---|---|---:|---:|---|"]
    parts = [words["some"], "\n".join(table + [row(report, language) for report in found]), words["differ"]]
    parts += [differences(report, language) for report in found]
    return "\n\n".join([*parts, words["speed"], "\n".join(speeds(found, language))]) + "\n"


def seen(language: str) -> Mapping[int, list[str]]:
    """Return for each number of a known wrong result what was seen of it, and on which Mac."""
    words, found = WORDS[language], defaultdict(list)
    for report in reports():
        for check in report["checks"]:
            if check["group"] == "wrong results":
                what = words[check["found"]] if check["found"] in ("right", "wrong") else code(check["found"])
                mark = words["seen"].format(place(report, language), what)
                found[int(check["name"].partition(" ")[0])].append(mark)
    return found


TABLES: dict[str, Callable[[str], str]] = {"verified-on": render}
