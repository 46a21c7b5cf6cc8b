"""The calculator of "Time and cost of a training"; docs/assets/javascripts/training-calculator.js computes.

Without scripts it is hidden. The tables of time_and_cost.py, made with the same formulas, stand there anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from rendering import MISSING
from time_and_cost import CHIPS, CURRENCY, FACTS, PRICE, UNITS, macs, work_per_step

from snippets.training_cost import HOURS_PER_DAY
from tools.checks.page_code import MADE_FROM_DATA

TEXT: dict[str, dict[str, Any]] = {
    "en": {
        "title": "Calculator",
        "training": "Your training",
        "mac": "Your Mac",
        "rented": "A rented GPU",
        "fill": "Fill in from",
        "own": "own values",
        "steps": "Steps in total",
        "work": "Work per step, GFLOP",
        "measured": "Measured seconds per step",
        "peak": "Peak, TFLOPS",
        "share": "Share reached, %",
        "watts": "Power, W",
        "price": "Price per kWh",
        "on_the_bill": "on your bill; filled in: EU mean, in euros",
        "off_peak": "Off-peak price",
        "off_peak_hours": "Off-peak hours a day",
        "not_needed": "empty if your price is always the same",
        "faster": "Times as fast",
        "per_hour": "Price per hour",
        "several": "Several machines that share each batch",
        "parameters": "Parameters",
        "machines": "Machines",
        "gigabits": "Network, Gbit/s",
        "instead": "counts instead of work, peak and share",
        "cores": "{name}, {gpu_cores} GPU cores",
        "missing": "To compute a time, fill in the seconds per step that you measured, or work, peak and "
        "share. A peak is filled in only for chips whose peak has a source.",
        "result": {
            "step": "Per step",
            "time": "Time on the Mac",
            "energy": "Energy",
            "electricity": "Electricity",
            "rented": "Time on the rented GPU",
            "rent": "Rent",
            "network": "Network per step",
        },
    },
    "zh": {
        "title": "计算器",
        "training": "你的训练",
        "mac": "你的 Mac",
        "rented": "租用的 GPU",
        "fill": "填入示例",
        "own": "自己的数值",
        "steps": "总步数",
        "work": "每步计算量，GFLOP",
        "measured": "实测的每步秒数",
        "peak": "峰值，TFLOPS",
        "share": "达到峰值的比例，%",
        "watts": "功率，W",
        "price": "电价，元/kWh",
        "on_the_bill": "见电费账单，分时电价填峰段",
        "off_peak": "谷段电价，元/kWh",
        "off_peak_hours": "每天谷段小时数",
        "not_needed": "没有分时电价就空着",
        "faster": "速度是 Mac 的几倍",
        "per_hour": "每小时租金，元",
        "several": "分担每一批样本的几台机器",
        "parameters": "参数量",
        "machines": "机器数",
        "gigabits": "网络，Gbit/s",
        "instead": "填了就不用计算量、峰值和比例",
        "cores": "{name}，{gpu_cores} 核 GPU",
        "missing": "要算出时间，请填写实测的每步秒数，或者计算量、峰值和比例。"
        "只有峰值有来源的芯片，才会自动填入峰值。",
        "result": {
            "step": "每步",
            "time": "在 Mac 上的时间",
            "energy": "用电量",
            "electricity": "电费",
            "rented": "在租用的 GPU 上的时间",
            "rent": "租金",
            "network": "每步的网络时间",
        },
    },
}


def number(value: float | None) -> str:
    """Return a number as a form field takes it, with six digits at most; empty where there is none."""
    return "" if value is None else f"{float(f'{value:.6g}'):.10g}"


def field(
    name: str,
    text: Mapping[str, Any],
    value: float | None = None,
    hint: str = "",
    most: float | None = None,
) -> str:
    """Return a labelled field for a number that is not negative."""
    note, width = "", ""
    if hint:
        note, width = f"<small>{hint}</small>", ' class="training-calculator__double"'
    limit = "" if most is None else f' max="{most}"'
    kind = f'type="number" min="0"{limit} step="any" inputmode="decimal"'
    entry = f'<input name="{name}" {kind} value="{number(value)}">'
    return f"<label{width}><span>{text[name]}</span>{note}{entry}</label>"


def choice(text: Mapping[str, Any], options: Iterable[tuple[str, Mapping[str, float | None]]]) -> str:
    """Return a select whose options carry the values of fields; the first of them is chosen."""
    items = []
    for name, values in options:
        data = " ".join(f'data-{field}="{number(value)}"' for field, value in values.items())
        items.append(f"<option {data}>{escape(name)}</option>")
    items.append(f'<option value="">{text["own"]}</option>')
    wide = 'class="training-calculator__wide"'
    return f"<label {wide}><span>{text['fill']}</span><select>{''.join(items)}</select></label>"


def group(legend: str, *fields: str) -> str:
    """Return fields under a legend."""
    return f"<fieldset><legend>{legend}</legend>{''.join(fields)}</fieldset>"


def trainings(language: str) -> list[tuple[str, dict[str, float | None]]]:
    """Return the name of each training, and what it fills in."""
    return [
        (one["name"][language], {"steps": one["steps"], "work": work_per_step(one) / 1e9, "measured": None})
        for one in FACTS["trainings"]
    ]


def machines(language: str) -> list[tuple[str, dict[str, float | None]]]:
    """Return Macs, then chips whose power is not known, and what each fills in; an example comes first."""
    first = FACTS["examples"][0]
    known = sorted(macs(), key=lambda mac: mac["chip"] != first)
    found = [(mac["name"][language], {"peak": mac["peak"], "watts": mac["most"]}) for mac in known]
    named = {(mac["chip"], mac["gpu_cores"]) for mac in known}
    for chip in CHIPS["chips"]:
        if (chip["name"], chip["gpu_cores"]) not in named:
            found.append(
                (TEXT[language]["cores"].format(**chip), {"peak": chip["fp32_tflops"], "watts": None})
            )
    return found


def form(language: str) -> str:
    """Return the fields, filled in for the first training and the first Mac."""
    text, every_training, every_mac = TEXT[language], trainings(language), machines(language)
    training, mac = every_training[0][1], every_mac[0][1]
    groups = [
        group(
            text["training"],
            choice(text, every_training),
            field("steps", text, training["steps"]),
            field("work", text, training["work"]),
            field("measured", text, hint=text["instead"]),
        ),
        group(
            text["mac"],
            choice(text, every_mac),
            field("peak", text, mac["peak"]),
            field("share", text, 100 * FACTS["share"]),
            field("watts", text, mac["watts"]),
            field("price", text, PRICE[language], text["on_the_bill"]),
            field("off_peak", text, hint=text["not_needed"]),
            field("off_peak_hours", text, most=HOURS_PER_DAY),
        ),
        group(text["rented"], field("faster", text, FACTS["faster"]), field("per_hour", text)),
        group(text["several"], *(field(name, text) for name in ("parameters", "machines", "gigabits"))),
    ]
    return f'<form aria-label="{text["title"]}">{"".join(groups)}</form>'


def calculator(language: str) -> str:
    """Return the form and its results, which the script fills in."""
    shown = "".join(
        f'<div><dt>{label}</dt><dd data-result="{name}">{MISSING}</dd></div>'
        for name, label in TEXT[language]["result"].items()
    )
    data = f'data-training-calculator data-units="{"|".join(UNITS[language])}"'
    data += f' data-currency="{CURRENCY[language]}"'
    missing = f"<p data-missing>{TEXT[language]['missing']}</p>"
    return f"""<div class="training-calculator {MADE_FROM_DATA}" {data} hidden>
{form(language)}
<div class="training-calculator__results" role="status">{missing}<dl>{shown}</dl></div>
</div>
"""


TABLES: dict[str, Callable[[str], str]] = {"training-calculator": calculator}
