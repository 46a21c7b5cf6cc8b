"""Whole runs: what is learned, what is written, what is said."""

import json
import math

import pandas
import pytest
import torch

from examples.indicator_transformer import train
from examples.indicator_transformer.context_features import CONTEXT
from examples.indicator_transformer.data_sources import load_for_training
from examples.indicator_transformer.evaluation import evaluate
from examples.indicator_transformer.generated_bars import generate_market
from examples.indicator_transformer.indicators import INDICATORS, SMALL
from examples.indicator_transformer.model import SIZES, IndicatorTransformer
from examples.indicator_transformer.options import resolve
from snippets.checkpoints import load_checkpoint

pytestmark = pytest.mark.unmeasured


@pytest.fixture
def default_run(default_training):
    """Return what the script printed for a newcomer, and its run folder."""
    return default_training("indicator_transformer")


def test_the_default_run_learns_what_the_context_announces(default_run):
    _, folder = default_run
    summary, config = (json.loads((folder / f"{name}.json").read_text()) for name in ("summary", "config"))
    optimum = summary["optimum"]
    assert optimum["blind_bce"] == pytest.approx(0.447, abs=0.01)
    assert optimum["best_bce"] == pytest.approx(0.266, abs=0.01)
    assert optimum["best_accuracy"] == pytest.approx(0.9032, abs=1e-4)
    assert optimum["best_bce"] < summary["val_bce"] < (optimum["blind_bce"] + optimum["best_bce"]) / 2
    assert 0.75 < summary["val_right"] < optimum["best_accuracy"] + 0.02
    assert 0.85 < summary["val_agreement"] < 1
    assert summary["steps"] == 6 * 62
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == sorted({*range(10, 373, 10), *range(62, 373, 62)})
    measures = {"train_loss", "train_bce", "val_bce", "val_selected", "val_agreement", "val_right"}
    assert all(measures <= line.keys() for line in lines if line["step"] % 62 == 0)
    assert lines[-1]["lr"] == pytest.approx(3e-3 * (1 + math.cos(math.pi * 371 / 372)) / 2)
    # A prediction must know which readings the network expects.
    assert config["indicators"] == [indicator.name for indicator in SMALL]
    assert config["context"] == list(CONTEXT)
    assert (config["interval"], config["parameters"]) == ("0 days 00:01:00", 36_130)
    options = [config["options"][name] for name in ("bars", "horizon", "stride", "val_split")]
    assert options == [300_000, 20, 60, 0.2]


def test_the_default_run_says_what_it_does(default_run):
    out, folder = default_run
    lines = out.splitlines()
    starts = ["network", "versions", "device", "precision", "data", "", "", "recipe", "run", "epoch"]
    assert [line.split(" ")[0] for line in lines[:10]] == starts
    assert "set transformer, small: 36,130 parameters, 24 indicators" in lines[0]
    assert torch.__version__ in lines[1]
    assert "automatic choice" in lines[2]
    assert "300,000 bars: generated minute bars; volume announces the next 60 bars" in lines[4]
    assert "samples to learn from, the latest 9" in lines[5]
    assert "with the calls alone, 0.26" in lines[6] and "right for 90.32% at best" in lines[6]
    assert "AdamW, lr 0.003 (cosine), weight decay 1e-05, 372 steps of 64 samples, 62 per epoch" in lines[7]
    table = [line.split() for line in lines[10:16]]
    assert [row[:2] for row in table] == [[str(epoch), str(62 * epoch)] for epoch in range(1, 7)]
    assert {len(line) for line in lines[10:16]} == {len(lines[9])}  # the columns do not move
    summary = json.loads((folder / "summary.json").read_text())
    assert lines[16].startswith(f"done       BCE {summary['val_bce']:.4f}, direction right for ")
    optimum = summary["optimum"]
    way = (optimum["blind_bce"] - summary["val_bce"]) / (optimum["blind_bce"] - optimum["best_bce"])
    assert lines[17].split()[0] == f"{way:.0%}"
    assert "\r" not in out  # no progress bar in a file
    assert (folder / "train.log").read_text() == out


def test_weights_of_a_run_work_elsewhere(undisturbed, tiny):
    """The checkpoint alone, with raw readings, gives the loss that was reported: it has the normaliser."""
    run = undisturbed(tiny())
    content = load_checkpoint(run.folder / "checkpoints" / "best.pt", "indicator_transformer")
    names = [indicator.name for indicator in SMALL]
    assert content["config"]["indicators"] == names
    model = IndicatorTransformer(len(names), len(CONTEXT), SIZES[content["config"]["options"]["size"]])
    model.load_state_dict(content["model"])
    data = load_for_training(resolve({"bars": 3000, "stride": 8, "batch_size": 16}))
    assert evaluate(model, data.validation)["val_bce"] == pytest.approx(
        run.json("summary.json")["best_val_bce"], abs=1e-6
    )
    readings = data.training.indicator_values  # and not those of the held-out samples
    torch.testing.assert_close(model.value_mean, readings.mean(0))
    torch.testing.assert_close(model.value_std, readings.std(0, correction=0))


def test_another_seed_changes_the_network_and_not_the_market(run_train, tiny, without_curves):
    one, other = (run_train(*tiny(max_steps=1, seed=seed)).last["model"] for seed in (3, 4))
    assert torch.equal(one["value_mean"], other["value_mean"])
    assert not torch.equal(one["identity.weight"], other["identity.weight"])


