"""Which arguments the real device refuses, in a release and on a macOS: rules.json."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

RULES = Path(__file__).with_name("rules.json")
Rule = Mapping[str, Any]

TYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.uint16, torch.uint32, torch.uint64),
    *(torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex32),
)
CLASSES = {
    "complex": [torch.complex64, torch.complex32],
    "integer": [each for each in TYPES if not each.is_floating_point and not each.is_complex][1:],
    "not floating": [each for each in TYPES if not each.is_floating_point],
    "not float": [each for each in TYPES if not each.is_floating_point and not each.is_complex],
}


def read(path: Path = RULES) -> dict[str, list[Rule]]:
    """Return the rules: "refused", of arguments, and "mixed_devices", what a tensor on the CPU gets to hear."""
    return json.loads(path.read_text(encoding="utf-8"))


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


def arguments_of(rule: Rule) -> Iterator[tuple]:
    """Yield what the compiled device is given for each operator of a rule: the arguments of its `Rule`."""
    for operator in rule["operators"]:
        yield (
            f"aten::{operator}",
            rule["text"],
            rule.get("outcome", "error") == "error",
            rule.get("on") == "cpu",
            rule.get("argument", ""),
            types_of(rule),
            rule.get("option", ""),
            rule.get("value", ""),
            rule.get("when", ""),
        )


def refused(release: str, macos: tuple[int, int]) -> list[tuple]:
    """Return what is refused, in the order in which the device asks."""
    rules = (rule for rule in read()["refused"] if holds(rule, release, macos))
    return [arguments for rule in rules for arguments in arguments_of(rule)]


def mixed_texts(release: str) -> dict[str, str]:
    """Return by operator what a tensor on the CPU gets to hear, where that is not the text of the most."""
    rules = (rule for rule in read()["mixed_devices"] if holds(rule, release, (0, 0)))
    return {f"aten::{operator}": rule["text"] for rule in rules for operator in rule["operators"]}
