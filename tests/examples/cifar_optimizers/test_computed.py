"""What pages say of the networks, docs/data/computed/cifar.yaml, is what the programs compute."""

import torch

from examples.cifar_optimizers.model import ResNet18, parameter_count
from tools.figures import DATA
from tools.read_yaml import read_yaml


def parameters(classes, width):
    with torch.device("meta"):  # counts without allocating
        return parameter_count(ResNet18(classes, width))


def test_the_pages_say_what_is_computed():
    assert read_yaml(DATA / "computed/cifar.yaml") == {
        "parameters": {width: parameters(10, width) for width in (8, 64)},
        "hundred_classes": parameters(100, 64),
    }
