"""Fidelity: verdicts follow the tables, and what few programs use is as on the real device."""

import copy
import pickle
import time

import pytest
import torch
from simulated_mps import device
from simulated_mps.kernels import always_on_cpu, releases, table
from torch.nn import functional as F

MPS = torch.device("mps")

# Of each release an operator that it was the first to have, with what calls it.
BYTES = torch.ones(32, 32, dtype=torch.int8)
FIRST_IN = {
    "2.10": ("_embedding_bag_forward_only", lambda: F.embedding_bag(on(0, 0), on(1.0).view(1, 1), on(0))),
    "2.11": ("_unique", lambda: torch.ops.aten._unique(on(1.0, 1.0))),
    "2.12": ("_cholesky_solve_helper", lambda: torch.cholesky_solve(on(1.0).view(1, 1), on(1.0).view(1, 1))),
    "2.13": ("_sample_dirichlet", lambda: torch._sample_dirichlet(on(1.0, 1.0))),
    "2.14": ("_linalg_eigh.eigenvalues", lambda: torch.linalg.eigh(on(1.0).view(1, 1))),
    "2.15": ("_int_mm", lambda: torch._int_mm(BYTES.to(MPS), BYTES.to(MPS))),
}


def on(*numbers):
    """Return a tensor on the device."""
    return torch.tensor(numbers, device=MPS)


@pytest.fixture
def own_rules():
    """Give back the rules of the installed release afterwards."""
    yield
    device.enable(None)


@pytest.mark.parametrize("release", releases())
def test_verdicts_follow_the_table(release, own_rules):
    """The compiled device judges every operator of the table as the table does, and calls obey."""
    device.enable(release)
    position = releases().index(release)
    for name, marks in table()["kernels"].items():
        expected = 1 if name in always_on_cpu(release) else 2
        assert device.loaded.verdict(f"aten::{name}") == (expected if marks[position] == "-" else 0), name
    for name in always_on_cpu(release):
        assert device.loaded.verdict(f"aten::{name}") == 1
    for first, (name, call) in FIRST_IN.items():
        if releases().index(first) <= position:
            call()
            assert device.loaded.operators()[f"aten::{name}"][0] == 0
        else:
            with pytest.raises(NotImplementedError, match=f"aten::{name}'"):
                call()


def test_what_runs_on_the_cpu_depends_on_the_release():
    assert always_on_cpu("2.9") == {"embedding_renorm_", "linalg_svd", "linalg_svd.U"}
    assert always_on_cpu("2.13") == always_on_cpu("2.9")
    assert always_on_cpu("2.14") == {"embedding_renorm_"}


def test_the_svd_of_2_13_runs_on_the_cpu(own_rules):
    device.enable("2.13")
    matrix = torch.tensor([[3.0, 0.0], [0.0, 2.0]], device=MPS)
    left, values, right = torch.linalg.svd(matrix)
    assert values.device.type == "mps"
    assert values.tolist() == [3.0, 2.0]
    assert (left @ values.diag() @ right).cpu().tolist() == matrix.cpu().tolist()
    linalg = torch.linalg
    for call in (linalg.svdvals, linalg.cond, linalg.matrix_rank, lambda a: linalg.matrix_norm(a, 2)):
        with pytest.raises(NotImplementedError, match=r"aten::_linalg_svd\.U"):
            call(matrix)
    assert linalg.svdvals(matrix.cpu()).tolist() == [3.0, 2.0]


def test_gradients_may_be_zeros_without_memory():
    x = torch.tensor([1.0, -2.0], device=MPS, requires_grad=True)
    (gradient,) = torch.autograd.grad(torch.sgn(x).sum(), x)
    assert gradient.cpu().tolist() == [0.0, 0.0]
    zeros = torch._efficientzerotensor(2, device=MPS)
    assert (zeros + torch.ones(2, device=MPS)).cpu().tolist() == [1.0, 1.0]
    assert zeros.cpu().tolist() == [0.0, 0.0]


def test_convolutions_refuse_mixed_devices():
    image, kernel = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 3, 3)
    with pytest.raises(RuntimeError, match=r"MPSFloatType\) and weight type \(torch.FloatTensor\)"):
        torch.conv2d(image.to(MPS), kernel)
    with pytest.raises(RuntimeError, match=r"MPSFloatType\) and bias type \(torch.FloatTensor\)"):
        torch.conv2d(image.to(MPS), kernel.to(MPS), torch.zeros(1))
    with pytest.raises(RuntimeError, match="must be on the same device"):
        torch.conv2d(image, kernel.to(MPS))


