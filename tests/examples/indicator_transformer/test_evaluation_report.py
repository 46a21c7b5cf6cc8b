"""Numbers of an evaluation against forecasters whose worth is known, and against hand calculations."""

import statistics
from dataclasses import replace

import pytest
import torch
from torch import nn

from examples.indicator_transformer.context_features import CONTEXT
from examples.indicator_transformer.evaluation import evaluate
from examples.indicator_transformer.evaluation_data import frequencies
from examples.indicator_transformer.evaluation_report import (
    BINS,
    REGIMES,
    Reference,
    aimed_at,
    by_family,
    calibrate,
    calibration_error,
    concentration,
    direction,
    losses,
    regime,
    report,
    selected_by_regime,
    selection,
)
from examples.indicator_transformer.generated_bars import HORIZON, generate_market
from examples.indicator_transformer.indicators import SMALL
from examples.indicator_transformer.loss import best_probability
from examples.indicator_transformer.samples import Samples, constant_readings, make_samples
from examples.indicator_transformer.usefulness import (
    Optimum,
    expected_usefulness,
    known_optimum,
    usefulness,
)

TREND = {"sma", "ema", "atr", "obv"}
CONTRARY = {"rsi", "bollinger", "support_resistance"}


class Oracle(nn.Module):
    """A "network" whose logits are the readings that it is shown; all indicators weigh the same."""

    def forward(self, values, context):
        return values, torch.full_like(values, 1 / values.shape[1])


@pytest.fixture(scope="module")
def market():
    """Return about a thousand samples of a generated market, and the chance of a rise at each (n, 1)."""
    made = generate_market(60_000, seed=3)
    samples = make_samples(made.bars, SMALL, HORIZON, 60)
    return samples, torch.from_numpy(made.chance_of_rise(HORIZON))[samples.bar].unsqueeze(1)


@pytest.fixture(scope="module")
def examined(market):
    """Return a function that gives the report on a forecaster with the probabilities (n, indicators)."""
    samples, chance = market
    reference = Reference(frequencies(samples), known_optimum(samples.calls, chance))

    def examine(probability):
        shown = replace(samples, indicator_values=probability.clamp(1e-6, 1 - 1e-6).logit())
        return report(Oracle(), shown, SMALL, reference)

    return examine


def of_calls(market, chance):
    return expected_usefulness(market[0].calls.double(), chance.double())


@pytest.fixture(scope="module")
def knowing(market, examined):
    return examined(of_calls(market, market[1]))


def test_known_chances_reach_best_loss_and_calibration(knowing):
    found, calibration = knowing["losses"], knowing["calibration"]
    assert found["network"] == pytest.approx(found["best"], abs=3 * found["network_standard_error"])
    assert found["best"] < found["blind"] < found["frequency"]
    assert found["network_standard_error"] < 0.03 < (found["blind"] - found["best"]) / 4
    assert len(calibration["bins"]) >= 9
    for part in calibration["bins"]:
        assert part["observed"] == pytest.approx(part["predicted"], abs=4 * part["standard_error"] + 1e-3)
    assert calibration["error"] < 0.015


def test_ignoring_context_reaches_blind_loss_and_no_forecast(market, examined):
    blind = examined(of_calls(market, torch.full_like(market[1], 0.5)))
    found = blind["losses"]
    assert found["network"] == pytest.approx(found["blind"], abs=3 * found["network_standard_error"])
    assert blind["selected"]["mean"] == 0  # never is one more likely right than wrong
    assert (blind["direction"]["right"], blind["direction"]["without_forecast"]) == (0.5, 1)


def test_sparsity_term_moves_calibration_to_the_aim(market, examined):
    modest = examined(best_probability(of_calls(market, market[1])))["calibration"]
    for part in modest["bins"]:
        assert part["observed"] == pytest.approx(part["expected"], abs=4 * part["standard_error"] + 1e-3)
        assert part["predicted"] < part["expected"]
    assert modest["error_from_aim"] < modest["error"]


def test_the_aim_is_the_inverse_of_the_best_probability():
    useful = torch.linspace(0, 1, 101, dtype=torch.float64)
    for sparsity in (0, 0.1, 1):
        assert torch.allclose(aimed_at(best_probability(useful, sparsity), sparsity), useful, atol=1e-12)


