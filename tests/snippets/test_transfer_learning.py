"""Transfer learning as pasted, without the download: the network below the new layer has random weights."""

import copy
import runpy
from pathlib import Path

import pytest
import torch
from PIL import Image
from torchvision import models

SCRIPT = Path(__file__).resolve().parents[2] / "snippets/transfer_learning.py"


@pytest.mark.program
def test_only_the_new_layer_learns(tmp_path, monkeypatch, capsys):
    """Red and blue pictures differ in random features, too, so the held-out ones are told apart."""
    asked, fresh = [], []

    def random_resnet18(weights):
        asked.append(weights)
        fresh.append(models.ResNet(models.resnet.BasicBlock, [2, 2, 2, 2]))
        fresh.append(copy.deepcopy(fresh[0].state_dict()))
        return fresh[0]

    for name, colour in {"cat": (200, 30, 30), "dog": (30, 30, 200)}.items():
        (tmp_path / "my_pictures" / name).mkdir(parents=True)
        for number in range(5):
            picture = Image.new("RGB", (40, 30), tuple(value + 5 * number for value in colour))
            picture.save(tmp_path / "my_pictures" / name / f"{number}.jpg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(models, "resnet18", random_resnet18)
    torch.manual_seed(0)
    names = runpy.run_path(str(SCRIPT))
    assert asked == ["DEFAULT"]
    network, before = fresh
    after = network.state_dict()
    assert names["model"] is network and not network.training
    assert all(torch.equal(after[name].cpu(), value) for name, value in before.items() if name[:3] != "fc.")
    assert network.fc.weight.shape == (2, 512)
    learned, held_out = set(names["learned"].indices), set(names["held_out"].indices)
    assert (len(learned), len(held_out), learned & held_out) == (8, 2, set())
    assert capsys.readouterr().out == "2 of 2 held-out pictures right\n"
