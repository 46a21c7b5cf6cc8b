"""The training on one page is the full program's with --data table."""

import pytest
import torch

from examples.indicator_transformer import single_file, train
from examples.indicator_transformer.model import SIZES, Size
from examples.programs.run_folder import read_metrics
from tests.examples.single_file_runs import trains_the_same


def test_it_trains_the_network_of_the_full_program(undisturbed, tmp_path, monkeypatch, capsys):
    """Losses, which one adds up in float32, and weights bit by bit, after two epochs instead of six."""
    run = undisturbed(("--data", "table", "--device", "cpu", "--epochs", "2"))
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert single_file.EPOCHS == 6
    names = trains_the_same(single_file, run, monkeypatch)
    printed = capsys.readouterr().out.splitlines()
    epochs = [line for line in read_metrics(run.folder / "metrics.jsonl") if "val_bce" in line]
    assert names["losses"] == pytest.approx([values["train_loss"] for values in epochs], rel=1e-6)
    assert len(epochs) == 2
    for line, values in zip(printed[4:], epochs, strict=False):
        _, loss, bce, agreement = line.split()
        assert loss == f"{values['train_loss']:.4f}"
        assert (bce, agreement) == (f"{values['val_bce']:.4f}", f"{values['val_agreement']:.2%}")
    known = run.json("summary.json")["optimum"]
    assert printed[2] == f"BCE {known['blind_bce']:.4f} without context, {known['best_bce']:.4f} at best"
    way = (known["blind_bce"] - epochs[1]["val_bce"]) / (known["blind_bce"] - known["best_bce"])
    assert printed[-2].startswith(f"{way:.0%} of the way to the best BCE")


def test_each_setting_means_what_the_option_means(run_train, without_curves, monkeypatch):
    """In few steps, with dropout and with gradients that are longer than allowed."""
    monkeypatch.setitem(SIZES, "small", Size(16, 3, 2, 0.1))
    monkeypatch.setattr(train.IndicatorSelection, "max_norm", 0.1)
    options = {"rows": 500, "epochs": 2, "batch_size": 50, "lr": 1e-2, "weight_decay": 0.1, "seed": 3}
    run = run_train(device="cpu", data="table", indicators=111, **options)
    settings = {"ROWS": 500, "EPOCHS": 2, "BATCH_SIZE": 50, "LEARNING_RATE": 1e-2, "WEIGHT_DECAY": 0.1}
    settings |= {"SEED": 3, "INDICATORS": 111, "MAX_NORM": 0.1, "DROPOUT": 0.1, "DEVICE": "cpu"}
    settings |= {"WIDTH": 16, "LAYERS": 3, "HEADS": 2}
    for name, value in settings.items():
        monkeypatch.setattr(single_file, name, value)
    network, losses = single_file.train()
    expected = run.last["model"]
    assert all(torch.equal(weights, expected[name]) for name, weights in network.state_dict().items())
    epochs = [line["train_loss"] for line in run.metrics if "val_bce" in line]
    assert losses == pytest.approx(epochs, rel=1e-6)


def test_nan_loss_ends_it_in_one_line(monkeypatch, one_thread):
    monkeypatch.setattr(single_file, "LEARNING_RATE", float("inf"))
    monkeypatch.setattr(single_file, "ROWS", 500)
    with pytest.raises(SystemExit, match=r"^the loss became nan; lower LEARNING_RATE$"):
        single_file.train()
