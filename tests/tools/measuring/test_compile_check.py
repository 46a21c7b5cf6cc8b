"""What is counted when the check of compiled networks is measured."""

import pytest
import torch

from snippets.precision import pick_precision
from tools.measuring import compile_check as tool

CPU = torch.device("cpu")


@pytest.mark.parametrize("network", ["mlp", "transformer"])
def test_correct_compilations_pass_and_every_mistake_is_noticed_in_float32(network):
    made = tool.comparisons(network, pick_precision("fp32", CPU), seeds=2, backend="aot_eager")
    counted = tool.count(made)
    assert (counted["comparisons"], counted["rejected"]) == (2, 0)
    assert counted["gradients"] > 4
    for mistake in tool.MISTAKES:
        assert counted[mistake] == counted["gradients"]
    assert 0 <= counted["most_of_a_limit"] < 1


def test_a_compiler_that_doubles_is_counted_as_rejected():
    (correct,) = tool.comparisons("convolutions", pick_precision("fp32", CPU), seeds=1, backend="eager")
    found, expected, from_shaken, dtype = correct
    doubled = {name: 2 * tensor for name, tensor in found.items()}
    counted = tool.count(iter([(doubled, expected, from_shaken, dtype)]))
    assert counted["rejected"] == 1
    assert counted["most_of_a_limit"] > 1
