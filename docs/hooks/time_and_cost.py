"""What trainings take in time, energy and money, for the calculator and the tables beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import pass_context
from origins import DATA, load

from snippets.training_cost import (
    all_reduce_seconds,
    attention_work,
    dense_work,
    energy_kwh,
    mean_price,
    rent,
    seconds_per_step,
)
from tools.expressions import digits

FACTS: dict[str, Any] = load("time_and_cost", DATA)
CHIPS: dict[str, Any] = load("resnet18")

CURRENCY = {"en": "", "zh": " 元"}
PRICE: dict[str, float | None] = {"en": FACTS["electricity"], "zh": None}  # per kWh; we know none in 元
UNITS = {"en": (" s", " min", " h", " days"), "zh": (" s", " min", " h", " 天")}
SECONDS = (1, 60, 3600, 86_400)  # of each unit
LIMITS = (100, 100 * 60, 48 * 3600)  # in seconds: from here on, the next unit


def duration(seconds: float, language: str) -> str:
    """Return a time with two digits in a unit that suits it: "47 s", "13 min", "6.5 h", "13 days"."""
    place = sum(seconds >= limit for limit in LIMITS)
    return digits(seconds / SECONDS[place], 2) + UNITS[language][place]


def results(
    language: str,
    step: float,
    steps: float,
    watts: float,
    price: float | None,
    faster: float = 1,
    per_hour: float = 0,
    off_peak: tuple[float, float] | None = None,
    several: tuple[float, float, float] | None = None,
) -> dict[str, str]:
    """Return what the calculator shows, for `step` seconds per step; prices are per kWh and per hour.

    `off_peak` is the price in the cheaper hours, and how many of them a day has. `several` is what a network
    between machines depends on: parameters, machines, and its speed in Gbit/s.
    """
    seconds = steps * step
    energy = energy_kwh(watts, seconds)
    if price is not None and off_peak:
        price = mean_price(price, *off_peak)
    return {
        "step": f"{digits(step)} s",
        "time": duration(seconds, language),
        "energy": f"{digits(energy)} kWh",
        "electricity": "–" if price is None else f"{energy * price:,.2f}{CURRENCY[language]}",
        "rented": duration(seconds / faster, language),
        "rent": f"{rent(seconds, faster, per_hour):,.2f}{CURRENCY[language]}",
        "network": f"{digits(all_reduce_seconds(*several))} s" if several else "–",
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


@pass_context
def on_a_mac(context: Mapping[str, Any], training: dict[str, Any], mac: dict[str, Any]) -> dict[str, str]:
    """Return what a training takes on a Mac that reaches the usual share of its peak."""
    step = seconds_per_step(work_per_step(training), mac["peak"] * 1e12, FACTS["share"])
    return results(context["language"], step, training["steps"], mac["most"], None)
