"""The parts in their order, their shares of the ten minutes, and the plan as text."""

import platform
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch

from examples import verify_mac
from examples.verifying import blocks, claims, levels, messages, recipes, systems
from examples.verifying.steps import Place, Step

CHECKS = "checks"  # those of examples/verify_mac.py, which are not steps


class Part(NamedTuple):
    """A part: its share of the ten minutes in seconds, with --full another one, and its steps."""

    seconds: int
    seconds_full: int
    steps: Callable[[Place], Iterator[Step]]
    estimate: int = 0  # where it has no steps


PARTS = {
    CHECKS: Part(120, 300, lambda place: iter(()), 120),
    "recipes": Part(90, 300, recipes.steps),
    "blocks": Part(75, 600, blocks.steps),
    "claims": Part(115, 900, claims.steps),
    "messages": Part(70, 120, messages.steps),
    "systems": Part(75, 900, systems.steps),
    "benchmark": Part(45, 900, levels.steps),
}
LEAST = 10  # seconds of the ten minutes for the report


def here(device: str, full: bool) -> Place:
    """Return what this machine is to the steps."""
    release = ".".join(torch.__version__.split("+")[0].split(".")[:2])
    return Place(device, platform.system(), release, torch.version.cuda is not None, full)


def share(part: str, full: bool) -> int:
    """Return the seconds of a part; what it leaves over goes to the parts behind it."""
    return PARTS[part].seconds_full if full else PARTS[part].seconds


def plan_lines(place: Place, chosen: list[str], planned: dict[str, list[Step]]) -> Iterator[str]:
    """Yield the plan: steps, estimated seconds and limit of each part."""
    yield f"{'part':<12} {'steps':>5} {'not tried':>10} {'about':>7} {'at most':>8}"
    total = 0.0
    for part in chosen:
        steps = planned[part]
        count = len(verify_mac.all_checks()) if part == CHECKS else sum(not step.why for step in steps)
        seconds = PARTS[part].estimate + sum(step.seconds for step in steps)
        left_out = sum(bool(step.why) for step in steps)
        yield f"{part:<12} {count:>5} {left_out:>10} {seconds:>5.0f} s {share(part, place.full):>6} s"
        total += seconds
    most = sum(share(part, place.full) for part in PARTS)  # with --only, the others' shares are free
    yield f"{'together':<29} {total:>5.0f} s {most:>6.0f} s"
    yield "The seconds are estimates from a Linux CPU: nothing of this was measured on a Mac."
    yield "What does not fit into its time is tried when the same command runs again."
