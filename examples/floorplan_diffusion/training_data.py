"""What both stages say about their plans, and what can be wrong with their number and size."""

from typing import Any

from torch import nn

from examples.floorplan_diffusion.options import PlanOptions
from examples.floorplan_diffusion.plans import Splits
from snippets.checkpoint_content import tensors_crc32
from snippets.errors import UsageError


def places(options: PlanOptions, splits: Splits) -> int:
    """Return the places for corners in every plan. Raises UsageError when a plan needs more."""
    most = splits.most_corners()
    if options.corners is not None and options.corners < most:
        raise UsageError(f"--corners {options.corners}: the largest plan has {most}")
    return options.corners or most


def describe_data(splits: Splits, most: int, model: nn.Module) -> dict[str, Any]:
    """Return what config.json says of plans and network."""
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
    """Return what a run says of its plans."""
    return [
        f"data       {splits.train.name}: {splits.train.source}",
        f"           {len(splits.train):,} plans to learn from, {len(splits.val):,} held out; "
        f"{config['mean_corners']:g} corners on average, places for {config['places']}",
    ]
