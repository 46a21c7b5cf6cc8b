"""Tests for any device: on a Mac they use MPS, on Linux with `--simulated-mps` as well."""

# --8<-- [start:tests]
from pathlib import Path

import torch
from torch import nn

DEVICE = torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def test_training_lowers_the_loss():
    """Finds missing operators, float64 and tensors left on the CPU in everything that a step calls."""
    torch.manual_seed(0)
    layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4)
    network = nn.Sequential(*layers).to(DEVICE)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    images = torch.randn(16, 3, 8, 8, device=DEVICE)
    labels = torch.arange(16, device=DEVICE) % 4
    losses = []
    for _ in range(8):
        loss = nn.functional.cross_entropy(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    assert losses[-1] < losses[0]


def test_a_checkpoint_opens_without_the_device(tmp_path: Path):
    """A checkpoint stores its device; on another machine `map_location` must be given."""
    weights = nn.Linear(3, 2).to(DEVICE).state_dict()
    torch.save(weights, tmp_path / "weights.pt")
    loaded = torch.load(tmp_path / "weights.pt", map_location="cpu", weights_only=True)
    assert {tensor.device.type for tensor in loaded.values()} == {"cpu"}


def test_distances_have_gradients():
    """On MPS, `cdist` has gradients since PyTorch 2.13."""
    points = torch.randn(6, 3, device=DEVICE, requires_grad=True)
    torch.cdist(points, points.flip(0)).sum().backward()
    assert points.grad.isfinite().all()


# --8<-- [end:tests]
