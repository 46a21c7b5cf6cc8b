"""What pages say of the programs, docs/data/computed/genomic.yaml, is what the programs compute."""

import pytest
import torch

from examples.genomic_caduceus.generated_sequences import markov_floors
from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.model import Classifier
from examples.genomic_caduceus.options import TRAIN
from tools.figures import DATA
from tools.read_yaml import read_yaml

SAID = read_yaml(DATA / "computed/genomic.yaml")


def parameters(words):
    """Return the parameters of the backbone that the words lead to, and those of a head for two classes."""
    values = TRAIN.values(words)
    with torch.device("meta"):  # counts without allocating
        backbone = Backbone(*(values[f"model.config.{key}"] for key in ("d_model", "n_layer", "d_state")))
        head = Classifier(backbone, 2).head
    return [sum(weights.numel() for weights in part.parameters()) for part in (backbone, head)]


@pytest.mark.slow
def test_the_pages_say_what_is_computed():
    assert {
        "parameters": {words: parameters(f"model={words}".split())[0] for words in SAID["parameters"]},
        "head": parameters(["model=caduceus"])[1],
        "experiment": sum(parameters(["experiment=hg38/mps_optimized_genomic_benchmark"])),
        "floors": {seen: round(floor, 4) for seen, floor in markov_floors().items()},
    } == SAID