def test_events_measure_time():
    start, end = torch.mps.Event(enable_timing=True), torch.mps.Event(enable_timing=True)
    start.record()
    time.sleep(0.01)
    end.record()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) >= 10  # milliseconds
    untimed = torch.mps.Event()
    untimed.record()
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        untimed.elapsed_time(end)


@pytest.mark.skipif(not hasattr(torch.mps, "streams"), reason="PyTorch has streams of MPS since 2.15")
def test_streams_can_be_chosen():
    other = torch.mps.Stream(stream_id=1)
    assert torch.mps.current_stream() == torch.mps.default_stream() != other
    with torch.mps.stream(other):
        assert torch.mps.current_stream().stream_id == 1
    other.synchronize()
    assert torch.mps.current_stream().stream_id == 0


def test_traces_of_the_profiler_are_accepted():
    with torch.mps.profiler.profile():
        assert torch.ones(2, device=MPS).sum().item() == 2


def test_generators_have_a_seed_and_an_offset():
    generator = torch.Generator("mps").manual_seed(3)
    torch.rand(3, device=MPS, generator=generator)
    copies = [copy.deepcopy(generator), pickle.loads(pickle.dumps(generator)), generator]
    assert len({one.get_offset() for one in copies}) == 1
    first, *others = [torch.rand(3, device=MPS, generator=one) for one in copies]
    assert all(torch.equal(first, other) for other in others)
    generator.set_offset(0)
    again = torch.rand(3, device=MPS, generator=generator)
    assert torch.equal(again, torch.rand(3, device=MPS, generator=torch.Generator("mps").manual_seed(3)))
    assert not torch.equal(again, first)
    assert generator.get_state().shape == (44,)  # bytes, as on a Mac
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        generator.set_state(torch.get_rng_state())


def test_results_in_float64_are_refused():
    x, numbers = torch.ones(3, device=MPS), torch.arange(3, device=MPS)
    for call in (
        lambda: x.prod(dtype=torch.float64),
        lambda: x.nansum(dtype=torch.float64),
        lambda: torch.where(x > 0, numbers, torch.tensor(0.5, dtype=torch.float64)),
    ):
        with pytest.raises(TypeError, match="Cannot convert a MPS Tensor to float64 dtype"):
            call()
    assert x.prod(dtype=torch.float32).item() == 1


def test_bincount_keeps_the_type_of_its_weights():
    numbers = torch.tensor([0, 2, 2], device=MPS)
    kinds = {torch.float32: torch.float32, torch.float16: torch.float16, torch.int64: torch.int32}
    for given, expected in kinds.items():
        counts = torch.bincount(numbers, weights=torch.tensor([1, 2, 3], dtype=given, device=MPS))
        assert counts.dtype == expected
        assert counts.tolist() == [1, 0, 5]
    assert torch.bincount(numbers).tolist() == [1, 0, 2]


def test_the_kaiser_window_has_no_kernel():
    for words in ((4,), (4, False), (4, True, 12.0)):
        with pytest.raises(RuntimeError, match="DispatchStub: missing kernel for mps"):
            torch.kaiser_window(*words, device=MPS)
    assert torch.kaiser_window(4).shape == (4,)


@pytest.mark.parametrize("tiles", [2, 4, 8])
def test_weights_of_four_bits(tiles):
    torch.manual_seed(0)
    rows, columns, group = 16, 256, 64
    weight = torch.randint(16, (rows, columns))
    scales = torch.rand(columns // group, rows, 2)
    x = torch.randn(3, columns)
    scale, zero = scales.repeat_interleave(group, 0).unbind(-1)
    expected = x @ ((weight.T - 8) * scale + zero)
    halves = (weight[:, ::2] << 4 | weight[:, 1::2]).to(torch.uint8).to(MPS)
    packed = torch._convert_weight_to_int4pack(halves, tiles)
    assert packed.dtype == torch.int32
    assert packed.shape == (rows // 8, columns // (tiles * 16), 32, tiles // 2)
    found = torch._weight_int4pack_mm(x.to(MPS), packed, group, scales.to(MPS))
    torch.testing.assert_close(found.cpu(), expected)
    for wrong, text in ((halves.int(), "expect weight to be kByte"), (halves[0], "expect weight to be 2D")):
        with pytest.raises(RuntimeError, match=text):
            torch._convert_weight_to_int4pack(wrong, tiles)
