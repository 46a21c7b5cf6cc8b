"""What pages say of the programs, docs/data/computed/floorplans.yaml, is what the programs compute."""

import pytest
import torch

from examples.floorplan_diffusion.alignment import alignment_loss
from examples.floorplan_diffusion.diffusion import STEPS
from examples.floorplan_diffusion.edge_network import EdgeNetwork, all_pairs
from examples.floorplan_diffusion.generate_options import FASTER
from examples.floorplan_diffusion.generated_plans import generate_plans, generate_splits
from examples.floorplan_diffusion.metrics import accuracy, pairs_of_corners
from examples.floorplan_diffusion.node_network import CHANNELS, NodeNetwork
from examples.floorplan_diffusion.options import (
    EDGE_RECIPES,
    EDGE_SIZES,
    NODE_RECIPES,
    NODE_SIZES,
    PlanOptions,
)
from examples.floorplan_diffusion.plans import MOST_CORNERS
from examples.floorplan_diffusion.train_edges import FLIPPED
from tools.figures import DATA
from tools.read_yaml import read_yaml


def parameters(network, size):
    with torch.device("meta"):  # counts without allocating
        return sum(weights.numel() for weights in network(size["width"], size["layers"]).parameters())


def greatest_alignment_loss():
    """Return the loss of two corners that are as far apart as can be."""
    opposite = torch.tensor([[(-1.0, -1.0), (1.0, 1.0)]])
    return alignment_loss(opposite, torch.ones(1, 2, dtype=torch.bool)).max().item()


def share_without_wall():
    """Return how often a network that never finds a wall would be right."""
    plans = generate_plans(300, [0, 2])
    true = plans.walls[pairs_of_corners(plans)]
    return accuracy(torch.zeros_like(true), true)


@pytest.mark.slow
def test_the_pages_say_what_is_computed():
    nodes, edges, folder = NODE_SIZES["origin"], EDGE_SIZES["origin"], EDGE_RECIPES["folder"]
    assert read_yaml(DATA / "computed/floorplans.yaml") == {
        "parameters": {"nodes": parameters(NodeNetwork, nodes), "edges": parameters(EdgeNetwork, edges)},
        "layers": {"nodes": nodes["layers"], "edges": edges["layers"]},
        "pairs": {"ordered": MOST_CORNERS**2, "once": len(all_pairs(MOST_CORNERS, torch.device("cpu"))[0])},
        "channels": CHANNELS,
        "greatest_alignment_loss": round(greatest_alignment_loss(), 2),
        "most_corners": generate_splits(PlanOptions.plans, 0).most_corners(),
        "share_without_wall": round(share_without_wall(), 1),
        "flipped_bits": FLIPPED,
        "steps": {"ddpm": STEPS, "ddim": FASTER},
        "folder": {
            "epochs": NODE_RECIPES["folder"]["epochs"],
            "node_batch": NODE_RECIPES["folder"]["batch_size"],
            "edge_batch": folder["batch_size"],
        },
    }
