"""Samples by a table of chances: the announced law, and the losses that forecasters really get."""

import itertools
import math

import pytest
import torch
from torch.nn import functional as F

from examples.indicator_transformer import evaluate, predict
from examples.indicator_transformer.data_sources import load_for_training
from examples.indicator_transformer.generated_table import (
    CHANCES,
    draw_chances,
    draw_samples,
    regime,
    table_optimum,
)
from examples.indicator_transformer.options import resolve
from examples.indicator_transformer.usefulness import usefulness
from snippets.errors import exit_with_one_line

ROWS = 100_000


@pytest.fixture(scope="module")
def chances():
    return draw_chances(24)


@pytest.fixture(scope="module")
def samples(chances):
    return draw_samples(chances, ROWS)


def assert_mean(values, expected):
    """Assert the mean of independent values within five standard errors."""
    values = values.double()
    assert abs(values.mean().item() - expected) < 5 * values.std().item() / len(values) ** 0.5


# ---- The law ----


def test_chances_are_of_the_four_and_all_four_occur(chances):
    assert chances.shape == (24, 4)
    assert set(chances.flatten().tolist()) == set(CHANCES)
    assert torch.equal(draw_chances(24), chances)


def test_the_signs_of_two_features_are_the_regime():
    context = torch.full((4, 10), 5.0)
    context[:, :2] = torch.tensor([[-1.0, -0.1], [-2.0, 0.1], [0.1, -3.0], [1.0, 1.0]])
    assert regime(context).tolist() == [0, 1, 2, 3]


def test_usefulness_frequencies_are_those_of_the_table(chances, samples):
    regimes = regime(samples.market_context)
    assert set(samples.indicator_usefulness.unique().tolist()) == {0.0, 1.0}
    for number in range(4):
        here = samples.indicator_usefulness[regimes == number]
        assert_mean((regimes == number), 0.25)
        for indicator, chance in enumerate(chances[:, number].tolist()):
            assert_mean(here[:, indicator], chance)


@pytest.mark.slow
def test_nothing_else_tells_what_is_useful(chances, samples):
    """Once the regime is known: not the readings, the sizes and other features of the context, or others."""
    surprise = samples.indicator_usefulness - chances.T[regime(samples.market_context)].float()
    context = samples.market_context
    for seen in (samples.indicator_values, samples.indicator_values.abs() - 0.8, context[:, 2:]):
        for column in seen.T:
            correlation = (surprise * column[:, None]).mean(0) / (surprise.std(0) * column.std())
            assert correlation.abs().max() < 5 / ROWS**0.5
    between = torch.corrcoef(surprise.T) - torch.eye(24)
    assert between.abs().max() < 5 / ROWS**0.5


def test_labels_are_those_of_the_calls(samples):
    """The one definition of usefulness holds here, too."""
    assert torch.equal(usefulness(samples.calls, samples.future_return), samples.indicator_usefulness)
    assert set(samples.future_return.unique().tolist()) == {-1.0, 1.0}
    assert_mean(samples.future_return.flatten(), 0)


def test_equal_seeds_give_equal_rows(chances, samples):
    first, again, other = (draw_samples(chances, 500, seed) for seed in (3, 3, 4))
    for name, column in vars(first).items():
        assert torch.equal(column, vars(again)[name])
        assert name == "bar" or not torch.equal(column, vars(other)[name])


# ---- What can be reached ----


def entropy(p):
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def bce_per_row(probability, samples):
    useful = samples.indicator_usefulness.double()
    probability = probability.double().expand_as(useful)
    return F.binary_cross_entropy(probability, useful, reduction="none").mean(1)


def test_the_best_loss_is_what_the_table_itself_gets(chances, samples):
    optimum = table_optimum(chances, samples)
    assert optimum.best_bce == pytest.approx(sum(map(entropy, chances.flatten().tolist())) / 96)
    assert_mean(bce_per_row(chances.T[regime(samples.market_context)], samples), optimum.best_bce)


