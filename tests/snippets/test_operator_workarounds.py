"""Each replacement equals what it replaces, in values and gradients, and needs no operator that MPS lacks.

The last is true for PyTorch 2.13 and newer, and for `eigh` from 2.14 on.
"""

import json
from functools import cache
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from snippets import operator_workarounds as workarounds
from snippets.operator_recorder import OperatorRecorder, missing_on_mps
from snippets.operator_support import installed_list, read_operators

DATA = Path(__file__).resolve().parents[2] / "docs/data/operators.json"


@pytest.fixture(scope="module")
def operators():
    return read_operators(installed_list())


@cache
def missing_before():
    """Return the operators that some release from 2.13 on has no kernel of; composed ones may have parts."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    first = list(data["releases"]).index("2.13")
    return {name for marks, names in data["marks"].items() if "-" in marks[first:] for name in names.split()}


def values_and_gradient(function, inputs):
    """Return the outputs of `function` and the gradient of their weighted sum with respect to `inputs`."""
    inputs = inputs.clone().requires_grad_()
    with OperatorRecorder() as recorder:
        outputs = function(inputs)
        weights = torch.linspace(1, 2, outputs.numel(), dtype=outputs.dtype).reshape(outputs.shape)
        (outputs * weights).sum().backward()
    return outputs.detach(), inputs.grad, recorder.counts


def same(original, replacement, inputs, operators, expected_missing, **tolerance):
    """Compare both; the first needs `expected_missing`, the second nothing that is missing."""
    outputs, gradient, used = values_and_gradient(original, inputs)
    assert expected_missing in missing_on_mps(used, operators)
    other_outputs, other_gradient, used = values_and_gradient(replacement, inputs)
    assert missing_on_mps(used, operators) == {}
    assert not used.keys() & missing_before()
    torch.testing.assert_close(other_outputs, outputs, **tolerance)
    torch.testing.assert_close(other_gradient, gradient, **tolerance)


@pytest.mark.parametrize("shape", [(2, 6, 5, 4), (3, 6, 7)])
def test_channel_shuffle(operators, shape):
    same(
        lambda images: F.channel_shuffle(images, 3),
        lambda images: workarounds.channel_shuffle(images, 3),
        torch.randn(shape),
        operators,
        "channel_shuffle",
        rtol=0,
        atol=0,
    )


@pytest.mark.parametrize("output_size", [(1, 1, 1), (2, 3, 4), (7, 5, 3), (9, 5, 6)])
@pytest.mark.parametrize("kind", ["avg", "max"])
def test_adaptive_pool3d(operators, kind, output_size):
    """With sizes that do and do not divide, and more bins than values: 7 × 6 × 4 values."""
    original = getattr(F, f"adaptive_{kind}_pool3d")
    reduce = {"avg": torch.mean, "max": torch.amax}[kind]
    torch.manual_seed(0)
    missing = {"avg": "_adaptive_avg_pool3d", "max": "adaptive_max_pool3d"}[kind]
    if output_size == (1, 1, 1) and kind == "avg":
        missing = None  # PyTorch itself takes the mean then
    volumes = torch.randn(2, 3, 7, 6, 4, dtype=torch.float64)
    outputs, gradient, used = values_and_gradient(lambda x: original(x, output_size), volumes)
    assert missing is None or missing in missing_on_mps(used, operators)
    other, other_gradient, used = values_and_gradient(
        lambda x: workarounds.adaptive_pool3d(x, output_size, reduce), volumes
    )
    assert missing_on_mps(used, operators) == {}
    torch.testing.assert_close(other, outputs)
    torch.testing.assert_close(other_gradient, gradient)


def test_eig_of_symmetric_matrices(operators):
    torch.manual_seed(0)
    matrices = torch.randn(3, 5, 5, dtype=torch.float64)
    matrices = matrices + matrices.mT
    with OperatorRecorder() as recorder:
        values, vectors = workarounds.eig_symmetric(matrices)
    if torch.__version__ >= (2, 14):
        assert missing_on_mps(recorder.counts, operators) == {}
    torch.testing.assert_close(matrices @ vectors, vectors * values[:, None])
    torch.testing.assert_close(values, torch.linalg.eig(matrices)[0].real.sort().values)


def test_eig_on_cpu_is_differentiable():
    torch.manual_seed(0)
    matrices = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
    values, vectors = workarounds.eig_on_cpu(matrices)
    torch.testing.assert_close(matrices.to(torch.complex128) @ vectors, vectors * values[:, None])
    values.abs().sum().backward()
    assert matrices.grad.abs().sum() > 0


@pytest.mark.parametrize("margin", [1.0, 0.3])
def test_multi_margin_loss(operators, margin):
    torch.manual_seed(0)
    labels = torch.randint(7, (10,))
    same(
        lambda scores: F.multi_margin_loss(scores, labels, margin=margin),
        lambda scores: workarounds.multi_margin_loss(scores, labels, margin),
        torch.randn(10, 7, dtype=torch.float64),
        operators,
        "multi_margin_loss",
    )


@pytest.mark.parametrize("count", [2, 40])
def test_pdist(operators, count):
    torch.manual_seed(0)
    same(F.pdist, workarounds.pdist, torch.randn(count, 3, dtype=torch.float64), operators, "_pdist_forward")


def test_pdist_of_close_points_is_exact():
    points = 1000 + 1e-2 * torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    exact = F.pdist(points.double()).float()
    assert (workarounds.pdist(points) / exact - 1).abs().max() < 1e-5
    first, second = torch.triu_indices(40, 40, offset=1)
    assert (torch.cdist(points, points)[first, second] / exact - 1).abs().max() > 0.1


def test_rrelu_draws_its_slopes_from_the_same_range(operators):
    torch.manual_seed(0)
    values = torch.cat([-torch.ones(20_000), torch.linspace(0, 3, 100)])
    with OperatorRecorder() as recorder:
        results = workarounds.rrelu(values)
    assert missing_on_mps(recorder.counts, operators) == {}
    with OperatorRecorder() as recorder:
        expected = F.rrelu(values, training=True)
    assert "rrelu_with_noise" in missing_on_mps(recorder.counts, operators)
    assert torch.equal(results[20_000:], expected[20_000:])
    for slopes in (-results[:20_000], -expected[:20_000]):  # uniform from 1/8 to 1/3
        assert slopes.min() >= 1 / 8 and slopes.max() <= 1 / 3
        assert slopes.mean() == pytest.approx(11 / 48, abs=0.002)
        assert slopes.std() == pytest.approx((1 / 3 - 1 / 8) / 12**0.5, abs=0.002)


def test_multilabel_margin_loss(operators):
    """Also with labels behind the first -1, which do not count, and with none at all."""
    torch.manual_seed(0)
    labels = torch.tensor([[3, 0, -1, 1, 2], [-1, 0, 1, 2, 3], [0, 1, 2, 3, 4], [0, -1, -1, -1, -1]])
    same(
        lambda scores: F.multilabel_margin_loss(scores, labels),
        lambda scores: workarounds.multilabel_margin_loss(scores, labels),
        torch.randn(4, 5, dtype=torch.float64),
        operators,
        "multilabel_margin_loss_forward",
    )


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("shape", [(9,), (9, 2, 3)])
def test_segment_reduce(operators, reduce, shape):
    torch.manual_seed(0)
    lengths = torch.tensor([2, 1, 6])
    same(
        lambda values: torch.segment_reduce(values, reduce, lengths=lengths),
        lambda values: workarounds.segment_reduce(values, reduce, lengths),
        torch.randn(shape, dtype=torch.float64),
        operators,
        "segment_reduce",
    )


def test_log_ndtr(operators):
    """From far below, where the function itself underflows, to far above, where it is 1."""
    same(
        torch.special.log_ndtr,
        workarounds.log_ndtr,
        torch.linspace(-60, 9, 500, dtype=torch.float64),
        operators,
        "special_log_ndtr",
    )


def test_ndtri(operators):
    same(
        torch.special.ndtri,
        workarounds.ndtri,
        torch.linspace(0.001, 0.999, 400, dtype=torch.float64),
        operators,
        "special_ndtri",
    )


def test_fake_quantize_per_tensor(operators):
    torch.manual_seed(0)
    same(
        lambda values: torch.fake_quantize_per_tensor_affine(values, 0.1, 3, -8, 7),
        lambda values: workarounds.fake_quantize(values, torch.tensor(0.1), torch.tensor(3), -8, 7),
        torch.randn(400),
        operators,
        "fake_quantize_per_tensor_affine_cachemask",
    )


def test_fake_quantize_per_channel(operators):
    torch.manual_seed(0)
    scale, zero_point = torch.tensor([0.05, 0.1, 0.3]), torch.tensor([0, 5, -2], dtype=torch.int32)
    same(
        lambda values: torch.fake_quantize_per_channel_affine(values, scale, zero_point, 0, -8, 7),
        lambda values: workarounds.fake_quantize(values, scale[:, None], zero_point[:, None], -8, 7),
        torch.randn(3, 200),
        operators,
        "fake_quantize_per_channel_affine_cachemask",
    )


def test_sparse_product(operators):
    """Also with two entries in one place and with a row that has none; gradients of both factors."""
    torch.manual_seed(0)
    rows, columns = torch.tensor([[0, 0, 2, 2, 3], [1, 4, 0, 0, 4]])
    values = torch.randn(5, dtype=torch.float64, requires_grad=True)
    dense = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.linspace(1, 2, 12, dtype=torch.float64).reshape(4, 3)
    matrix = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (4, 5))
    expected = torch.sparse.mm(matrix, dense)
    gradients = torch.autograd.grad((expected * weights).sum(), (values, dense))
    with OperatorRecorder() as recorder:
        result = workarounds.sparse_product(rows, columns, values, dense, 4)
        found = torch.autograd.grad((result * weights).sum(), (values, dense))
    assert missing_on_mps(recorder.counts, operators) == {}
    assert not recorder.counts.keys() & missing_before()
    torch.testing.assert_close(result, expected)
    torch.testing.assert_close(found, gradients)
