"""Checks and descriptions of the training plans, for both stages."""

from typing import Any

from torch import nn

from examples.floorplan_diffusion.options import PlanOptions
from examples.floorplan_diffusion.plans import Splits
from snippets.errors import UsageError
from snippets.untrusted_checkpoints import tensors_crc32


def places(options: PlanOptions, splits: Splits) -> int:
    """Return the number of corners per plan, with padding. Raises UsageError when a plan has more."""
    most = splits.most_corners()
    if options.corners is not None and options.corners < most:
        raise UsageError(f"--corners {options.corners}: the largest plan has {most}")
    return options.corners or most


def describe_data(splits: Splits, most: int, model: nn.Module) -> dict[str, Any]:
    """Return the facts about plans and network for config.json."""
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "plans": {"train": len(splits.train), "val": len(splits.val), "test": len(splits.test)},
        "places": most,
        "mean_corners": round(splits.train.counts.float().mean().item(), 2),
        "data_crc32": tensors_crc32(
            tensor
            for plans in (splits.train, splits.val)
            for tensor in (plans.corners, plans.kinds, plans.counts, plans.walls)
        ),
    }


def data_lines(splits: Splits, config: dict[str, Any]) -> list[str]:
    """Return the lines about the plans of a run."""
    return [
        f"data       {splits.train.name}: {splits.train.source}",
        f"           {len(splits.train):,} plans to learn from, {len(splits.val):,} held out; "
        f"{config['mean_corners']:g} corners on average, places for {config['places']}",
    ]
