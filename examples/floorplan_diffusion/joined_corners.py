"""Join corners to plans, with the trained network of stage 2."""

from dataclasses import replace

import torch

from examples.floorplan_diffusion.edge_network import EdgeNetwork, all_pairs, wall_scores
from examples.floorplan_diffusion.plans import Plan, PlanSet


# --8<-- [start:join_corners]
def join_corners(
    network: EdgeNetwork, plans: list[Plan], device: torch.device, batch_size: int = 64
) -> list[Plan]:
    """Return the plans with the walls that the network predicts."""
    joined = []
    for start in range(0, len(plans), batch_size):
        some = plans[start : start + batch_size]
        batch = PlanSet.of("sampled", "", some)
        pairs = all_pairs(batch.corners.shape[1], device)
        columns = batch.corners.float(), batch.kinds.float(), batch.counts
        scores = wall_scores(network, *(column.to(device) for column in columns), pairs)
        found = (scores.argmax(-1) == 1) & (pairs[1] < batch.counts.to(device).unsqueeze(1))
        for plan, walls in zip(some, found.cpu(), strict=True):
            joined.append(replace(plan, walls=pairs.cpu()[:, walls].T.numpy()))
    return joined


# --8<-- [end:join_corners]
