"""Load the weights of pretrain.py, or published ones, into the network of train.py."""

from pathlib import Path
from typing import Any

from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.published_weights import is_published, read_published
from examples.programs.trained import load_best, newest_trained
from snippets.checkpoints import check_weights

SYSTEM = "genomic_caduceus/pretrain"
RUNS = Path("runs") / SYSTEM


def run_named(text: str) -> str:
    """Return the run folder of `train.pretrained=`. Raises UsageError when there is none."""
    if text != "newest":
        return text
    return str(newest_trained(RUNS, "pre-trained network", "python examples/genomic_caduceus/pretrain.py"))


def options_of(run: str) -> dict[str, Any]:
    """Return width, layers, state and rcps of published weights; {} for a run. Raises UsageError."""
    return read_published(Path(run)).options if is_published(Path(run)) else {}


def load_backbone(backbone: Backbone, run: str) -> str:
    """Load published weights, or the best of a pre-training, into the backbone; return their file's path.

    The head is unchanged, because the classes are new. Raises UsageError, also for a network of another size.
    """
    if is_published(Path(run)):
        published = read_published(Path(run))
        backbone.load_state_dict(published.weights)
        return str(published.file)
    content, checkpoint, _ = load_best(Path(run), SYSTEM)
    prefix = "backbone."
    weights = {
        name.removeprefix(prefix): value
        for name, value in content["model"].items()
        if name.startswith(prefix)
    }
    check_weights(backbone, weights)
    backbone.load_state_dict(weights)
    return str(checkpoint)
