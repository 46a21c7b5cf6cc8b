"""Render "Which PyTorch for my Mac": the picker with its table.

The table is complete; docs/assets/javascripts/version-picker.js lets the three selects show one of its rows.
Where scripts run it is folded up, otherwise it stands there open. Every answer comes from
tools.versions.recommend.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from itertools import groupby

from tools.checks.page_code import MADE_FROM_DATA
from tools.versions import CHIPS, Answer, number, pythons, recommend, settings

NONE_YET = "none"  # the Python of somebody who has none
Choice = str | None

TEXT = {
    "en": {
        "arm64": "Apple silicon (M1 or newer)",
        "x86_64": "Intel",
        "arm64_short": "Apple silicon",
        "x86_64_short": "Intel",
        "chip": "Chip",
        "python": "Python",
        "command": "Install",
        "what": "What to know",
        "legend": "Your Mac",
        "caption": "Every combination in one table",
        "any": "any",
        "none": "not installed yet",
        "range": "{} to {}",
        "or": "{}, or none yet",
        "comma": ", ",
        "space": " ",
        "versions": "PyTorch {torch}, torchvision {torchvision}, Python {range}",
        "too_old_title": "macOS is too old for MPS",
        "too_old": "MPS needs macOS 12.3 or newer. Update macOS, then choose again.",
        "no_wheel": "No release that works here has a wheel for this Python. Install Python {range} first.",
        "better": "With Python {range} you get {best}.",
        "trap": "Keep the version numbers: without them pip installs {trap}, whose MPS needs macOS {macos}.",
        "early": "Releases before {from_} return wrong results without an error in more operations.",
        "newer_macos": "A newer macOS brings a newer release.",
        "intel": "The last release for Intel. Its MPS is unsupported and needs an AMD GPU: count on the CPU.",
        "numpy": "It cannot use NumPy {below}.",
        "excluded": "Python {excluded} is an exception: torchvision refuses it.",
    },
    "zh": {
        "arm64": "Apple 芯片（M1 及以后）",
        "x86_64": "Intel",
        "arm64_short": "Apple 芯片",
        "x86_64_short": "Intel",
        "chip": "芯片",
        "python": "Python",
        "command": "安装命令",
        "what": "须知",
        "legend": "你的 Mac",
        "caption": "全部组合一览",
        "any": "任意版本",
        "none": "尚未安装",
        "range": "{} 至 {}",
        "or": "{}，或尚未安装",
        "comma": "、",
        "space": "",
        "versions": "PyTorch {torch}，torchvision {torchvision}，Python {range}",
        "too_old_title": "macOS 版本过低，无法使用 MPS",
        "too_old": "MPS 需要 macOS 12.3 及以上。请先升级 macOS，再重新选择。",
        "no_wheel": "能在这台 Mac 上运行的 PyTorch 都没有这个 Python 的安装包。请先安装 Python {range}。",
        "better": "换用 Python {range} 可以装 {best}。",
        "trap": "请保留版本号。如果不写，pip 会装 {trap}，而这个版本的 MPS 需要 macOS {macos}。",
        "early": "{from_} 之前的版本有更多运算会给出错误结果却不报错。",
        "newer_macos": "升级 macOS 后可以用更新的版本。",
        "intel": "最后一个支持 Intel 的版本。其中的 MPS 只适用于 AMD 显卡，官方也不支持，实际上只能用 CPU。",
        "numpy": "这个版本不能使用 NumPy {below}。",
        "excluded": "Python {excluded} 是例外，装不了 torchvision。",
    },
}


@dataclass(frozen=True)
class Row:
    """One row of the picker's table: choices that share an answer."""

    chip: str
    macos: tuple[str, ...]
    pythons: tuple[Choice, ...]
    answer: Answer


def rows() -> list[Row]:
    """Return the table's rows; every combination of chip, macOS and Python is in exactly one."""
    found = []
    for chip in CHIPS:
        listed = [(entry["id"], _answers(chip, entry["at_least"])) for entry in settings()["macos"]]
        for answers, same in groupby(listed, key=lambda pair: pair[1]):
            macos = tuple(identifier for identifier, _ in same)
            found += [Row(chip, macos, choices, answer) for choices, answer in answers]
    return found


def _answers(chip: str, macos: str) -> tuple[tuple[tuple[Choice, ...], Answer], ...]:
    """Return the answers for one macOS, newest Python first; Pythons with an equal answer share one."""
    found: dict[Answer, list[Choice]] = {}
    for python in [*reversed(pythons()), None]:
        found.setdefault(recommend(chip, macos, python), []).append(python)
    return tuple((tuple(choices), answer) for answer, choices in found.items())


def _short(macos: str) -> str:
    """Return "15.0" as people say it, "15"."""
    return macos.removesuffix(".0")


