"""Which arguments the real device refuses, in a release and on a macOS: rules.json."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import torch

METAL_TYPES = Path(__file__).with_name("metal_types.json")  # by tools.measuring.device_rules, from the wheels
KERNEL = "Failed to create function state object for: "  # what a missing kernel says
RULES = Path(__file__).with_name("rules.json")
Rule = Mapping[str, Any]


@cache
def read() -> dict[str, Any]:
    """Return the rules by kind, and PyTorch's names of Metal's types."""
    return json.loads(RULES.read_text(encoding="utf-8"))


METAL: dict[str, torch.dtype] = {name: getattr(torch, ours) for name, ours in read()["metal_types"].items()}
TYPES = tuple(METAL.values())
CLASSES = {
    "complex": [torch.complex64, torch.complex32],
    "integer": [each for each in TYPES if not each.is_floating_point and not each.is_complex][1:],
    "not floating": [each for each in TYPES if not each.is_floating_point],
    "not float": [each for each in TYPES if not each.is_floating_point and not each.is_complex],
}


@cache
def kernels() -> dict[str, dict[str, str]]:
    """Return for each Metal kernel of a rule, and each release that has it, for which types."""
    return json.loads(METAL_TYPES.read_text(encoding="utf-8"))


def number(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, which compare as versions do."""
    return tuple(map(int, version.split(".")))


def holds(rule: Rule, release: str, macos: tuple[int, int]) -> bool:
    """Return whether a rule holds in `release` on `macos`."""
    since, until = rule.get("since", release), rule.get("until", release)
    in_time = number(since) <= number(release) <= number(until)
    return in_time and ("before_macos" not in rule or macos < number(rule["before_macos"]))


def types_of(rule: Rule) -> list[torch.dtype]:
    """Return the types that a rule names, by class or by name; none: it asks for no type."""
    names = rule.get("types", "")
    return CLASSES.get(names) or [getattr(torch, name) for name in names.split()]


def texts_of(rule: Rule, operator: str, release: str) -> dict[str, list[torch.dtype]]:
    """Return what a rule says, and of which types.

    Where it names a Metal kernel with the type in its name, these are types without one, if any has one.
    """
    if "kernel" not in rule:
        return {rule["text"]: types_of(rule)}
    kernel = rule["kernel"].replace("{operator}", operator.partition(".")[0])
    known = kernels().get(kernel, {}).get(release)
    if known is None:
        return {}
    missing = [name for name in METAL if METAL[name] in types_of(rule) and name not in known.split()]
    return {KERNEL + kernel.replace("{type}", name): [METAL[name]] for name in missing}


def arguments_of(rule: Rule, release: str) -> Iterator[tuple]:
    """Yield what the compiled device is given for each operator of a rule: the arguments of its `Rule`."""
    for operator in rule["operators"]:
        for text, types in texts_of(rule, operator, release).items():
            outcome = rule.get("outcome", "RuntimeError")
            where = rule.get("argument", ""), types, rule.get("on") == "cpu"
            when = (rule.get(name, "") for name in ("option", "value", "when"))
            yield f"aten::{operator}", text, outcome, *where, *when


def refused(release: str, macos: tuple[int, int]) -> list[tuple]:
    """Return what is refused, in the order in which the device asks."""
    rules = (rule for rule in read()["refused"] if holds(rule, release, macos))
    return [arguments for rule in rules for arguments in arguments_of(rule, release)]


def by_operator(kind: str, release: str) -> Iterator[tuple[str, Rule]]:
    """Yield the operators of a kind of rules that hold in `release`, each with its rule."""
    for rule in read()[kind]:
        if holds(rule, release, (0, 0)):
            yield from ((f"aten::{operator}", rule) for operator in rule["operators"])


def mixed_texts(release: str) -> dict[str, str]:
    """Return by operator what a tensor on the CPU gets to hear, where that is not the text of the most."""
    return {operator: rule["text"] for operator, rule in by_operator("mixed_devices", release)}


def beyond_the_cpu(release: str) -> dict[str, list[torch.dtype]]:
    """Return by operator the types of which MPS has a kernel, but the CPU has none."""
    found: dict[str, list[torch.dtype]] = {}
    for operator, rule in by_operator("beyond_the_cpu", release):
        found.setdefault(operator, []).extend(types_of(rule))
    return found
