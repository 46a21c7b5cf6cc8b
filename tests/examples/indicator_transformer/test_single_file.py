"""The training on one page is the full program's with --data table."""

from pathlib import Path

import pytest
import torch

from examples.indicator_transformer import single_file
from snippets.framework.run_folder import read_metrics

PATH = Path(single_file.__file__)


def test_it_trains_the_network_of_the_full_program(undisturbed, tmp_path, monkeypatch, capsys):
    """Losses and weights, these bit by bit, after two epochs instead of six."""
    run = undisturbed(("--data", "table", "--device", "cpu", "--epochs", "2"))
    text = PATH.read_text(encoding="utf-8")
    assert single_file.EPOCHS == 6 and text.count("EPOCHS = 6") == 1
    program = compile(text.replace("EPOCHS = 6", "EPOCHS = 2"), PATH, "exec")  # the lines keep their numbers
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    capsys.readouterr()
    names = {"__name__": "__main__"}
    exec(program, names)
    printed = capsys.readouterr().out.splitlines()
    found, expected = torch.load(tmp_path / "indicators.pt"), run.last["model"]
    assert found.keys() == expected.keys()
    assert [name for name in expected if not torch.equal(found[name], expected[name])] == []
    epochs = [line for line in read_metrics(run.folder / "metrics.jsonl") if "val_bce" in line]
    assert len(epochs) == 2
    for line, values in zip(printed[4:], epochs, strict=False):
        _, loss, bce, agreement = line.split()
        assert loss == f"{values['train_loss']:.4f}"
        assert (bce, agreement) == (f"{values['val_bce']:.4f}", f"{values['val_agreement']:.2%}")
    known = run.json("summary.json")["optimum"]
    assert printed[2] == f"BCE {known['blind_bce']:.4f} without context, {known['best_bce']:.4f} at best"
    way = (known["blind_bce"] - epochs[1]["val_bce"]) / (known["blind_bce"] - known["best_bce"])
    assert printed[-2].startswith(f"{way:.0%} of the way to the best BCE")


def test_a_loss_that_is_not_a_number_ends_it_in_one_line(monkeypatch, one_thread):
    monkeypatch.setattr(single_file, "LEARNING_RATE", float("inf"))
    monkeypatch.setattr(single_file, "ROWS", 500)
    with pytest.raises(SystemExit, match=r"^the loss became nan; lower LEARNING_RATE$"):
        single_file.train()