def _macos(text: dict, language: str, row: Row) -> str:
    """Name the macOS versions of a row."""
    labels = {entry["id"]: entry[language] for entry in settings()["macos"]}
    if len(row.macos) == len(labels):
        return text["any"]
    return text["comma"].join(labels[identifier] for identifier in row.macos)


def _range(text: dict, first: str, last: str) -> str:
    return first if first == last else text["range"].format(first, last)


def _span(text: dict, choices: tuple[Choice, ...]) -> str:
    """Describe the Pythons of a row, "3.11 to 3.15, or none yet"."""
    known = sorted((choice for choice in choices if choice), key=number)
    span = _range(text, known[0], known[-1])
    return text["or"].format(span) if None in choices else span


def _notes(text: dict, row: Row) -> list[str]:
    """Return what to know about an answer, most urgent first, as plain sentences."""
    answer, best = row.answer, row.answer.best
    if best is None:
        return [text["too_old"]]
    shown = answer.release or best
    span = _range(text, *best.python_range(row.chip))
    notes = []
    if answer.release is None:
        notes.append(text["no_wheel"].format(range=span))
    elif answer.release is not best:
        notes.append(text["better"].format(range=span, best=best.torch))
    if answer.trap:
        notes.append(text["trap"].format(trap=answer.trap.torch, macos=_short(answer.trap.works_from)))
    if row.chip == "x86_64":
        notes += [text["intel"], text["numpy"].format(below=shown.numpy_below)]
    elif number(shown.minor) < number(settings()["recommended_from"]):
        notes.append(text["early"].format(from_=settings()["recommended_from"]))
        if shown is best:
            notes.append(text["newer_macos"])
    notes += [
        text["excluded"].format(excluded=excluded)
        for excluded in shown.excluded_pythons
        if excluded.rpartition(".")[0] in row.pythons and answer.release
    ]
    return notes


def _headline(text: dict, row: Row) -> str:
    """Return the versions of an answer in words."""
    shown = row.answer.release or row.answer.best
    if shown is None:
        return text["too_old_title"]
    span = _range(text, *shown.python_range(row.chip))
    return text["versions"].format(torch=shown.torch, torchvision=shown.torchvision, range=span)


def _command(row: Row) -> str:
    shown = row.answer.release or row.answer.best
    return shown.command() if shown else ""


def _table_row(text: dict, language: str, row: Row) -> str:
    python = " ".join(choice or NONE_YET for choice in row.pythons)
    command = f"<code>{escape(_command(row))}</code>" if _command(row) else "–"
    return (
        f'<tr data-chip="{row.chip}" data-macos="{" ".join(row.macos)}" data-python="{python}"'
        f' data-versions="{escape(_headline(text, row))}">'
        f"<td>{text[f'{row.chip}_short']}</td><td>{_macos(text, language, row)}</td>"
        f"<td>{_span(text, row.pythons)}</td><td>{command}</td>"
        f"<td>{escape(text['space'].join(_notes(text, row)))}</td></tr>"
    )


def _select(name: str, label: str, options: list[tuple[str, str]]) -> str:
    items = "".join(f'<option value="{value}">{shown}</option>' for value, shown in options)
    return f'<label>{label}<select name="{name}">{items}</select></label>'


def render(language: str) -> str:
    """Return the picker and its table as HTML. `language` is "en" or "zh" (KeyError otherwise)."""
    text, every = TEXT[language], rows()
    newest = settings()["macos"][0]["id"]  # what the selects show at the start: this macOS, no Python yet
    first = next(r for r in every if r.chip == CHIPS[0] and newest in r.macos and None in r.pythons)
    form = "".join(
        [
            _select("chip", text["chip"], [(chip, text[chip]) for chip in CHIPS]),
            _select("macos", "macOS", [(entry["id"], entry[language]) for entry in settings()["macos"]]),
            _select(
                "python",
                text["python"],
                [(NONE_YET, text["none"]), *((python, python) for python in reversed(pythons()))],
            ),
        ]
    )
    columns = [text["chip"], "macOS", text["python"], text["command"], text["what"]]
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    body = "\n".join(_table_row(text, language, row) for row in every)
    notes = escape(text["space"].join(_notes(text, first)))
    return f"""<div class="version-picker {MADE_FROM_DATA}" data-version-picker>
<form class="version-picker__form" aria-label="{text["legend"]}">{form}</form>
<div class="version-picker__answer" role="status">
<p class="version-picker__versions">{escape(_headline(text, first))}</p>
<pre><code>{escape(_command(first))}</code></pre>
<p class="version-picker__notes">{notes}</p>
</div>
<details class="version-picker__all">
<summary>{text["caption"]}</summary>
<table aria-label="{text["caption"]}">
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</details>
</div>"""


TABLES: dict[str, Callable[[str], str]] = {"version-picker": render}