def test_accumulated_passes_are_one_step_of_a_larger_batch(run_train, tiny, without_curves):
    """The loss and each gradient are means over samples, and no layer mixes those."""
    whole = run_train(*tiny(max_steps=6, batch_size=32), out="whole")
    parts = run_train(*tiny(max_steps=6, batch_size=8, accumulate=4), out="parts")
    assert "6 steps of 32 samples in 4 passes of 8" in parts.out
    for name, weights in whole.last["model"].items():
        torch.testing.assert_close(weights, parts.last["model"][name], rtol=0, atol=2e-4)
    losses = [run.json("summary.json")["train_loss"] for run in (whole, parts)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_short_runs(run_train, tiny):
    run = run_train(*tiny(max_steps=15))
    assert [line["step"] for line in run.metrics] == [10, 13, 15]
    assert run.metrics[-1]["lr"] == pytest.approx(3e-3 * (1 + math.cos(math.pi * 14 / 15)) / 2)
    run = run_train(quick=True, device="cpu")
    assert run.last["step"] == 6
    assert "30,000 bars" in run.out
    blind = run.json("summary.json")["optimum"]["blind_bce"]
    assert f"not yet as low as the loss with the calls alone, {blind:.4f}" in run.out


def test_google_brought_along_by_matplotlib(run_train):
    """Daily bars: enough to see that reader, indicators and training go together."""
    run = run_train(data="goog", device="cpu", epochs=2)
    assert "1,047 bars: Google, daily, sample data of Matplotlib" in run.out
    assert "far too little to learn from" in run.out
    assert "at best" not in run.out  # nobody knows it
    assert run.json("config.json")["interval"] == "1 days 00:00:00"
    assert run.json("summary.json")["optimum"] is None


@pytest.fixture
def folder_of_bars(tmp_path):
    """Return a folder with a CSV and a Parquet file of different lengths, beginning at different times."""
    folder = tmp_path / "bars of two"
    folder.mkdir()
    tables = [generate_market(count, seed).bars.table for seed, count in ((1, 2400), (2, 3000))]
    tables[1].index += pandas.Timedelta(hours=3)
    tables[0].to_csv(folder / "ONE.csv")
    tables[1].reset_index().to_parquet(folder / "TWO.parquet")
    (folder / "notes.txt").write_text("left alone")
    return folder


def test_a_folder_of_bars(run_train, tiny, folder_of_bars):
    run = run_train(*tiny(stride=10, epochs=2), data=folder_of_bars)
    assert "5,400 bars: " in run.out
    assert f"2 symbols (ONE, TWO) of {folder_of_bars}, every 1 minute" in run.out
    assert "BCE: no verdict against the calls alone: " in run.out
    assert "at best" not in run.out
    assert run.json("config.json")["options"]["data_name"] == "folder"
    assert run.json("summary.json")["val_bce"] < 0.8


@pytest.mark.long
def test_the_network_of_the_guide_takes_a_step(run_train):
    sizes = {"size": "origin", "bars": 3000, "stride": 60, "val_split": 0.05, "batch_size": 2}
    run = run_train(device="cpu", max_steps=1, **sizes)
    assert "origin: 4,894,082 parameters, 111 indicators" in run.out
    assert "AdamW, lr 0.0001 (cosine)" in run.out
    config = run.json("config.json")
    assert config["indicators"] == [indicator.name for indicator in INDICATORS]
    assert config["options"]["epochs"] == 50
    assert run.last["model"]["identity.weight"].shape == (111, 256)


@pytest.mark.long
def test_network_without_context_hardly_beats_the_calls(run_train, monkeypatch):
    """The context is set to 0 in all samples; of the readings, the VWAP's alone knows some of the volume."""

    def without_context(options):
        data = load_for_training(options)
        for samples in (data.training, data.validation):
            samples.market_context.zero_()
        return data

    monkeypatch.setattr(train, "load_for_training", without_context)
    run = run_train(device="cpu", epochs=4)
    summary = run.json("summary.json")
    assert summary["best_val_bce"] > summary["optimum"]["blind_bce"] - 0.01
    assert summary["val_right"] < 0.6


@pytest.mark.long
def test_a_compiled_run(run_train, tiny, undisturbed):
    run = run_train(*tiny(), compile=True)
    assert "compiled by" in run.json("config.json")["compile"]
    exact, found = (one.json("summary.json")["val_bce"] for one in (undisturbed(tiny()), run))
    assert found == pytest.approx(exact, abs=1e-3)


# ---- Worker processes ----


@pytest.mark.program
def test_a_worker_brings_the_same_batches():
    typed = {"device": "cpu", "bars": 3000, "stride": 8, "batch_size": 16, "accumulate": 2, "seed": 5}
    alone, with_worker = (train.PROGRAM.prepare({**typed, "workers": workers}) for workers in (0, 1))
    for first, second in zip(alone.batches(2, 3), with_worker.batches(2, 3), strict=True):
        assert [column.shape for column in first] == [(32, 24), (32, 10), (32, 24)]
        assert all(torch.equal(*pair) for pair in zip(first, second, strict=True))


@pytest.mark.long
def test_workers_train_the_same_network(run_train, tiny, undisturbed):
    two = run_train(*tiny(), workers=2)
    weights = [run.last["model"] for run in (undisturbed(tiny()), two)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