def test_constant_frequencies_are_a_baseline_by_laplaces_rule():
    useful = torch.tensor([[1.0, 0.0], [0.5, 0.0], [1.0, 0.0]])
    samples = Samples(*[useful] * 5, torch.arange(3))
    rule = frequencies(samples)
    assert rule.tolist() == pytest.approx([3.5 / 5, 1 / 5])
    one = torch.ones(1, 1)
    found = losses(
        torch.zeros(1, 2), Samples(*[one.expand(1, 2)] * 3, one, one.expand(1, 2), one), Reference(rule)
    )
    assert found["frequency"] == pytest.approx(
        -(torch.tensor(0.7).log() + torch.tensor(0.2).log()).item() / 2
    )
    assert found["network"] == pytest.approx(torch.tensor(2.0).log().item())
    assert (found["blind"], found["best"], found["network_standard_error"]) == (None, None, None)


def test_on_pure_noise_the_calls_alone_beat_constant_frequencies():
    """Whoever knows how strong the calls are has a lower loss, though nobody knows where prices go."""
    torch.manual_seed(0)
    calls, move = torch.rand(4000, 5) * 2 - 1, torch.randn(4000, 1)
    useful = usefulness(calls, move)
    samples = Samples(calls, calls, useful, move, calls, torch.arange(4000))
    found = losses(torch.zeros(4000, 5), samples, Reference(frequencies(samples)))
    blind = known_optimum(calls, torch.full((4000, 1), 0.5)).blind_bce  # what they reach on average
    assert found["calls"] == pytest.approx(blind, rel=0.02)
    assert found["frequency"] > found["calls"] + 0.05
    known = losses(torch.zeros(4000, 5), samples, Reference(optimum=Optimum(0.1, 0.2, 0.9)))
    assert known["calls"] is None  # "blind", their loss on average, stands there instead


def test_readings_that_never_change_are_counted():
    values = torch.randn(50, 4)
    values[:, [1, 3]] = torch.tensor([0.0, 7.5])
    samples = Samples(*[values] * 5, torch.arange(50))
    assert constant_readings(samples) == "2 of 4 readings never change on these bars"
    assert constant_readings(Samples(*[torch.randn(50, 4)] * 5, torch.arange(50))) is None


def test_bins_and_their_errors_by_hand():
    """Two samples of three indicators; 1.0 belongs to the last bin."""
    probability = torch.tensor([[0.02, 0.08, 1.0], [0.05, 0.55, 0.57]])
    useful = torch.tensor([[0.0, 0.6, 1.0], [0.0, 0.2, 1.0]])
    first, middle, last = calibrate(probability, useful)
    assert [(part.low, part.high, part.count) for part in (first, middle, last)] == [
        (0.0, 0.1, 3),
        (0.5, 0.6, 2),
        (0.9, 1.0, 1),
    ]
    assert (first.predicted, first.observed) == (pytest.approx(0.05), pytest.approx(0.2))
    # Deviations of the samples: -0.2 + 0.4 = 0.2 and -0.2; √(0.04 + 0.04) / 3, times √2 for two samples.
    assert first.standard_error == pytest.approx(0.4 / 3)
    assert (middle.predicted, middle.observed) == (pytest.approx(0.56), pytest.approx(0.6))
    assert (middle.standard_error, last.standard_error) == (None, None)
    assert calibration_error([first, middle, last]) == pytest.approx((3 * 0.15 + 2 * 0.04 + 0) / 6)
    assert first.expected == pytest.approx(0.05 + 0.1 * (0.02 * 0.98 + 0.08 * 0.92 + 0.05 * 0.95) / 3)
    assert BINS == 10


def test_labels_of_one_sample_are_no_independent_evidence():
    """Repeating each indicator a hundred times must not shrink the standard error."""
    probability, useful = torch.full((50, 1), 0.42), torch.arange(50)[:, None] % 2 * 1.0
    (once,), (often,) = (calibrate(probability.repeat(1, n), useful.repeat(1, n)) for n in (1, 100))
    assert once.standard_error == pytest.approx(0.5 / 49**0.5)
    assert often.standard_error == pytest.approx(once.standard_error)


def test_regimes_are_the_signs_of_two_features():
    context = torch.zeros(5, len(CONTEXT))
    volume, volatility = CONTEXT.index("volume_profile"), CONTEXT.index("volatility_regime")
    context[:, volume] = torch.tensor([-1.0, -1, 1, 1, 0])
    context[:, volatility] = torch.tensor([-1.0, 1, -1, 1, 0])
    assert regime(context).tolist() == [0, 1, 2, 3, 0]
    assert REGIMES[1] == "low volume, volatile"


def test_selection_is_counted_in_each_regime():
    probability = torch.tensor([[0.9, 0.5], [0.1, 0.51], [0.6, 0.2]])
    shares = selected_by_regime(probability, torch.tensor([0, 0, 3]))
    assert shares[:, [0, 3]].tolist() == [[0.5, 1.0], [0.5, 0.0]]
    assert shares[:, 1:3].isnan().all()  # no sample, no share


