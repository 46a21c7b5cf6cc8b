"""The training on one page is the full program's with --data generated."""

import pytest
import torch

from examples.programs.run_folder import read_metrics
from examples.two_tower import single_file, train
from tests.examples.single_file_runs import trains_the_same


def test_it_trains_the_network_of_the_full_program(undisturbed, tmp_path, monkeypatch, capsys):
    """Losses, which one adds up in float32, and weights bit by bit, after two epochs instead of ten."""
    run = undisturbed(("--data", "generated", "--device", "cpu", "--epochs", "2"))
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert single_file.EPOCHS == 10
    names = trains_the_same(single_file, run, monkeypatch)
    printed = capsys.readouterr().out.splitlines()
    epochs = [line for line in read_metrics(run.folder / "metrics.jsonl") if "mrr" in line]
    assert names["losses"] == pytest.approx([values["train_loss"] for values in epochs], rel=1e-6)
    assert len(epochs) == 2
    for line, values in zip(printed[4:], epochs, strict=False):
        assert line.split()[1:] == [
            f"{values['train_loss']:.4f}",
            f"{values['recall_1']:.1%}",
            f"{values['recall_5']:.1%}",
            f"{values['mrr']:.3f}",
        ]
    summary = run.json("summary.json")
    untrained, best = summary["untrained"]["recall_5"], summary["best"]["recall_5"]
    assert printed[2] == f"R@5 {untrained:.1%} without training, {best:.1%} at best"
    last = epochs[1]["recall_5"]
    assert printed[-2].startswith(f"R@5 {last:.1%}: {last / best:.0%} of the best possible")


def test_each_setting_means_what_the_option_means(run_train, without_curves, monkeypatch):
    """In few steps, with an article of a single row, and with gradients that are longer than allowed."""
    monkeypatch.setattr(train.Retrieval, "max_norm", 0.1)
    same = {"rows": 241, "noise": 0.5, "val_split": 0.3, "epochs": 2, "batch_size": 50, "lr": 1e-2}
    same |= {"weight_decay": 0.1, "seed": 3, "width": 16, "layers": 2, "temperature": 0.1}
    options = same | {"same_article_k": 2, "near_miss_k": 3, "precision": "bf16"}
    run = run_train(device="cpu", data="generated", **options)
    names = {"lr": "LEARNING_RATE", "val_split": "HELD_OUT"}
    settings = {names.get(name, name.upper()): value for name, value in same.items()}
    settings |= {"SAME_ARTICLE": 2, "NEAR_MISSES": 3, "PRECISION": "bf16", "MAX_NORM": 0.1, "DEVICE": "cpu"}
    for name, value in settings.items():
        monkeypatch.setattr(single_file, name, value)
    network, losses = single_file.train()
    expected = run.last["model"]
    assert [
        name for name, found in network.state_dict().items() if not torch.equal(found, expected[name])
    ] == []
    epochs = [line["train_loss"] for line in run.metrics if "mrr" in line]
    assert losses == pytest.approx(epochs, rel=1e-6)


def test_nan_loss_ends_it_in_one_line(monkeypatch, one_thread):
    monkeypatch.setattr(single_file, "LEARNING_RATE", float("inf"))
    monkeypatch.setattr(single_file, "ROWS", 480)
    with pytest.raises(SystemExit, match=r"^the loss became nan; lower LEARNING_RATE$"):
        single_file.train()
