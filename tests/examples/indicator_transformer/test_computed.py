"""What pages say of the programs, docs/data/computed/indicators.yaml, is what the programs compute."""

from dataclasses import asdict

import pytest
import torch

from examples.indicator_transformer.context_features import CONTEXT
from examples.indicator_transformer.data_sources import load_for_training
from examples.indicator_transformer.indicators import INDICATORS, SMALL
from examples.indicator_transformer.loss import best_probability
from examples.indicator_transformer.model import SIZES, IndicatorTransformer, parameter_count
from examples.indicator_transformer.options import resolve
from tools.figures import DATA
from tools.read_yaml import read_yaml


def network(size):
    indicators = SMALL if size == "small" else INDICATORS
    with torch.device("meta"):  # counts without allocating
        return IndicatorTransformer(len(indicators), len(CONTEXT), SIZES[size])


def optimum(data):
    """Return what is best possible on the held-out samples of the default run with these data."""
    found = asdict(load_for_training(resolve({"data": data})).optimum)
    return {name: round(value, 4) for name, value in found.items()}


@pytest.mark.slow
def test_the_pages_say_what_is_computed():
    assert read_yaml(DATA / "computed/indicators.yaml") == {
        "parameters": {size: parameter_count(network(size)) for size in SIZES},
        "parts": {name: parameter_count(part) for name, part in network("origin").named_children()},
        "best_probability": {
            useful: round(best_probability(torch.tensor(useful)).item(), 4) for useful in (0.1, 0.5, 0.9)
        },
        "optimum": {data: optimum(data) for data in ("bars", "table")},
    }