def test_the_blind_loss_is_what_a_blind_forecaster_gets(chances, samples):
    """No other forecast without context does better: the frequencies in these very rows hardly differ."""
    optimum = table_optimum(chances, samples)
    assert optimum.blind_bce == pytest.approx(sum(entropy(sum(row) / 4) for row in chances.tolist()) / 24)
    assert_mean(bce_per_row(chances.mean(1), samples), optimum.blind_bce)
    afterwards = bce_per_row(samples.indicator_usefulness.mean(0), samples).mean().item()
    assert afterwards == pytest.approx(optimum.blind_bce, abs=0.002)
    assert optimum.best_bce < 0.48 < 0.62 < optimum.blind_bce


def test_best_accuracy_equals_an_enumeration_of_calls():
    """Of three indicators, every set of calls is enumerated with its chance after a rise and after a fall."""
    chances = draw_chances(3)
    rows = draw_samples(chances, ROWS)
    expected = 0.0
    for column in chances.T.tolist():
        for calls in itertools.product((True, False), repeat=3):
            rise, fall = (
                math.prod(q if up == call else 1 - q for q, call in zip(column, calls, strict=True))
                for up in (True, False)
            )
            expected += max(rise, fall) / 2 / 4
    assert table_optimum(chances, rows).best_accuracy == pytest.approx(expected, abs=0.003)


# ---- The samples of a run ----


def test_the_last_rows_are_held_out(chances):
    data = load_for_training(resolve({"data": "table", "rows": 1000, "val_split": 0.3}))
    assert (len(data.training), len(data.validation), data.bars, data.unit) == (700, 300, 1000, "rows")
    rows = draw_samples(chances, 1000)
    assert torch.equal(data.training.indicator_values, rows.indicator_values[:700])
    assert torch.equal(data.validation.market_context, rows.market_context[700:])
    assert data.optimum == table_optimum(chances, data.validation)
    smallest = load_for_training(resolve({"data": "table", "rows": 100, "val_split": 0.001}))
    assert (len(smallest.training), len(smallest.validation)) == (99, 1)


def test_a_run_learns_most_of_the_table(undisturbed, tiny):
    run = undisturbed(("--data", "table", "--device", "cpu", "--epochs", "2"))
    summary, config = run.json("summary.json"), run.json("config.json")
    best, blind = summary["optimum"]["best_bce"], summary["optimum"]["blind_bce"]
    assert best - 0.01 < summary["val_bce"] < (best + blind) / 2
    assert 0.95 < summary["val_right"] <= 1
    assert (config["indicators"][-1], config["context"][-1]) == ("indicator_24", "feature_10")
    lines = (run.folder / "train.log").read_text().splitlines()
    assert "5,000 rows: usefulness by chance" in lines[4]
    assert "4,000 samples to learn from, the latest 1,000 held out" in lines[5]
    assert "BCE 0.6352 without context, 0.4590 at best; direction right for 99.98% at best" in lines[6]
    assert f"{(blind - summary['val_bce']) / (blind - best):.0%} of the way" in lines[-4]


@pytest.mark.parametrize("program", [evaluate, predict])
def test_programs_that_need_bars_say_so(undisturbed, tmp_path, capsys, program):
    """A network of the table would take a market's readings for noise: it must not be asked about them."""
    run = undisturbed(("--data", "table", "--device", "cpu", "--epochs", "2"))
    checkpoint = run.folder / "checkpoints" / "best.pt"
    (tmp_path / "ONE.csv").write_text("timestamp,open,high,low,close,volume\n")
    words = [checkpoint, *([tmp_path / "ONE.csv"] if program is predict else [])]
    capsys.readouterr()
    assert exit_with_one_line(program.main, [str(word) for word in words]) == 2
    assert f"{checkpoint} was trained on --data table, which has no bars" in capsys.readouterr().err
