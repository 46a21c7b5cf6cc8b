"""What both stages say about their plans, and what can be wrong with their number and size."""

import zlib
from typing import Any

import torch
from torch import nn

from examples.floorplan_diffusion.options import PlanOptions
from examples.floorplan_diffusion.plans import PlanSet, Splits
from snippets.framework.errors import UsageError


def places(options: PlanOptions, splits: Splits) -> int:
    """Return the places for corners in every plan. Raises UsageError when a plan needs more."""
    most = splits.most_corners()
    if options.corners is not None and options.corners < most:
        raise UsageError(f"--corners {options.corners}: the largest plan has {most}")
    return options.corners or most


def check_size(options: PlanOptions, splits: Splits) -> None:
    """Raise UsageError unless there is a batch of plans to learn from."""
    needed, count = options.batch_size * options.accumulate, len(splits.train)
    if needed > count:
        times = f" × --accumulate {options.accumulate}" if options.accumulate > 1 else ""
        raise UsageError(
            f"--batch-size {options.batch_size}{times}: there are only {count} plans to learn from"
        )


def describe_data(splits: Splits, most: int, model: nn.Module) -> dict[str, Any]:
    """Return what config.json says of plans and network."""
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "plans": {"train": len(splits.train), "val": len(splits.val), "test": len(splits.test)},
        "places": most,
        "mean_corners": round(splits.train.counts.float().mean().item(), 2),
        "data_crc32": fingerprint(splits.train, splits.val),
    }


def fingerprint(*parts: PlanSet) -> int:
    """Return a number that changes with any corner, kind or wall."""
    total = 0
    for plans in parts:
        for tensor in (plans.corners, plans.kinds, plans.counts, plans.walls):
            total = zlib.crc32(tensor.contiguous().view(torch.uint8).numpy(), total)
    return total


def data_lines(splits: Splits, config: dict[str, Any]) -> list[str]:
    """Return what a run says of its plans."""
    return [
        f"data       {splits.train.name}: {splits.train.source}",
        f"           {len(splits.train):,} plans to learn from, {len(splits.val):,} held out; "
        f"{config['mean_corners']:g} corners on average, places for {config['places']}",
    ]
