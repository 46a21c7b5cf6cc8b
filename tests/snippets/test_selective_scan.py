"""The selective scan gives what the plain loop gives, and its gradients, and keeps few states."""

import re

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from snippets import selective_scan as module
from snippets.memory_estimate import kept_activations
from snippets.selective_scan import selective_scan, selective_scan_reference
from tools.figures import DATA
from tools.read_yaml import read_yaml

NAMES = ("x", "dt", "A", "B", "C", "D")


def make_inputs(batch=2, length=7, inner=5, state=3, dtype=torch.float32, device="cpu"):
    torch.manual_seed(0)
    wide, narrow = (batch, length, inner), (batch, length, state)
    dt = nn.functional.softplus(torch.randn(wide) - 1)
    A = -torch.linspace(0.5, 4, state).expand(inner, state) * (1 + torch.rand(inner, 1))
    values = [torch.randn(wide), dt, A, torch.randn(narrow), torch.randn(narrow), torch.randn(inner)]
    return [value.to(device, dtype).requires_grad_() for value in values]


def run(scan, inputs):
    """Return the output of a scan, and the gradients of the six inputs for a loss with random weights."""
    y = scan(*inputs)
    torch.manual_seed(1)
    weights = torch.randint(-3, 4, y.shape).to(y)  # the same in every dtype
    return [y.detach(), *torch.autograd.grad(y, inputs, weights, materialize_grads=True)]


