"""The report: verify-mac.json, and a text in both languages that begins with what the handbook got wrong."""

import contextlib
import os
import platform
import pwd
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from examples import verify_mac
from examples.verifying.steps import DISAGREES, ENDED, HUNG, NOT_TRIED, OUT_OF_TIME, ROOT
from snippets.errors import one_line

LINES, DIFFERENCES, REASONS = 60, 26, 6
COLUMNS = 240  # of a line
TEXT = 500  # characters of what was expected or found
PLAIN = {"root", "user", "admin", "runner", "localhost", "mac"}  # names that tell nothing
WORDS = {
    "en": {
        "differ": "The handbook differs from this machine in {} of {} points:",
        "agree": "The handbook and this machine agree in all {} points that were compared.",
        "nothing": "Nothing could be compared with the handbook.",
        "cpu": "Nothing is verified about MPS: all of this ran on the CPU.",
        "stopped": "Not complete: {} of {} planned steps are done. The same command, without --only, "
        "goes on with the rest.",
        "line": "- {kind} `{name}`: handbook: {expected}; here: {found}",
        "more": "- and {} more in the JSON file",
        "machine": "Machine: {}, {} GPU cores, {} GB, {}, power: {}",
        "versions": "Versions: {}, Python {}, PyTorch {}, handbook {}",
        "count": "{}: {}",
        "each": "{} {}",
        "reasons": "Not tried: {}",
        "figure": "- {} `{}`: {}",
        "figures": "Measured:",
        ", ": ", ",
    },
    "zh": {
        "differ": "比较了 {1} 处，手册与这台机器有 {0} 处不一致：",
        "agree": "比较了 {} 处，手册与这台机器全部一致。",
        "nothing": "没有可以与手册比较的结果。",
        "cpu": "以下全部在 CPU 上运行，没有验证任何与 MPS 有关的内容。",
        "stopped": "尚未完成：计划的 {1} 步中完成了 {0} 步。"
        "再次运行同一条命令（不加 --only）会继续其余步骤。",
        "line": "- {kind} `{name}`：手册：{expected}；本机：{found}",
        "more": "- 另有 {} 处，见 JSON 文件",
        "machine": "机器：{}，{} 个 GPU 核心，{} GB，{}，电源：{}",
        "versions": "版本：{}，Python {}，PyTorch {}，手册 {}",
        "count": "{}：{}",
        "each": "{} 项{}",
        "reasons": "没有尝试：{}",
        "figure": "- {} `{}`：{}",
        "figures": "测量结果：",
        ", ": "，",
    },
}
CHINESE = {
    "check": "检查",
    "recipe": "示例代码",
    "block": "命令",
    "claim": "说法",
    "message": "报错",
    "system": "训练系统",
    "benchmark": "基准测试",
    "ran": "运行成功",
    "failed": "失败",
    "holds": "成立",
    "does not hold": "不成立",
    "as said": "一致",
    "differs": "不一致",
    "differ": "不一致",
    "nothing said": "手册未说明",
    "measured": "已测量",
    "not tried": "没有尝试",
    "ended the process": "进程异常结束",
    "hung": "没有响应",
    "virtual machine": "虚拟机",
    "out of time": "时间用完",
    "only with --full": "只在使用 --full 时",
    "no MPS here": "这里没有 MPS",
    "this PyTorch has CUDA": "这个 PyTorch 带有 CUDA",
    "it asks for a password": "需要输入密码",
    "it reads or changes files of yours": "会读取或改动你的文件",
    "it needs data, runs or downloads of yours": "需要你的数据、训练结果或下载",
    "it is for launchd": "供 launchd 使用",
    "it needs MLX": "需要 MLX",
    "it trains or measures for long": "训练或测量时间很长",
    "steps": "步数",
    "first losses differ by": "开头的损失相差",
    "largest difference": "最大相差",
    "at step": "所在的步",
    "bit-equal": "逐位相同",
    "yes": "是",
    "no": "否",
    "lowest": "最低",
    "median": "中位数",
    "highest": "最高",
    "unit": "单位",
}


def said(text: str, language: str) -> str:
    """Return a word of the report in a language."""
    return CHINESE.get(text, text) if language == "zh" else text


