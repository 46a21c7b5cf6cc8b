"""Where something happened on the device: the line of the user's code, and the test."""

import os
import re
import sys
from collections import Counter
from functools import partial

import pytest
import torch
from _pytest._io.saferepr import saferepr
from simulated_mps import device, findings
from simulated_mps.kernels import always_on_cpu
from torch.nn import functional as F

MPS = torch.device("mps")


@pytest.fixture
def numbers():
    """Return some numbers on the device."""
    return torch.arange(-1.0, 3.0, device=MPS)


def found_by(work):
    """Return what was found while `work` ran → how often."""
    before = Counter(findings.counts)
    work()
    return Counter(findings.counts) - before


def this_line():
    """Return the line from which it is called."""
    return sys._getframe(1).f_lineno


def test_file_line_and_test_are_noted(numbers, request):
    found = found_by(lambda: [numbers.sum().item() for _ in range(3)])
    ((finding, count),) = found.items()
    assert (finding.event, finding.kind, count) == ("item", "waits", 3)
    assert (finding.file, finding.line) == (__file__, this_line() - 3)
    assert finding.test == request.node.nodeid


def raises(error, call, *arguments, match=None, **words):
    with pytest.raises(error, match=match):
        call(*arguments, **words)


ERRORS = {
    "missing": (
        "aten::linalg_eig",
        lambda: raises(NotImplementedError, torch.linalg.eig, torch.eye(2).to(MPS)),
    ),
    "float64": ("float64", lambda: raises(TypeError, torch.ones, 2, dtype=torch.float64, device=MPS)),
    "refused": (
        "aten::_adaptive_avg_pool2d",
        lambda: raises(RuntimeError, F.adaptive_avg_pool2d, torch.ones(1, 1, 7, 7).to(MPS), 3),
    ),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_are_found_where_they_are_caught(kind):
    what, work = ERRORS[kind]
    (finding,) = (finding for finding in found_by(work) if finding.kind == kind)
    assert (finding.what, finding.file) == (what, __file__)


REFUSED = {
    "aten::_mps_convolution": lambda: F.conv1d(integers(1, 1, 3), integers(1, 1, 3)),
    "aten::_lstm_mps": lambda: torch.nn.LSTM(4, 4, proj_size=2).to(MPS)(torch.ones(3, 1, 4).to(MPS)),
    "more-than-16-dimensions": lambda: torch.ones([1] * 17).to(MPS),
}


def integers(*shape):
    """Return ones on the device."""
    return torch.ones(*shape, dtype=torch.int32, device=MPS)


@pytest.mark.parametrize("what", REFUSED)
def test_refusals_outside_the_table_are_found(what):
    found = found_by(lambda: raises(RuntimeError, REFUSED[what]))
    assert [finding.what for finding in found if finding.kind == "refused"] == [what]


def test_what_always_runs_on_the_cpu_is_found(numbers):
    found = found_by(lambda: torch.nn.Embedding(4, 2, max_norm=1.0).to(MPS)(numbers.long().abs()))
    if device.release == "2.13":
        found += found_by(lambda: torch.linalg.svd(numbers.reshape(2, 2)))
    operators = {finding.operator for finding in found if finding.kind == "fallback"}
    assert operators == {f"aten::{name}" for name in always_on_cpu(device.release) if "." not in name}


# ---- Waits -------------------------------------------------------------------------------------

WAITS = {
    "x[mask]": ("aten::nonzero", lambda x: x[x > 0]),  # PyTorch asks where the mask is true
    "x[mask] = tensor": ("aten::_index_put_impl_", lambda x: x.__setitem__(x > 0, torch.ones(2, device=MPS))),
    "nonzero": ("aten::nonzero", lambda x: x.nonzero()),
    "masked_select": ("aten::masked_select", lambda x: x.masked_select(x > 0)),
    "unique": ("aten::_unique2", lambda x: x.unique()),
    "unique_consecutive": ("aten::unique_consecutive", lambda x: x.unique_consecutive()),
    "equal": ("aten::equal", lambda x: torch.equal(x, x)),
    "repeat_interleave": (
        "aten::repeat_interleave.Tensor",
        lambda x: torch.repeat_interleave(x.long().abs()),
    ),
    "bincount": ("aten::bincount", lambda x: torch.bincount(x.long().abs())),
}
NO_WAITS = {
    "x[indices]": lambda x: x[x.long()],
    "x[indices] = tensor": lambda x: x.__setitem__(x.long(), x.clone()),
    "masked_fill_": lambda x: x.masked_fill_(x > 0, 7),
    "index_put_": lambda x: x.index_put_((x > 0,), torch.tensor(7.0)),  # becomes masked_fill_
    "where": lambda x: torch.where(x > 0, x, 0),
    "repeat_interleave": lambda x: torch.repeat_interleave(x.long().abs(), output_size=4),
}


def assign_number(x):
    """Assign a number where a mask is true: since PyTorch 2.15 by masked_fill_, before by index_put_."""
    x[x > 0] = 7


if torch.__version__ < (2, 15):
    WAITS["x[mask] = number"] = ("aten::_index_put_impl_", assign_number)
else:
    NO_WAITS["x[mask] = number"] = assign_number


@pytest.mark.parametrize("case", WAITS)
def test_hidden_waits(numbers, case):
    operator, work = WAITS[case]
    ((finding, count),) = found_by(lambda: work(numbers)).items()
    assert (finding.event, finding.kind, finding.operator, count) == ("wait", "waits", operator, 1)
    assert finding.file == __file__


@pytest.mark.parametrize("case", NO_WAITS)
def test_no_hidden_wait(numbers, case):
    assert found_by(lambda: NO_WAITS[case](numbers)) == {}


def test_traceback_of_pytest_waits_for_nothing(numbers):
    assert found_by(lambda: saferepr(numbers)) == {}
    assert found_by(lambda: repr(numbers)).keys() != set()


# ---- Whose code --------------------------------------------------------------------------------


def of_file(path, text):
    """Return the function `f` of a text that seems to be in a file."""
    names = {}
    exec(compile(text, path, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("folder", ["lib/python3.11/site-packages/other", os.path.dirname(torch.__file__)])  # noqa: PTH120
def test_the_line_is_of_no_library(numbers, folder):
    wait = of_file(f"{folder}/a.py", "def f(x): return x.item()")
    (finding,) = found_by(lambda: wait(numbers[0]))
    assert (finding.file, finding.line) == (__file__, this_line() - 1)


def test_the_innermost_line_counts(numbers):
    wait = of_file("/project/model.py", "\n\ndef f(x): return x.item()")
    (finding,) = found_by(lambda: wait(numbers[0]))
    assert (finding.file, finding.line) == ("/project/model.py", 3)


class WaitsInBackward(torch.autograd.Function):
    """Its gradient waits."""

    @staticmethod
    def forward(ctx, x):
        """Return x."""
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        """Wait."""
        return gradient * gradient.sum().item()


def test_backward_pass_has_the_line_that_started_it():
    """It computes in another thread, where none of the user's code runs but functions like the one above."""
    x = torch.ones(3, device=MPS, requires_grad=True)
    points = torch.ones(2, 3, device=MPS, requires_grad=True)
    loss = points[points.detach() > 0].sum()  # its gradient puts values where the mask is true
    (finding,) = found_by(lambda: loss.backward())
    assert (finding.operator, finding.line) == ("aten::_index_put_impl_", this_line() - 1)
    (finding,) = found_by(lambda: WaitsInBackward.apply(x).sum().backward())
    assert (finding.event, finding.file) == ("item", __file__)
    assert finding.line < this_line() - 10


# ---- Limits of the simulation, which a Mac does not have ---------------------------------------


def capture():
    """Capture what Metal is told."""
    with torch.mps.profiler.metal_capture("trace"):
        pass


KERNEL = "kernel void k(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }"
METAL = {
    "torch.mps.compile_shader": (lambda: torch.mps.compile_shader(KERNEL), "compile Metal shaders"),
    "torch.mps.profiler.metal_capture": (capture, "capture Metal's commands"),
}
if hasattr(torch.mps, "load_metallib"):  # since 2.15
    for source in (b"MTLB", "kernels.metallib"):
        call = partial(torch.mps.load_metallib, source)
        METAL[f"torch.mps.load_metallib of {type(source).__name__}"] = (call, "load Metal libraries")


@pytest.mark.parametrize("case", METAL)
def test_what_needs_metal_is_a_limit(case):
    call, does = METAL[case]
    name = case.partition(" ")[0]
    line = re.escape(f"simulated_mps: the simulated device cannot {does}, a Mac can ({name})")
    ((finding, count),) = found_by(lambda: raises(RuntimeError, call, match=f"^{line}$")).items()
    assert (finding.kind, finding.what, finding.file, count) == ("limit", name, __file__, 1)


def test_types_that_the_cpu_lacks_are_a_limit():
    masks = torch.ones(1, 2, 2, dtype=torch.bool, device=MPS)
    found = found_by(lambda: raises(NotImplementedError, F.max_pool2d, masks, 2))
    assert [finding.what for finding in found if finding.kind == "limit"] == ["aten::max_pool2d"]
    assert not [finding for finding in found if finding.kind == "refused"]