def assert_close(found, expected, tolerance):
    for name, one, other in zip(("y", *NAMES), found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype, name
        assert (one - other).norm() <= tolerance * other.norm(), name


@pytest.fixture(params=["chunks one by one", "chunks side by side"], autouse=True)
def side_by_side(request, monkeypatch):
    """Compute the chunks as a CPU does, and as a GPU does."""
    if request.param == "chunks side by side":
        monkeypatch.setattr(module, "ONE_BY_ONE", set())
        return True
    return False


@pytest.fixture
def small_blocks(monkeypatch):
    """Let even small inputs have several blocks of rows, of channels, and several chunks of time."""
    monkeypatch.setattr(module, "CHUNK", 3)
    monkeypatch.setattr(module, "SHORT_CHUNK", 3)
    monkeypatch.setitem(module.BLOCK, "cpu", 30)


@pytest.mark.usefixtures("small_blocks")
def test_gradients_agree_with_finite_differences(side_by_side):
    inputs = make_inputs(dtype=torch.float64)
    scan = module.BlockwiseScan(*inputs[:-1])
    assert (scan.pieces, len(scan.chunks)) == ((3, 1) if side_by_side else (1, 3))
    assert len(scan.blocks) == scan.pieces * 2 * 3  # with pieces as rows
    assert torch.autograd.gradcheck(selective_scan, inputs, fast_mode=True)


@pytest.mark.parametrize("shape", [(4, 5, 24, 16), (2, 300, 6, 4), (3, 1, 5, 2), (2, 0, 5, 2), (0, 4, 5, 2)])
def test_equals_the_loop(shape):
    inputs = make_inputs(*shape)
    assert_close(run(selective_scan, inputs), run(selective_scan_reference, inputs), 1e-5)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("shape", [(3, 7, 5, 2), (2, 300, 6, 4), (1, 4, 1, 40)])
def test_blocks_and_chunks_do_not_change_the_result(shape):
    inputs = make_inputs(*shape, dtype=torch.float64)
    assert_close(run(selective_scan, inputs), run(selective_scan_reference, inputs), 1e-12)


def test_two_steps_by_hand():
    one = torch.ones(1, 2, 1)
    y = selective_scan(one, one, torch.full((1, 1), -2.0), 3 * one, 5 * one, torch.full((1,), 7.0))
    first = 3.0
    second = torch.exp(torch.tensor(-2.0)) * first + 3
    torch.testing.assert_close(y.flatten(), torch.tensor([5 * first + 7, 5 * second + 7]))


def test_no_gradient_is_computed_for_inference():
    with torch.inference_mode():
        assert not selective_scan(*make_inputs()).requires_grad


def test_inputs_that_are_views_give_the_same():
    inputs = make_inputs()
    strided = [value.detach().mT.contiguous().mT.requires_grad_() for value in inputs[:-1]] + inputs[-1:]
    assert not strided[0].is_contiguous()
    assert_close(run(selective_scan, strided), run(selective_scan, inputs), 1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_only_at_the_ends(dtype):
    """Hardly any value is rounded to another neighbour. In half precision throughout, most would be."""
    inputs = make_inputs(2, 300, 6, 4, dtype=dtype)
    wide = [value.detach().double().requires_grad_() for value in inputs]
    expected = [value.to(dtype) for value in run(selective_scan_reference, wide)]
    assert_close(run(selective_scan, inputs), expected, 0.1 * torch.finfo(dtype).eps)


def test_autocast_changes_nothing():
    inputs = make_inputs()
    expected = run(selective_scan, inputs)
    with torch.autocast("cpu", torch.bfloat16):
        found = run(selective_scan, inputs)
    assert all(map(torch.equal, found, expected))


def test_each_gradient_has_the_dtype_of_its_input():
    inputs = make_inputs()
    inputs[0] = inputs[0].detach().bfloat16().requires_grad_()
    dtypes = [value.dtype for value in run(selective_scan, inputs)]
    assert dtypes == [torch.bfloat16, *(value.dtype for value in inputs)]


@pytest.mark.parametrize(("scan", "with_states"), [(selective_scan, 0), (selective_scan_reference, 2)])
def test_of_a_short_sequence_only_the_inputs_are_kept(scan, with_states):
    batch, length, inner, state = 4, 5, 24, 16
    layers = [make_inputs(batch, length, inner, state) for _ in range(8)]

    def forward():
        y = layers[0][0]
        for _, *others in layers:
            y = scan(y, *others)
        return y

    kept = kept_activations(nn.Module(), forward)
    inputs = 2 * batch * length * inner + inner * state + 2 * batch * length * state + inner
    states = with_states * batch * length * inner * state
    if with_states:
        assert kept >= 8 * 4 * states
    else:
        assert kept == 8 * 4 * inputs
    in_full = 2 * 256 * 5 * 1536 + 1536 * 128 + 2 * 256 * 5 * 128 + 1536
    assert 8 * 4 * in_full <= 0.2e9  # the same formula at full size


@pytest.mark.parametrize(
    ("length", "state", "one_by_one", "side_by_side_chunks"),
    [
        (0, 4, 0, 0),
        (16, 4, 0, 0),
        (32, 4, 0, 2),
        (33, 4, 1, 3),
        (100, 4, 3, 7),
        (2000, 4, 45, 125),
        (100, 40, 2, 3),
        (100, 120, 0, 0),
    ],
)
def test_the_states_before_chunks_are_kept(length, state, one_by_one, side_by_side_chunks, side_by_side):
    inputs = make_inputs(2, length, 6, state)
    kept = kept_activations(nn.Module(), lambda: selective_scan(*inputs))
    of_a_chunk = 4 * 2 * 6 * state
    states = of_a_chunk * (side_by_side_chunks if side_by_side else one_by_one)
    assert kept == sum(value.nbytes for value in inputs) + states
    assert states <= inputs[0].nbytes + of_a_chunk * side_by_side


class LargestTensor(TorchDispatchMode):
    """Remembers how many values the largest tensor has that an operator returned."""

    values = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        sizes = [leaf.numel() for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        self.values = max(self.values, *sizes, 0)
        return result


def test_a_long_sequence_is_computed_in_blocks(monkeypatch):
    monkeypatch.setitem(module.BLOCK, "cpu", 2**12)
    inputs = make_inputs(2, 300, 12, 16)
    with LargestTensor() as found:
        run(selective_scan, inputs)
    assert found.values <= 3 * 2**12  # all states would be 115,200
    scan = module.BlockwiseScan(*inputs[:-1])
    assert len(scan.chunks) * scan.pieces > 1 and len(scan.blocks) > 1


class Operations(TorchDispatchMode):
    """Counts the operations that compute something: views and new memory do not."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += not function.is_view and "empty" not in function.name()
        return function(*args, **(kwargs or {}))


def test_scan_starts_far_fewer_operations_than_the_loop(side_by_side):
    """For 1,024 positions, as the page of the two towers says. Of the loop, a quarter is counted."""
    said = read_yaml(DATA / "computed/two_tower.yaml")["scan_operations"]
    counts = []
    for scan, length in ((selective_scan, 1024), (selective_scan_reference, 256)):
        with Operations() as found:
            run(scan, make_inputs(2, length, 4, 16))
        counts.append(found.count)
    assert counts[0] == pytest.approx(said["ours"] if side_by_side else 4300, rel=0.05)
    assert 4 * counts[1] == pytest.approx(said["loop"], rel=0.01)


@pytest.mark.parametrize("wrong", NAMES)
@pytest.mark.parametrize("change", [lambda value: value[..., :-1], lambda value: value[None]])
def test_wrong_shapes_are_one_line_with_all_of_them(wrong, change):
    inputs = dict(zip(NAMES, make_inputs(), strict=True))
    inputs[wrong] = change(inputs[wrong])
    with pytest.raises(ValueError, match=re.escape(f"{wrong} {tuple(inputs[wrong].shape)}")) as caught:
        selective_scan(**inputs)
    assert "\n" not in str(caught.value)


def test_a_compiled_network_may_contain_it():
    inputs = make_inputs()

    def doubled(*inputs):
        return 2 * selective_scan(*(2 * value for value in inputs))

    torch._dynamo.reset()
    found = run(torch.compile(doubled, backend="aot_eager"), inputs)
    assert_close(found, run(doubled, inputs), 1e-6)
