"""Tables of what trainings take: worked examples, shares of the peak that were reached, power of Macs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markdown_tables import Column, figures, table_of, written
from origins import DATA, explained, load
from published_speeds import SPEEDS

from snippets.training_cost import attention_work, dense_work, energy_kwh, rent, seconds_per_step

FACTS: dict[str, Any] = load("time_and_cost", DATA)
CHIPS: dict[str, Any] = load("resnet18")

UNITS = {"en": (" s", " min", " h", " days"), "zh": (" s", " min", " h", " 天")}
SECONDS = (1, 60, 3600, 86_400)  # of each unit
LIMITS = (100, 100 * 60, 48 * 3600)  # in seconds: from here on, the next unit

BELOW = {
    "en": "At {share:.0%} of the peak and {price} € per kWh. At half the share, all these figures double.",
    "zh": "按峰值的 {share:.0%}、每 kWh {price} 欧元计算。如果只达到这个比例的一半，这些数都要加倍。",
}
EXAMPLES = (
    Column("Training", "训练", "name"),
    Column("Work per step", "每步计算量", "work", written(".3g", 1e-12), "{} TFLOP"),
    Column("Steps", "步数", "steps", written(",")),
)
ON_A_MAC = {"en": "{time}<br>{energy}<br>{electricity} €", "zh": "{time}<br>{energy}<br>{electricity} 欧元"}
SHARES = (
    Column("Batch × length", "批大小 × 长度", "batch"),
    Column("Work per step", "每步计算量", "work", written(".2f", 1e-12), "{} TFLOP"),
    *(Column(mac["name"]["en"], mac["name"]["zh"], mac["column"]) for mac in FACTS["bert"]["chips"]),
)
REACHED = {"en": "{rate:.2f} TFLOPS<br>{share:.0%}", "zh": "{rate:.2f} TFLOPS<br>{share:.0%}"}
POWER = (
    Column("Mac", "Mac", "name"),
    Column("GPU cores", "GPU 核数", "gpu_cores"),
    Column("Idle", "空闲", "idle", form="{} W"),
    Column("At most", "最高", "most", form="{} W"),
    Column("Read at", "出处", "source"),
)


def duration(seconds: float, language: str) -> str:
    """Return a time with two digits in a unit that suits it: "47 s", "13 min", "6.5 h", "13 days"."""
    place = sum(seconds >= limit for limit in LIMITS)
    return figures(seconds / SECONDS[place], 2) + UNITS[language][place]


def results(
    language: str,
    step: float,
    steps: float,
    watts: float,
    price: float,
    faster: float = 1,
    per_hour: float = 0,
) -> dict[str, str]:
    """Return what the calculator shows, for `step` seconds per step; prices are per kWh and per hour."""
    seconds = steps * step
    energy = energy_kwh(watts, seconds)
    return {
        "step": f"{figures(step)} s",
        "time": duration(seconds, language),
        "energy": f"{figures(energy)} kWh",
        "electricity": f"{energy * price:,.2f}",
        "rented": duration(seconds / faster, language),
        "rent": f"{rent(seconds, faster, per_hour):,.2f}",
    }


def work_per_step(training: dict[str, Any]) -> float:
    """Return the operations of a step of a training in docs/data/time_and_cost.yaml."""
    if "network" in training:
        network = next(one for one in CHIPS["networks"] if one["id"] == training["network"])
        return network["training_flop"] * training["batch"]
    dense = dense_work(training["parameters"], training["positions"])
    return dense + (attention_work(**training["attention"]) if "attention" in training else 0)


def macs() -> list[dict[str, Any]]:
    """Return the Macs whose power is known, and the peak in TFLOPS of those whose chip has a known one."""
    known = {(chip["name"], chip["gpu_cores"]): chip["fp32_tflops"] for chip in CHIPS["chips"]}
    return [mac | {"peak": known.get((mac["chip"], mac["gpu_cores"]))} for mac in FACTS["macs"]]


def examples(language: str) -> str:
    """Return the worked examples: each training on some Macs."""
    share, price = FACTS["share"], FACTS["electricity"]
    chosen = [mac for mac in macs() if mac["chip"] in FACTS["examples"]]
    columns = [*EXAMPLES, *(Column(mac["name"]["en"], mac["name"]["zh"], mac["chip"]) for mac in chosen)]
    rows = []
    for training in FACTS["trainings"]:
        row = training | {"work": work_per_step(training)}
        for mac in chosen:
            step = seconds_per_step(row["work"], mac["peak"] * 1e12, share)
            found = results(language, step, training["steps"], mac["most"], price)
            row[mac["chip"]] = ON_A_MAC[language].format(**found)
        rows.append(row)
    return unbroken(explained(columns, rows, language, BELOW[language].format(share=share, price=price)))


def unbroken(table: str) -> str:
    """Return a table in which only the first column is broken into lines."""
    return f'<div class="training-table" markdown>\n\n{table}\n</div>\n'


def shares(language: str) -> str:
    """Return which share of the peak the published trainings of BERT reached."""
    bert, speeds = FACTS["bert"], SPEEDS["speeds-bert"]
    names = [column["en"] if isinstance(column, dict) else column for column in speeds["columns"]]
    peaks = {chip["name"]: chip["fp32_tflops"] for chip in CHIPS["chips"]}
    rows = []
    for row in speeds["rows"]:
        batch, length = map(int, row[0].split(" × "))
        work = dense_work(bert["parameters"], batch * length)
        work += attention_work(bert["layers"], bert["width"], length, batch)
        found: dict[str, Any] = {"batch": row[0], "work": work}
        for mac in bert["chips"]:
            if seconds := row[names.index(mac["column"])]:
                rate = work * bert["steps"] / seconds / 1e12
                found[mac["column"]] = REACHED[language].format(rate=rate, share=rate / peaks[mac["chip"]])
        rows.append(found)
    return unbroken(table_of(SHARES, rows, language))


def power(language: str) -> str:
    """Return what some Macs draw from the socket, with the source of each."""
    links = {name: "[{title}]({url})".format(**source) for name, source in FACTS["sources"].items()}
    rows = [mac | {"source": links[mac["source"]]} for mac in FACTS["macs"]]
    return unbroken(table_of(POWER, rows, language))


TABLES: dict[str, Callable[[str], str]] = {
    "time-examples": examples,
    "time-shares": shares,
    "time-power": power,
}
