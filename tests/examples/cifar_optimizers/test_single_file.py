"""The training on one page is the full program's."""

import runpy

import pytest
import torch

from examples.cifar_optimizers import single_file
from examples.programs.run_folder import read_metrics
from snippets.checkpoints import load_checkpoint


def test_it_trains_the_network_of_the_full_program(default_training, tmp_path, monkeypatch, capsys):
    """Bit by bit: ten epochs, as both do without any option."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["single_file.py"])
    _, run = default_training("cifar_optimizers")
    runpy.run_path(single_file.__file__, run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    expected = load_checkpoint(run / "checkpoints/last.pt")["model"]
    found = torch.load(tmp_path / "digits.pt")
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    epochs = [line for line in read_metrics(run / "metrics.jsonl") if "test_accuracy" in line]
    assert len(epochs) == single_file.EPOCHS
    for line, values in zip(printed[3:], epochs, strict=False):
        _, train_loss, test_loss, accuracy = line.split()
        assert train_loss == f"{values['train_loss']:.4f}"
        assert test_loss == f"{values['test_loss']:.4f}"
        assert accuracy == f"{values['test_accuracy']:.2%}"
    assert "99." in printed[-2] and "of the held-out digits right" in printed[-2]


@pytest.mark.program
def test_nan_loss_ends_it_in_one_line(monkeypatch, one_thread):
    monkeypatch.setattr(single_file, "LEARNING_RATE", 1e9)
    with pytest.raises(SystemExit, match=r"^the loss became nan; lower LEARNING_RATE$"):
        single_file.train()
