"""The network that pretrain.py left behind, for train.py to begin with."""

from pathlib import Path

from examples.genomic_caduceus.mamba import Backbone
from examples.programs.trained import load_best, newest_trained
from snippets.checkpoints import check_weights

SYSTEM = "genomic_caduceus/pretrain"
RUNS = Path("runs") / SYSTEM


def run_named(text: str) -> str:
    """Return the run folder that `train.pretrained=` means. Raises UsageError when there is none."""
    if text != "newest":
        return text
    return str(newest_trained(RUNS, "pre-trained network", "python examples/genomic_caduceus/pretrain.py"))


# --8<-- [start:load_backbone]
def load_backbone(backbone: Backbone, run: str) -> str:
    """Fill the backbone with the best weights of a pre-training, and return the file they are from.

    The head stays as it is: the classes are new. Raises UsageError, also for a network of another size.
    """
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


# --8<-- [end:load_backbone]