def clean(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step whose texts are one line each, short, and without paths and names of their owner."""
    return {key: told(value) if key in ("expected", "found", "why") else value for key, value in step.items()}


def told(text: str) -> str:
    """Return a text as it may stand in a report."""
    text = verify_mac.without_paths(text.replace(f"{ROOT}/", ""))
    for name in names():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", "(name)", text)
    return one_line(text, TEXT // 2)[:TEXT]


@cache
def names() -> set[str]:
    """Return the names of this user and this machine, which no report may hold."""
    host, found = platform.node(), {Path.home().name}
    with contextlib.suppress(KeyError):  # of a process without a user
        user = pwd.getpwuid(os.getuid())
        found |= {user.pw_name, user.pw_gecos.partition(",")[0]}
    return {name for name in (*found, host, host.partition(".")[0]) if len(name) > 2} - PLAIN


def as_json(
    run: verify_mac.Run, steps: list[dict[str, Any]], planned: int, full: bool, commit: str
) -> dict[str, Any]:
    """Return the report of verify_mac.py with one more key, `handbook`."""
    handbook = {
        "commit": commit,
        "full": full,
        "complete": done(steps) == planned and run.complete,
        "seconds": round(sum(step["seconds"] for step in steps), 1),
        "steps": [clean(step) for step in steps],
    }
    return {**verify_mac.as_report(run), "handbook": handbook}


def done(steps: list[dict[str, Any]]) -> int:
    """Return how many steps the same command would not try again."""
    return sum(step.get("why") != OUT_OF_TIME for step in steps)


def compared(report: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Return the checks and steps that disagree with the handbook, and how many were compared."""
    wrong = []
    for check in report["checks"]:
        if check["agrees"] is False:
            row = {"kind": "check", "name": check["name"]}
            row["expected"] = ": ".join(filter(None, (check["expected"], check["expected_text"])))
            row["found"] = ": ".join(filter(None, (check["found"], check.get("text", ""))))
            wrong.append(row)
    steps = report["handbook"]["steps"]
    wrong += [step for step in steps if step["outcome"] in DISAGREES]
    count = sum(check["agrees"] is not None for check in report["checks"])
    return wrong, count + sum(step["outcome"] not in (NOT_TRIED, "measured") for step in steps)


def heading(report: dict[str, Any], planned: int, language: str) -> Iterator[str]:
    """Yield the first lines: what the handbook got wrong."""
    words, steps = WORDS[language], report["handbook"]["steps"]
    wrong, count = compared(report)
    if report["device"] != "mps":
        yield words["cpu"]
    if wrong:
        yield words["differ"].format(len(wrong), count)
    else:
        yield words["agree" if count else "nothing"].format(count)
    for row in wrong[:DIFFERENCES]:
        told = row.get("found") or row["outcome"]
        if row.get("outcome") in (ENDED, HUNG):
            told = f"{said(row['outcome'], language)}: {told}"
        values = {"kind": said(row["kind"], language), "name": row["name"], "found": told}
        yield words["line"].format(**values, expected=row.get("expected", "–"))
    if len(wrong) > DIFFERENCES:
        yield words["more"].format(len(wrong) - DIFFERENCES)
    if not report["handbook"]["complete"]:
        yield words["stopped"].format(done(steps), planned)


def machine_lines(report: dict[str, Any], language: str) -> Iterator[str]:
    """Yield the facts of the machine."""
    words, about = WORDS[language], report["machine"]
    system = f"macOS {about['macos']}" if about["macos"] else about["system"]
    chip = about["chip"] + (words[", "] + said("virtual machine", language) if about["virtual"] else "")
    yield words["machine"].format(chip, about["gpu_cores"], about["memory_gb"], system, about["power"])
    commit = report["handbook"]["commit"] or "–"
    yield words["versions"].format(system, about["python"], about["torch"], commit)


def counts(report: dict[str, Any], language: str) -> Iterator[str]:
    """Yield how many checks and steps of each kind found what, and why some were not tried."""
    words, steps = WORDS[language], report["handbook"]["steps"]
    found: dict[str, Counter[str]] = {"check": Counter()}
    for one in report["checks"]:
        found["check"][{True: "as said", False: "differ", None: "nothing said"}[one["agrees"]]] += 1
    for step in steps:
        found.setdefault(step["kind"], Counter())[step["outcome"]] += 1
    for kind, outcomes in found.items():
        told = words[", "].join(
            words["each"].format(count, said(what, language)) for what, count in outcomes.most_common()
        )
        yield words["count"].format(said(kind, language), told or "0")
    reasons = Counter(step["why"] for step in steps if step["outcome"] == NOT_TRIED)
    if reasons:
        listed = (f"{count} × {said(why, language)}" for why, count in reasons.most_common(REASONS))
        yield words["reasons"].format(words[", "].join(listed))


def figures(report: dict[str, Any], language: str) -> Iterator[str]:
    """Yield speed and memory, and the figures of the steps."""
    words, shown = WORDS[language], []
    for one in [*reversed(report["handbook"]["steps"]), *report["checks"]]:
        if one.get("figures"):
            parts = (
                f"{said(key, language)} {said(str(value), language)}" for key, value in one["figures"].items()
            )
            kind = said(one.get("kind", "check"), language)
            shown.append(words["figure"].format(kind, one["name"], words[", "].join(parts)))
    if shown:
        yield words["figures"]
        yield from shown


def as_text(report: dict[str, Any], planned: int, language: str) -> str:
    """Return the report in at most LINES lines."""
    parts = heading(report, planned, language), machine_lines(report, language)
    blocks = [list(part) for part in (*parts, counts(report, language), figures(report, language))]
    lines = [line for block in blocks if block for line in ("", *block)][1:]
    return "\n".join(line if len(line) <= COLUMNS else f"{line[:COLUMNS]} …" for line in lines[:LINES])
