"""The table of bounds of the indicator transformer: what is counted, and what is computed from it."""

import pytest
import torch
from origins import load
from torch.utils.flop_counter import FlopCounterMode

from examples.indicator_transformer.context_features import CONTEXT
from examples.indicator_transformer.data_sources import load_for_training
from examples.indicator_transformer.indicators import INDICATORS
from examples.indicator_transformer.loss import selection_loss
from examples.indicator_transformer.model import SIZES, IndicatorTransformer, parameter_count
from examples.indicator_transformer.options import RECIPES, resolve
from examples.programs.program import plan_steps

WORK = load("indicator_networks")


@pytest.mark.parametrize("network", WORK["networks"], ids=lambda network: network["size"])
def test_operations_of_a_step(network):
    with torch.device("meta"):  # where nothing is computed
        model = IndicatorTransformer(len(INDICATORS), len(CONTEXT), SIZES[network["size"]]).train()
        values, context = torch.empty(2, len(INDICATORS)), torch.empty(2, len(CONTEXT))
    with FlopCounterMode(display=False) as counted:
        selection_loss(*model(values, context), torch.empty_like(values))[0].backward()
    assert counted.get_total_flops() == 2 * network["training_flop"]
    assert parameter_count(model) == network["parameters"]


def test_the_steps_are_those_of_the_default_run():
    for network in WORK["networks"]:
        options = resolve({"size": network["size"], "indicators": 24})  # samples do not depend on indicators
        assert options.batch_size == WORK["batch_size"]
    assert plan_steps(options, len(load_for_training(options).training)).total_steps == WORK["steps"]


def test_every_large_network_was_counted():
    sizes = [network["size"] for network in WORK["networks"]]
    assert sizes == [size for size in RECIPES if size != "small"]
