"""The operators of a training step, backward pass and optimizer included."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from snippets.operator_recorder import OperatorRecorder, missing_on_mps
from snippets.operator_support import installed_list, read_operators


@pytest.fixture(scope="module")
def operators():
    return read_operators(installed_list())


def test_forward_backward_and_optimizer_are_recorded(operators):
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)
    with OperatorRecorder() as recorder:
        loss = model(torch.randn(2, 3, 8, 8)).square().mean()
        loss.backward()
        optimizer.step()
    counts = recorder.counts
    assert counts["convolution"] == counts["convolution_backward"] == 1
    assert counts["addmm"] == 1 and counts["mm"] == 2  # the linear layer, forward and backward
    assert counts["add_.Tensor"] >= 6  # a parameter each
    assert missing_on_mps(counts, operators) == {}
    before = dict(counts)
    model(torch.randn(2, 3, 8, 8))
    assert dict(counts) == before  # nothing is recorded outside the block


def test_missing_operators_are_found_without_a_mac(operators):
    images = torch.randn(2, 4, 3, 3, 3, requires_grad=True)
    with OperatorRecorder() as recorder:
        pooled = F.adaptive_avg_pool3d(images, 2)  # built from others: the missing one is inside
        torch.channel_shuffle(pooled, 2)
        pooled.sum().backward()
    expected = {"_adaptive_avg_pool3d": 1, "_adaptive_avg_pool3d_backward": 1, "channel_shuffle": 1}
    assert missing_on_mps(recorder.counts, operators) == expected


def test_built_in_fallback_is_found_without_other_libraries(operators):
    with OperatorRecorder() as recorder:
        F.embedding(torch.tensor([1]), torch.ones(3, 2), max_norm=1.0)
    assert missing_on_mps(recorder.counts, operators) == {"embedding_renorm_": 1}
    recorder.counts["torchvision.nms"] = 1
    assert "torchvision.nms" not in missing_on_mps(recorder.counts, operators)
