"""What is said about a network on held-out samples, against numbers worked out by hand."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from examples.indicator_transformer import evaluation
from examples.indicator_transformer.evaluation import evaluate, forecast, predictions
from examples.indicator_transformer.samples import Samples


class Table(nn.Module):
    """Gives the logits and weights that stand in the readings; a context of 1 turns the signs."""

    def forward(self, values, context):
        """Return logits and weights (batch, 3) from values (batch, 6)."""
        assert not self.training and not torch.is_grad_enabled()
        return values[:, :3] * (1 - 2 * context), F.softmax(values[:, 3:], 1)


def samples(logits, weights, useful, calls, returns, context=0.0):
    logits, useful, calls = (torch.tensor(part, dtype=torch.float32) for part in (logits, useful, calls))
    count = len(logits)
    return Samples(
        torch.cat([logits, torch.tensor(weights).log()], 1),
        torch.full((count, 1), context),
        useful,
        torch.tensor(returns, dtype=torch.float32).unsqueeze(1),
        calls,
        torch.arange(count),
    )


LOGITS = [[2.0, -1.0, 3.0], [-1.0, -2.0, -0.5], [1.0, 1.0, -1.0], [1.0, 1.0, -1.0]]
WEIGHTS = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]
USEFUL = [[1.0, 0.0, 0.2], [0.0, 0.6, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
CALLS = [[1.0, -1.0, -0.5], [1.0, -1.0, 1.0], [-0.4, 0.8, 1.0], [-0.4, 0.8, 1.0]]
RETURNS = [0.01, 0.02, 0.03, -0.01]


@pytest.fixture
def four():
    return samples(LOGITS, WEIGHTS, USEFUL, CALLS, RETURNS)


def test_forecast_is_the_weighted_call_of_selected_indicators():
    found = forecast(*(torch.tensor(part) for part in (LOGITS, WEIGHTS, CALLS)))
    first = (0.5 * 1.0 + 0.2 * -0.5) / 0.7  # the second one has less than one half
    third = (0.25 * -0.4 + 0.5 * 0.8) / 0.75
    assert found.tolist() == pytest.approx([first, 0.0, third, third])  # in the second, none is selected


def test_the_measures_by_hand(four):
    model = Table()
    found = evaluate(model, four)
    pairs = [pair for row in zip(LOGITS, USEFUL, strict=True) for pair in zip(*row, strict=True)]
    bce = sum(math.log1p(math.exp(logit)) - useful * logit for logit, useful in pairs) / 12
    assert found == {
        "val_bce": pytest.approx(bce),
        "val_selected": pytest.approx((2 + 0 + 2 + 2) / 4),
        "val_agreement": pytest.approx((2 + 2 + 2 + 0) / 12),  # useful means more than 0.5
        "val_right": pytest.approx((1 + 0.5 + 1 + 0) / 4),
    }
    assert model.training  # learning goes on


def test_the_context_reaches_the_network(four):
    other = samples(LOGITS, WEIGHTS, USEFUL, CALLS, RETURNS, context=1.0)
    assert evaluate(Table(), other)["val_selected"] == pytest.approx((1 + 3 + 1 + 1) / 4)
    assert evaluate(Table(), four) != evaluate(Table(), other)


@pytest.mark.parametrize("batch", [1, 3, 4, 5])
def test_parts_of_any_size_give_the_same_means(four, monkeypatch, batch):
    whole = evaluate(Table(), four)
    monkeypatch.setattr(evaluation, "BATCH", batch)
    parts = [len(part) for part, _, _ in predictions(Table(), four)]
    assert sum(parts) == 4 and max(parts) <= batch
    assert evaluate(Table(), four) == {name: pytest.approx(value) for name, value in whole.items()}
