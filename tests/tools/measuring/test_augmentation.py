"""The two ways of augmenting that are timed make the same kind of batch, and results go to their machine."""

import os
from datetime import date

import pytest
import torch
import yaml

from snippets.timing import Comparison, Spread
from tools.measuring import augmentation as measure_augmentation
from tools.measuring.augmentation import (
    MEAN,
    PADDING,
    SIZE,
    STD,
    image_by_image,
    main,
    random_images,
    whole_batch,
)

CPU = torch.device("cpu")
FOUND = Comparison(
    Spread(0.001, 0.0009, 0.002, 30), Spread(0.01234567, 0.01, 0.02, 30), Spread(12, 10, 15, 30)
)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return a file with an entry for the CPU alone, which the tool takes for its own."""
    path = tmp_path / "augmentation.yaml"
    path.write_text("- machine: {shared: true}\n  device: cpu\n- machine: {gpu: b}\n  device: cuda\n")
    monkeypatch.setattr(measure_augmentation, "DATA", path)
    monkeypatch.setattr(measure_augmentation, "measure", lambda *_: FOUND)
    return path


@pytest.mark.parametrize("way", [whole_batch, image_by_image])
def test_both_ways_shift_mirror_and_normalise(way):
    data = random_images()
    shades = torch.arange(2048) % 256
    data.train_images = shades.to(torch.uint8).view(-1, 1, 1, 1).repeat(1, 3, SIZE, SIZE)
    data.train_images[:, :, :, : SIZE // 2] = 0  # the left half is black, until an image is mirrored
    torch.manual_seed(0)
    batch = way(data, 200, CPU)()
    assert batch.shape == (200, 3, SIZE, SIZE)
    assert batch.dtype == torch.float32

    mean, std = (torch.tensor(values).view(3, 1) for values in (MEAN, STD))
    white = torch.arange(256) / 255
    expected = (white - mean) / std  # (3, 256)
    right, left = batch[:, :, SIZE // 2, -PADDING - 1], batch[:, :, SIZE // 2, PADDING]  # in any shift
    black = expected[:, 0].expand(200, 3)
    mirrored = (left - black).abs().amax(1) > 1e-6
    shown = torch.where(mirrored[:, None], left, right)
    distance = (shown[:, :, None] - expected).abs()  # to every shade, (200, 3, 256)
    assert (distance.amax(1).amin(1) < 1e-5).all(), "the three channels show one shade"
    assert 60 < mirrored.sum() < 140
    edges = (batch[:, :, SIZE // 2] != black[:, :, None]).any(1).float().argmax(1)
    assert len(edges.unique()) >= 2 * PADDING, "shifts differ"


def test_results_go_to_the_entry_of_their_device(stored, capsys):
    assert main(["--batch-size", "64"]) == 0
    assert "12.3" in capsys.readouterr().out
    other, mine = yaml.safe_load(stored.read_text(encoding="utf-8"))
    assert other == {"machine": {"gpu": "b"}, "device": "cuda"}
    assert mine["machine"]["shared"] and mine["machine"]["cpu_cores"] == os.cpu_count()
    assert mine["command"] == "python -m tools.measuring.augmentation --batch-size 64"
    assert (mine["batch_size"], mine["pairs"], mine["date"]) == (64, 30, date.today())
    assert mine["image_by_image"] == {"median": 0.01235, "low": 0.01, "high": 0.02}
    assert mine["versions"]["torch"] in torch.__version__
    assert mine["versions"].keys() == {"python", "torch", "torchvision", "pillow"}
    assert stored.read_text(encoding="utf-8").startswith("# By hand: shared and busy.")
