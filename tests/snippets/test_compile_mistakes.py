"""The mistakes are mistakes: what they are shown for does happen."""

import pytest
import torch
from torch import nn

from snippets.compile_mistakes import compile_and_catch


def test_compiler_failure_comes_at_the_first_call():
    def broken(graph, examples):
        raise NotImplementedError("no kernel")

    model = nn.Linear(2, 2)
    network = compile_and_catch(model, broken)
    assert network is not model  # nothing failed: the compiler was not called
    with pytest.raises(Exception, match="no kernel"):
        network(torch.ones(1, 2))


def test_only_mistakes_in_the_call_itself_are_caught():
    model = nn.Linear(2, 2)
    assert compile_and_catch(model, "no_such_backend") is model
