"""The table of what checkpoints cost says what was measured."""

from pathlib import Path

import pytest
import torch
import yaml

from examples.cifar_optimizers.model import ResNet18, parameter_count

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def render(import_hook):
    return import_hook("checkpoint_cost").render


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_shows_the_measurement(render, language):
    machine = yaml.safe_load((ROOT / "docs/data/results/checkpoint_cost.yaml").read_text(encoding="utf-8"))[0]
    lines = render(language).splitlines()[:7]
    for line, step in zip(lines[2:5], ("save", "check", "load"), strict=True):
        median, low, high = (f"{1000 * machine[step][key]:.3g}" for key in ("median", "low", "high"))
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[1] == f"{median} ms"
        assert low in cells[2]
        assert high in cells[2]
    for fact in (machine["machine"]["gpu"], machine["command"], str(machine["date"]), "89.5 MB"):
        assert fact in lines[-1]


def test_the_checkpoint_was_that_of_the_full_network(render):
    """Weights, running statistics and one momentum per weight; the rest is some kilobytes."""
    machines = yaml.safe_load((ROOT / "docs/data/results/checkpoint_cost.yaml").read_text(encoding="utf-8"))
    with torch.device("meta"):
        model = ResNet18(10, 64)
    buffers = sum(buffer.numel() * buffer.element_size() for buffer in model.buffers())
    numbers = 2 * 4 * parameter_count(model) + buffers
    assert all(numbers < machine["bytes"] < 1.001 * numbers for machine in machines)
