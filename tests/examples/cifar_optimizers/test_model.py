"""The network: its size, its shapes, its stem."""

import pytest
import torch

from examples.cifar_optimizers.model import ResidualBlock, ResNet18


@pytest.mark.parametrize("size", [8, 16, 32])
def test_shapes(size):
    model = ResNet18(10, width=4)
    images = torch.randn(2, 3, size, size)
    assert model.stem(images).shape == (2, 4, size, size)  # the stem shrinks nothing
    assert model.blocks(model.stem(images)).shape == (2, 32, size // 8, size // 8)
    assert model(images).shape == (2, 10)


def test_it_has_eighteen_layers_with_weights():
    modules = dict(ResNet18(10, 8).named_modules())
    layers = [
        name for name, module in modules.items() if isinstance(module, torch.nn.Conv2d | torch.nn.Linear)
    ]
    assert len([name for name in layers if "shortcut" not in name]) == 18


def test_the_shortcut_carries_the_input():
    """With a second normalisation that gives 0, a block passes its non-negative input on unchanged."""
    block = ResidualBlock(4, 4, stride=1)
    torch.nn.init.zeros_(block.norm2.weight)
    images = torch.rand(2, 4, 8, 8)
    assert torch.equal(block(images), images)