def test_families_are_means_and_keep_opposite_calls_apart():
    shares = torch.arange(len(SMALL) * 4, dtype=torch.float64).view(-1, 4) / 100
    shares[:, 3] = torch.nan
    entries = selection(SMALL, shares)
    calls = [entry["calls"] for entry in entries]
    assert calls == sorted(calls, reverse=True)  # "with the move" first, then "back to the middle"
    assert {entry["name"] for entry in entries} == {indicator.name for indicator in SMALL}
    families = {(row["family"], row["calls"]): row for row in by_family(entries)}
    own = torch.stack([shares[i] for i, indicator in enumerate(SMALL) if indicator.family == "rsi"])
    row = families["rsi", "back to the middle"]
    assert row["selected"][:3] == pytest.approx(own.mean(0)[:3].tolist())
    assert (row["selected"][3], row["name"]) == (None, "rsi (3)")
    assert {("vwap", "with the move"), ("vwap", "back to the middle")} <= families.keys()


def test_known_chances_select_trend_families_by_volume(knowing):
    """The market says so: whoever knows the chances selects by volume, not by volatility."""
    for row in knowing["families"]:
        low_calm, low_volatile, high_calm, high_volatile = row["selected"]
        if row["family"] in TREND:
            assert min(high_calm, high_volatile) > 3 * max(low_calm, low_volatile), row
        if row["family"] in CONTRARY:
            assert min(low_calm, low_volatile) > 3 * max(high_calm, high_volatile), row
    assert {row["family"] for row in knowing["families"]} >= TREND | CONTRARY
    assert sum(part["samples"] for part in knowing["regimes"]) == knowing["samples"]


def test_direction_by_hand():
    forecasts, future = torch.tensor([0.5, -0.1, 0.2, 0.0]), torch.tensor([1.0, -2.0, -1.0, 3.0])
    found = direction(forecasts, future, None)
    assert (found["right"], found["samples"], found["without_forecast"]) == (0.625, 4, 0.25)
    scores = [1, 1, 0, 0.5]
    assert found["standard_error"] == pytest.approx(statistics.pstdev(scores) / 2)
    assert found["best"] is None


def test_who_never_forecasts_is_half_right_for_certain():
    found = direction(torch.zeros(5), torch.tensor([1.0, -2.0, -1.0, 3.0, 1.0]), None)
    assert (found["right"], found["standard_error"], found["without_forecast"]) == (0.5, 0, 1)


def test_known_direction_is_right_as_often_as_possible(market):
    samples, chance = market
    known = known_optimum(samples.calls, chance)
    found = direction((chance - 0.5).squeeze(1), samples.future_return.squeeze(1), known)
    assert found["right"] == pytest.approx(found["best"], abs=3 * found["standard_error"])


def test_concentration_of_weights():
    logits = torch.tensor([[1.0, 1, -1], [1, -1, -1], [-1, -1, -1]])
    weights = torch.tensor([[0.2, 0.2, 0.6], [0.1, 0.8, 0.1], [0.4, 0.3, 0.3]])
    found = concentration(logits, weights)  # two equal ones, a single one, none
    assert found["mean"] == 1
    assert found["concentration"] == pytest.approx((0.5 + 1) / 2)
    assert found["like_equal_weights_of"] == pytest.approx((2 + 1) / 2)
    assert concentration(-logits.abs(), weights)["concentration"] is None


def test_the_report_agrees_with_the_evaluation_during_training(market, knowing):
    samples, chance = market
    probability = of_calls(market, chance).clamp(1e-6, 1 - 1e-6)
    means = evaluate(Oracle(), replace(samples, indicator_values=probability.logit()))
    assert knowing["losses"]["network"] == pytest.approx(means["val_bce"], rel=1e-5)
    assert knowing["selected"]["mean"] == pytest.approx(means["val_selected"], rel=1e-5)
    assert knowing["selected"]["agreement"] == pytest.approx(means["val_agreement"], rel=1e-5)
    assert knowing["direction"]["right"] == pytest.approx(means["val_right"], rel=1e-5)


def test_what_is_not_known_is_not_invented(market):
    found = report(Oracle(), market[0][torch.arange(1)], SMALL, Reference())
    assert found["direction"]["best"] is None
    assert found["losses"]["network_standard_error"] is None
    assert sum(None in entry["selected"] for entry in found["indicators"]) == len(SMALL)
