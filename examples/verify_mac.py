"""Verify on a Mac what the MPS Handbook says about MPS, in about two minutes.

Copy this file anywhere: it needs Python 3.9 or newer and PyTorch, and no other file.

    python verify_mac.py                 # prints a report and writes verify-mac.json into this folder
    python verify_mac.py --json FILE     # writes another file
    python verify_mac.py --device cpu    # without MPS: tries this program, verifies nothing about MPS

It sends nothing anywhere and writes nothing but the one file. Exit code 0: all checks were tried, whatever
they found; 1: no MPS, or no PyTorch; 2: wrong usage; 130: stopped with Ctrl-C, after a report so far.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import datetime
import functools
import json
import os
import platform
import queue
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.utils.checkpoint import checkpoint
except (ImportError, OSError) as reason:
    NO_TORCH = f"{type(reason).__name__}: {reason}".splitlines()[0]
else:
    NO_TORCH = ""

SCHEMA = 1
FIRST, LATEST = 9, 15  # releases that the tables below know, by their second number: 9 is 2.9
LIMIT = 60.0  # seconds for one check
START_LIMIT = 300.0  # seconds until a new process has imported PyTorch
TOLERANCE = 1e-3  # of the largest value; float32 is off by about 1e-6, bf16 would be by 4e-3
NOT_COMPARABLE = 1e99
MOST_BYTES = 2**20  # of an older report; a new one has about 30,000
COLUMNS, LINES = 100, 60  # of the report
MARK = "verify_mac>"
COMMAND = [sys.executable, str(Path(__file__).resolve())]
NO_FLOAT64 = (
    "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
    "Please use float32 instead."
)
VARIABLES = re.compile(r"(PYTORCH|TORCH|TORCHINDUCTOR|OMP|MKL|KMP|VECLIB|MPS|MTL|METAL)_\w+|DISABLE_MPS")
HARMLESS = re.compile(r"[\d.]{1,8}|true|false|on|off|yes|no", re.IGNORECASE)  # values that are shown
FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"  # hides what is missing, so the checks run without it
PATHS = re.compile(r"(?<![\w:/])[~/][^\s:'\",)]*/[^\s:'\",)]*")


class Expected(NamedTuple):
    """What the handbook says that a check finds; "" when it says nothing of this release."""

    found: str
    text: str = ""  # of the error, exactly


class Check(NamedTuple):
    """A check: `run` returns what it found on a device, `expect` what the handbook says of a release."""

    group: str
    name: str
    run: Callable[[str], dict[str, Any]]
    expect: Callable[[int], Expected]


# ---- Operators ----


class Operator(NamedTuple):
    """A call of an operator, and in which releases it works."""

    name: str  # as PyTorch's errors write it, without aten::
    call: str  # Python; the names of its tensors are those of Tensors.names
    since: int | None  # the first release with a kernel; 9: 2.9 or an older one; None: none up to LATEST
    text: str = ""  # with which it is refused nevertheless, from `since` on
    until: int = LATEST  # the last release that refuses

    def expect(self, release: int) -> Expected:
        """Return whether a release has it, lacks it or refuses these arguments."""
        if release < FIRST:
            return Expected("")
        if self.since is None or release < self.since:
            text = f"The operator 'aten::{self.name}' is not currently implemented for the MPS device."
            return Expected("missing", text)
        return Expected("refused", self.text) if self.text and release <= self.until else Expected("there")


POOL = "Adaptive pool MPS: "
DIVIDE = (
    " Non-divisible input sizes are not implemented on MPS device yet. For now, you can manually transfer "
    "tensor to cpu in this case. Please refer to [this issue](https://github.com/pytorch/pytorch/issues/96056)"
)
POOL_BOTH = (
    f"{POOL}Input height and width must both be greater than, or equal to, or lesser than output height "
    "and width"
)
POOL_LESS = f"{POOL}input sizes must be divisible by output sizes.{DIVIDE}"
POOL_MORE = f"{POOL}output sizes must be divisible by input sizes.{DIVIDE}"
LINEAR = "MPS device does not support linear for non-float inputs"
ADDR = "MPS device does not support addr for non-float input"
BADDBMM = "MPS device does not support addbmm or baddbmm for non-float inputs"
LSTM = "LSTM with projections is not currently supported with MPS."
REDUCE = "index_reduce for MPS does not support torch.long dtype"
QR = "geqrf: MPS currently supports float32 only"
LU_COMPLEX = "linalg.lu_factor(): MPS doesn't support complex types."
INVERSE = "linalg_inv: not supported for complex types yet!"
CHOLESKY = "cholesky_inverse: MPS only supports float type!"
BICUBIC = "_upsample_bicubic2d_aa_out_mps only supports floating-point dtypes"
BILINEAR = "_upsample_bilineard2d_aa_out_mps only supports floating-point dtypes"

OPERATORS = (
    # In no release up to 2.15
    Operator("_adaptive_avg_pool3d", "F.adaptive_avg_pool3d(c(1, 2, 4, 4, 4), 2)", None),
    Operator("adaptive_max_pool3d", "F.adaptive_max_pool3d(c(1, 2, 4, 4, 4), 2)", None),
    Operator("channel_shuffle", "F.channel_shuffle(c(1, 4, 2, 2), 2)", None),
    Operator("_pdist_forward", "F.pdist(c(5, 3))", None),
    Operator("fractional_max_pool2d", "F.fractional_max_pool2d(c(1, 2, 8, 8), 2, output_size=4)", None),
    Operator("segment_reduce", "torch.segment_reduce(c(6), 'sum', lengths=i(2) * 0 + 3)", None),
    Operator("mode", "torch.mode(i(4, 9)).values", None),
    Operator("linalg_eig", "torch.linalg.eig(c(4, 4)).eigenvalues.abs().sum()", None),
    Operator("linalg_ldl_factor_ex", "torch.linalg.ldl_factor(c(4, 4)).LD", None),
    Operator("multi_margin_loss", "F.multi_margin_loss(c(4, 9), i(4))", None),
    Operator("multilabel_margin_loss_forward", "F.multilabel_margin_loss(c(4, 9), i(4, 9))", None),
    Operator("special_airy_ai", "torch.special.airy_ai(c(9))", None),
    Operator("special_log_ndtr", "torch.special.log_ndtr(c(9))", None),
    Operator("special_ndtri", "torch.special.ndtri(p(9))", None),
    # New in 2.10 to 2.15
    Operator("heaviside", "torch.heaviside(c(9), c(9))", 15),
    Operator("take", "torch.take(c(9), i(4))", 15),
    Operator("_int_mm", "torch._int_mm(i(32, 32).to(torch.int8), i(32, 32).to(torch.int8))", 15),
    Operator(
        "_ctc_loss", "F.ctc_loss(c(9, 2, 5).log_softmax(2), i(2, 3) % 4 + 1, i(2) * 0 + 9, i(2) * 0 + 3)", 14
    ),
    Operator("linalg_matrix_exp", "torch.linalg.matrix_exp(c(3, 4, 4))", 14),
    Operator("poisson", "torch.poisson(p(9)) * 0", 14),
    Operator("_linalg_eigh", "torch.linalg.eigvalsh(c(4, 4))", 14),
    Operator(
        "_upsample_bilinear2d_aa_backward",
        "F.interpolate(x(1, 2, 8, 8), (5, 3), mode='bilinear', antialias=True)",
        14,
    ),
    Operator("_cdist_backward", "torch.cdist(x(5, 3), x(4, 3))", 13),
    Operator("_sample_dirichlet", "torch.distributions.Dirichlet(p(4, 3)).sample().sum(-1)", 13),
    Operator(
        "grid_sampler_2d_backward", "F.grid_sample(x(1, 2, 6, 6), x(1, 4, 4, 2) / 4, align_corners=False)", 13
    ),
    Operator("lcm", "torch.lcm(i(9) + 1, i(9) + 1)", 13),
    Operator("_cholesky_solve_helper", "torch.cholesky_solve(c(4, 2), torch.eye(4).to(d) * 2)", 12),
    Operator("_standard_gamma", "torch.distributions.Gamma(p(9), p(9)).sample() * 0", 12),
    Operator("index_reduce", "c(5, 3).index_reduce_(0, i(4) % 5, c(4, 3), 'amax')", 12),
    Operator("linalg_qr", "torch.linalg.qr(x(6, 4)).R.abs()", 12),
    Operator("cholesky_inverse", "torch.cholesky_inverse(torch.eye(4).to(d) * 2)", 11),
    Operator("gcd", "torch.gcd(i(9), i(9))", 11),
    Operator("special_erfcx", "torch.special.erfcx(p(9))", 11),
    Operator("vdot", "torch.vdot(c(9), c(9))", 11),
    Operator("_embedding_bag_forward_only", "F.embedding_bag(i(4, 3) % 6, c(6, 5))", 10),
    Operator("linalg_householder_product", "torch.linalg.householder_product(c(5, 3), c(3))", 10),
    Operator("linalg_lu", "torch.linalg.lu(c(4, 4)).U", 10),
    Operator("unique_dim", "torch.unique(i(9, 2) % 2, dim=0)", 10),
    # In 2.9 and since
    Operator("_logcumsumexp", "torch.logcumsumexp(x(4, 9), 1)", 9),
    Operator("avg_pool3d", "F.avg_pool3d(x(1, 2, 4, 4, 4), 2)", 9),
    Operator(
        "grid_sampler_3d", "F.grid_sample(c(1, 2, 4, 4, 4), c(1, 3, 3, 3, 3) / 4, align_corners=False)", 9
    ),
    Operator("igamma", "torch.igamma(p(9), p(9))", 9),
    Operator("kthvalue", "torch.kthvalue(c(4, 9), 3).values", 9),
    Operator("max_pool3d_with_indices", "F.max_pool3d(x(1, 2, 4, 4, 4), 2)", 9),
    Operator("native_layer_norm", "F.layer_norm(x(4, 8), (8,), x(8), x(8))", 9),
    Operator("native_group_norm", "F.group_norm(x(2, 6, 4, 4), 3, x(6), x(6))", 9),
    Operator("_softmax", "F.softmax(x(4, 9), 1)", 9),
    Operator("gelu", "F.gelu(x(99))", 9),
    Operator("cumsum", "torch.cumsum(x(4, 9), 1)", 9),
    Operator("topk", "torch.topk(x(4, 9), 3).values", 9),
    Operator("_linalg_solve_ex", "torch.linalg.solve(c(4, 4) + 4 * torch.eye(4).to(d), c(4, 2))", 9),
    Operator("_linalg_slogdet", "torch.linalg.slogdet(c(4, 4)).logabsdet", 9),
    Operator("_fft_r2c", "torch.fft.rfft(c(16)).abs()", 9),
    Operator("scatter_reduce", "c(5).scatter_reduce(0, i(9) % 5, c(9), 'amax')", 9),
    # Refused with these arguments
    Operator("_adaptive_avg_pool2d", "F.adaptive_avg_pool2d(c(1, 2, 4, 4), (2, 8))", 9, POOL_BOTH),
    Operator("_adaptive_avg_pool2d", "F.adaptive_avg_pool2d(c(1, 2, 7, 7), 3)", 9, POOL_LESS),
    Operator("_adaptive_avg_pool2d", "F.adaptive_avg_pool2d(c(1, 2, 3, 3), 7)", 9, POOL_MORE),
    Operator("adaptive_max_pool2d", "F.adaptive_max_pool2d(c(1, 2, 4, 4), (2, 8))", 9, POOL_BOTH, 13),
    Operator("linear", "F.linear(i(2, 3), i(4, 3))", 9, LINEAR),
    Operator("lstm", "nn.LSTM(4, 6, proj_size=3).to(d)(c(5, 2, 4))[0]", 9, LSTM),
    Operator("index_reduce", "i(5, 3).index_reduce_(0, i(4) % 5, i(4, 3), 'amax')", 12, REDUCE),
    Operator("addr", "torch.addr(i(2, 3), i(2), i(3))", 9, ADDR),
    Operator("geqrf", "torch.geqrf(z(4, 4))[0].abs()", 14, QR),
    Operator("linalg_lu_factor_ex", "torch.linalg.lu_factor(z(4, 4)).LU", 9, LU_COMPLEX, 14),
    Operator("linalg_inv_ex", "torch.linalg.inv(z(4, 4))", 9, INVERSE),
    Operator("cholesky_inverse", "torch.cholesky_inverse(z(4, 4))", 11, CHOLESKY),
    Operator("baddbmm", "torch.baddbmm(i(2, 3, 3), i(2, 3, 3), i(2, 3, 3))", 9, BADDBMM, 10),
    Operator(
        "_upsample_bicubic2d_aa",
        "F.interpolate(i(1, 1, 8, 8).byte(), (4, 4), mode='bicubic', antialias=True)",
        9,
        BICUBIC,
    ),
    Operator(
        "_upsample_bilinear2d_aa",
        "F.interpolate(i(1, 1, 8, 8).byte(), (4, 4), mode='bilinear', antialias=True)",
        9,
        BILINEAR,
    ),
)


class Tensors:
    """Makes the same random tensors on every device: they come from the CPU."""

    def __init__(self, device: str) -> None:
        torch.manual_seed(0)
        self.device = device
        self.generator = torch.Generator().manual_seed(1)
        self.leaves: list[torch.Tensor] = []

    def c(self, *shape: int) -> torch.Tensor:
        """Return normal numbers, constants for autograd."""
        return torch.randn(shape, generator=self.generator).to(self.device)

    def p(self, *shape: int) -> torch.Tensor:
        """Return numbers from 0.1 to 0.9."""
        return (torch.rand(shape, generator=self.generator) * 0.8 + 0.1).to(self.device)

    def i(self, *shape: int) -> torch.Tensor:
        """Return whole numbers from 0 to 8."""
        return torch.randint(0, 9, shape, generator=self.generator).to(self.device)

    def z(self, *shape: int) -> torch.Tensor:
        """Return complex numbers."""
        return torch.randn(shape, generator=self.generator, dtype=torch.complex64).to(self.device)

    def x(self, *shape: int) -> torch.Tensor:
        """Return normal numbers that need a gradient."""
        self.leaves.append(self.c(*shape).requires_grad_())
        return self.leaves[-1]

    def before_noise(self, *shape: int) -> torch.Tensor:
        """Return normal numbers behind which the memory holds hundreds, not zeros."""
        numbers = self.c(*shape)
        memory = torch.full((numbers.numel() + 2**17,), 100.0, device=self.device)
        memory[: numbers.numel()] = numbers.flatten()
        return memory[: numbers.numel()].view(shape)

    def names(self) -> dict[str, Any]:
        """Return what the calls of OPERATORS may use."""
        own = {name: getattr(self, name) for name in "cpizx"}
        return own | {"torch": torch, "F": F, "nn": nn, "d": self.device}

    def gradients(self, output: torch.Tensor) -> list[torch.Tensor]:
        """Return the gradients of all leaves, for random gradients of the output."""
        (output * self.c(*output.shape)).sum().backward()
        return [leaf.grad for leaf in self.leaves if leaf.grad is not None]


def with_gradients(call: str, device: str) -> list[torch.Tensor]:
    """Return the result of a call of OPERATORS, and its gradients where it has some."""
    tensors = Tensors(device)
    output = eval(call, tensors.names())  # a text of this file
    return [output, *(tensors.gradients(output) if output.requires_grad else [])]


def difference(found: list[torch.Tensor], wanted: list[torch.Tensor]) -> float:
    """Return the largest difference relative to the largest value; or NOT_COMPARABLE (NaN, shapes)."""
    worst = 0.0 if len(found) == len(wanted) else NOT_COMPARABLE
    for one, other in zip(found, wanted):  # noqa: B905 - strict= is not for Python 3.9
        a, b = (torch.view_as_real(t) if t.is_complex() else t for t in (one.detach().cpu(), other.detach()))
        if a.shape != b.shape:
            return NOT_COMPARABLE
        if a.numel():
            a, b = a.double(), b.double()
            gap = float((a - b).abs().max() / (b.abs().max() or 1))
            worst = max(worst, gap if gap < NOT_COMPARABLE else NOT_COMPARABLE)  # NaN is not less
    return worst


def first_line(error: BaseException) -> str:
    """Return the first line of an error, without its type."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def run_operator(operator: Operator, device: str) -> dict[str, Any]:
    """Call an operator on the device and compare values and gradients with the CPU."""
    try:
        found = with_gradients(operator.call, device)
        sync(device)
    except (RuntimeError, TypeError, ValueError) as error:  # of which NotImplementedError is one
        text = first_line(error)
        missing = "is not currently implemented for the MPS device" in text
        return {"found": "missing" if missing else "refused", "text": text}
    gap = difference(found, with_gradients(operator.call, "cpu"))
    return {"found": "there" if gap <= TOLERANCE else "wrong values", "difference": gap}


# ---- Wrong results ----


class Case(NamedTuple):
    """A known wrong result. `compute` returns tensors that have to be equal to those of the CPU."""

    source: int  # the report in pytorch/pytorch
    name: str
    compute: Callable[[Tensors], Any]
    wrong: tuple[int, int] | None  # the first and the last release of which the handbook says wrong
    right: int | None  # the first of which it says right
    where: str  # the machines to which `wrong` is limited

    def expect(self, release: int) -> Expected:
        """Return "wrong", "right", or "" where that is not known or depends on the machine."""
        if self.right is not None and release >= self.right:
            return Expected("right")
        wrong = self.wrong is not None and self.wrong[0] <= release <= self.wrong[1]
        return Expected("wrong" if wrong and not self.where else "")


CASES: list[Case] = []
Compute = Callable[[Tensors], Any]


def case(
    source: int, name: str, wrong: tuple[int, int] | None = None, right: int | None = None, where: str = ""
) -> Callable[[Compute], Compute]:
    """Add a function to CASES."""

    def add(compute: Compute) -> Compute:
        CASES.append(Case(source, name, compute, wrong, right, where))
        return compute

    return add


@case(195163, "bmm with an inner size of 32,767", wrong=(13, 15), where="M1 and M2")
def bmm_of_long_rows(t: Tensors) -> torch.Tensor:
    return torch.bmm(t.before_noise(2, 16, 32767), t.before_noise(2, 32767, 16))


@case(127676, "checkpointing of a block with dropout", wrong=(9, 15))
def checkpointed_dropout(t: Tensors) -> torch.Tensor:
    x = t.x(4096)
    output = checkpoint(F.dropout, x, 0.5, use_reentrant=False)
    output.sum().backward()
    return ((output == 0) != (x.grad == 0)).sum()  # values that one pass dropped and the other did not


@case(96225, "weight gradient of conv1d, batch 65,536")
def conv1d_of_many(t: Tensors) -> list[torch.Tensor]:
    return t.gradients(F.conv1d(t.c(65536, 1, 8), t.x(2, 1, 3)))


@case(190060, "EmbeddingBag with include_last_offset", wrong=(13, 15))
def last_offset(t: Tensors) -> torch.Tensor:
    offsets = torch.tensor([0, 2, 4], device=t.device)
    return F.embedding_bag(t.i(8) % 6, t.c(6, 5), offsets, mode="sum", include_last_offset=True)


@case(180201, "product with an expanded matrix", wrong=(11, 11), where="macOS 15.0 to 26.3")
def expanded_product(t: Tensors) -> torch.Tensor:
    return t.p(1, 1).expand(64, 48) @ t.c(48, 32)


@case(189233, "gradient of AvgPool2d, channels_last")
def average_pooling(t: Tensors) -> list[torch.Tensor]:
    return t.gradients(F.avg_pool2d(t.x(2, 8, 9, 9).to(memory_format=torch.channels_last), 3))


@case(175189, "gradients of BatchNorm2d, channels_last", wrong=(9, 13), right=14)
def batch_normalization(t: Tensors) -> list[torch.Tensor]:
    images = t.x(4, 8, 6, 6).to(memory_format=torch.channels_last)
    return t.gradients(F.batch_norm(images, None, None, t.x(8), t.x(8), training=True))


@case(192934, "Linear with a bias on a 3-D input", wrong=(13, 13), where="a virtual M1 with macOS 26.5")
def linear_with_bias(t: Tensors) -> torch.Tensor:
    return F.linear(t.c(8, 197, 64), t.c(96, 64), t.c(96))


@case(196949, "gradient through reflection padding of 100,000 samples", wrong=(14, 14), right=15)
def reflection_padding(t: Tensors) -> list[torch.Tensor]:
    return t.gradients(F.pad(t.x(1, 1, 100_000), (512, 512), mode="reflect"))


@case(194813, "complex x ** 2 where x is 0", wrong=(14, 14), right=15)
def complex_power(t: Tensors) -> torch.Tensor:
    return (t.z(9) * torch.arange(9, device=t.device)) ** 2


@case(194922, "F.pad of a 5-D tensor, planes of 256 × 256", wrong=(13, 14), right=15)
def padded_video(t: Tensors) -> torch.Tensor:
    return F.pad(t.c(1, 2, 3, 256, 256), (1, 1, 1, 1, 1, 1))


@case(197715, "copy into a float64 tensor on the CPU", wrong=(14, 14), right=15)
def copy_to_float64(t: Tensors) -> torch.Tensor:
    source, target = t.c(64), torch.full((64,), 7.0, dtype=torch.float64)
    with contextlib.suppress(TypeError, RuntimeError):  # an error instead is right, too
        target.copy_(source)
        return target
    return source


@case(190056, "gradient of an LSTM with dropout", wrong=(9, 13), right=14)
def lstm_gradient(t: Tensors) -> torch.Tensor:
    lstm, x = nn.LSTM(8, 8, num_layers=2, dropout=1 - 1e-7).to(t.device), t.x(5, 2, 8)
    lstm(x)[0].sum().backward()
    return x.grad  # 0: everything between the layers is dropped


@case(190064, "adaptive_max_pool2d from 7 × 7 to 3 × 3", wrong=(13, 13), right=14)
def uneven_maximum(t: Tensors) -> torch.Tensor:
    return F.adaptive_max_pool2d(t.c(1, 2, 7, 7), 3)


@case(189565, "input gradient of Linear with one output, loss .sum()", wrong=(13, 13), right=14)
def single_output(t: Tensors) -> torch.Tensor:
    x = t.x(4096, 16)
    F.linear(x, t.c(1, 16)).sum().backward()
    return x.grad


@case(193487, "matrix product with an inner size of 40,000", wrong=(9, 13), right=14, where="M1 and M2")
def product_of_long_rows(t: Tensors) -> torch.Tensor:
    return t.before_noise(32, 40000) @ t.before_noise(40000, 32)


@case(192212, "conv2d with a weight that is not contiguous", wrong=(9, 13), right=14)
def transposed_weight(t: Tensors) -> list[torch.Tensor]:
    images = t.c(2, 4, 8, 8)
    weights = t.c(4, 6, 3, 3).transpose(0, 1), t.c(3, 3, 4, 6).permute(3, 2, 0, 1)
    return [F.conv2d(images, weight) for weight in weights]


@case(189563, "copy of a slice to the CPU with another data type", wrong=(13, 13), right=14)
def converted_slice(t: Tensors) -> torch.Tensor:
    return t.c(256).half()[64:].to("cpu", torch.float32)


@case(180744, "dropout of an LSTM draws anew", wrong=(9, 12), right=13)
def lstm_dropout(t: Tensors) -> torch.Tensor:
    lstm, x = nn.LSTM(8, 8, num_layers=2, dropout=0.5).to(t.device), t.c(9, 4, 8)
    return (lstm(x)[0] == lstm(x)[0]).all()


@case(185119, "gradient of an Embedding with padding_idx", wrong=(9, 12), right=13)
def padding_vector(t: Tensors) -> list[torch.Tensor]:
    return t.gradients(F.embedding(t.i(64) % 4, t.x(4, 5), padding_idx=0))


@case(184122, "attention with a second scale", wrong=(9, 12), right=13)
def second_scale(t: Tensors) -> torch.Tensor:
    q, k, v = t.c(1, 2, 16, 8), t.c(1, 2, 16, 8), t.c(1, 2, 16, 8)
    with torch.no_grad():
        return [F.scaled_dot_product_attention(q, k, v, scale=scale) for scale in (1.0, 0.1)][1]


@case(183825, "LayerNorm behind frozen layers", wrong=(9, 12), right=13)
def frozen_input(t: Tensors) -> list[torch.Tensor]:
    return t.gradients(F.layer_norm(t.c(64, 32), (32,), t.x(32), t.x(32)))


@case(175187, "sort of a tensor that is not contiguous", wrong=(12, 12), right=13)
def sorted_columns(t: Tensors) -> list[torch.Tensor]:
    return list(t.c(64, 48).t().sort(-1))


@case(174345, "BatchNorm2d and avg_pool2d of image tokens", wrong=(9, 11), right=12)
def image_tokens(t: Tensors) -> list[torch.Tensor]:
    images = t.c(2, 17, 8)[:, 1:].reshape(2, 4, 4, 8).permute(0, 3, 1, 2)
    return [F.batch_norm(images, None, None, training=True), F.avg_pool2d(images, 2)]


def run_case(known: Case, device: str) -> dict[str, Any]:
    """Compute a known wrong result on the device and on the CPU, and compare."""
    try:
        found = known.compute(Tensors(device))
        sync(device)
    except (RuntimeError, TypeError, ValueError) as error:
        return {"found": "error", "text": first_line(error)}
    wanted = known.compute(Tensors("cpu"))
    pair = [list(part) if isinstance(part, (list, tuple)) else [part] for part in (found, wanted)]
    gap = difference(*pair)
    return {"found": "right" if gap <= TOLERANCE else "wrong", "difference": gap}


# ---- Device, memory, speed ----


def sync(device: str) -> None:
    """Wait until the device has done its work."""
    if device.startswith("mps"):
        torch.mps.synchronize()


def run_float64(device: str) -> dict[str, Any]:
    """Ask for a float64 tensor."""
    try:
        torch.ones(2, dtype=torch.float64, device=device)
    except (RuntimeError, TypeError) as error:
        return {"found": "refused", "text": first_line(error)}
    return {"found": "there"}


def run_autocast(dtype: str, device: str) -> dict[str, Any]:
    """Multiply under autocast; the product has to have its type and about the values of float32."""
    tensors = Tensors(device)
    a, b = tensors.c(32, 32), tensors.c(32, 32)
    with torch.autocast(device.partition(":")[0], dtype=getattr(torch, dtype)):
        product = a @ b
    right = product.dtype == getattr(torch, dtype) and difference([product], [a.cpu() @ b.cpu()]) < 0.02
    return {"found": "right" if right else "wrong", "text": str(product.dtype)}


def run_accelerator(device: str) -> dict[str, Any]:
    """Compare the device that torch.accelerator names (since 2.6)."""
    named = torch.accelerator.current_accelerator() if hasattr(torch, "accelerator") else None
    return {"found": "right" if str(named) == device else "wrong", "text": f"torch.accelerator: {named}"}


def run_memory(device: str) -> dict[str, Any]:
    """Return memory in MB: before 256 MB are taken, with them, when they are freed, and after empty_cache."""
    if not device.startswith("mps"):
        return {"found": "not tried", "text": "only MPS has these figures"}

    def now() -> list[int]:
        sync(device)
        return [torch.mps.current_allocated_memory() >> 20, torch.mps.driver_allocated_memory() >> 20]

    torch.mps.empty_cache()
    figures = {"recommended": torch.mps.recommended_max_memory() >> 20, "before": now()}
    block = torch.ones(64 << 20, device=device)
    figures["with 256 MB"] = now()
    del block
    figures["freed"] = now()
    torch.mps.empty_cache()
    return {"found": "measured", "figures": figures | {"emptied": now()}}


def work_of(kind: str, size: int, device: str) -> tuple[float, Callable[[], Any]]:
    """Return the floating-point operations of a computation, and the function that does it."""
    tensors = Tensors(device)
    if kind == "3x3 convolution, fp32":
        images, weight = tensors.c(8, 64, size // 16, size // 16), tensors.c(64, 64, 3, 3)
        return 2.0 * 9 * 64 * images.numel(), functools.partial(F.conv2d, images, weight, padding=1)
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[kind.split()[-1]]
    a, b = (tensors.c(size, size).to(dtype) for _ in range(2))
    return 2.0 * size**3, functools.partial(torch.mm, a, b)


def seconds_of(compute: Callable[[], Any], device: str, runs: int) -> list[float]:
    """Return the time of each run, after 3 that are not counted."""
    taken = []
    for _ in range(3 + runs):
        sync(device)
        started = time.perf_counter()
        compute()
        sync(device)
        taken.append(time.perf_counter() - started)
    return taken[3:]


def run_speed(kind: str, device: str) -> dict[str, Any]:
    """Return median, lowest and highest TFLOP/s of 10 runs; a slow device gets a small computation."""
    _, compute = work_of(kind, 256, device)
    growth = 64 if kind.startswith("3x3") else 512  # of the work from 256 to 2048
    size = 2048 if seconds_of(compute, device, 1)[0] * growth < 3 else 256
    work, compute = work_of(kind, size, device)
    rates = [work / seconds / 1e12 for seconds in seconds_of(compute, device, 10)]
    figures = {"median": statistics.median(rates), "lowest": min(rates), "highest": max(rates)}
    shown = {key: float(f"{value:.3g}") for key, value in figures.items()}
    return {"found": "measured", "figures": {"gflop": round(work / 1e9, 2), "runs": len(rates), **shown}}


def nothing_said(release: int) -> Expected:
    """Return that the handbook has no figure for this."""
    return Expected("")


def said_right(release: int) -> Expected:
    """Return that this works, in every release of the tables."""
    return Expected("right" if release >= FIRST else "")


def all_checks() -> list[Check]:
    """Return all checks in their order."""
    checks = [
        Check("device", "float64", run_float64, lambda release: Expected("refused", NO_FLOAT64)),
        Check("device", "torch.accelerator", run_accelerator, said_right),
    ]
    for dtype in ("bfloat16", "float16"):
        run = functools.partial(run_autocast, dtype)
        checks.append(Check("device", f"autocast {dtype}", run, said_right))
    for op in OPERATORS:
        checks.append(Check("operators", op.call, functools.partial(run_operator, op), op.expect))
    for known in CASES:
        name = f"{known.source} {known.name}" + (f" (on {known.where})" if known.where else "")
        checks.append(Check("wrong results", name, functools.partial(run_case, known), known.expect))
    checks.append(Check("memory", "256 MB", run_memory, nothing_said))
    for kind in (
        "matrix product, fp32",
        "matrix product, bf16",
        "matrix product, fp16",
        "3x3 convolution, fp32",
    ):
        checks.append(Check("speed", kind, functools.partial(run_speed, kind), nothing_said))
    return checks


# ---- The child process ----


def torch_facts() -> dict[str, Any]:
    """Return what PyTorch tells of itself and of the device."""
    mps = torch.backends.mps
    facts = {"torch": torch.__version__, "available": mps.is_available(), "built": mps.is_built()}
    for name, ask in (("gpu", "get_name"), ("gpu_cores", "get_core_count")):  # not in older releases
        if facts["available"] and hasattr(mps, ask):
            facts[name] = getattr(mps, ask)()
    return facts


def answer(device: str, first: int) -> None:
    """In the child process: print a line of facts, then one for each check from number `first` on."""
    print(MARK + json.dumps(torch_facts()), flush=True)
    for check in all_checks()[first:]:
        started = time.perf_counter()
        try:
            found = check.run(device)
        except Exception as error:  # a check may fail in any way, and the others go on
            found = {"found": "error", "text": f"{type(error).__name__}: {first_line(error)}"}
        seconds = round(time.perf_counter() - started, 2)
        print(MARK + json.dumps({"name": check.name, **found, "seconds": seconds}), flush=True)


class Child:
    """The process in which the checks run, from number `first` on. It may die or hang at any of them."""

    def __init__(self, device: str, first: int) -> None:
        environment = {name: value for name, value in os.environ.items() if name != FALLBACK}
        command = [*COMMAND, "--device", device, "--answer", str(first)]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in stop()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
            start_new_session=True,  # Ctrl-C is for us alone
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        """Pass on what the child prints, and None at its end."""
        assert self.process.stdout
        with self.process.stdout as output:
            for line in output:
                if MARK.encode() in line and line.endswith(b"\n"):  # not one that its end cut off
                    self.lines.put(line.decode("utf-8", "replace").partition(MARK)[2])
        self.lines.put(None)

    def next(self, limit: float) -> dict[str, Any]:
        """Return the next answer, or what stands for it when the process ended or was silent for too long."""
        try:
            line = self.lines.get(timeout=limit)
        except queue.Empty:
            return {"found": "hung", "text": f"no answer within {limit:g} seconds", "over": True}
        if line is not None:
            return dict(json.loads(line))
        code = self.process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        self.errors.seek(0)
        last = (self.errors.read().decode("utf-8", "replace").strip().splitlines() or [""])[-1]
        return {"found": f"ended the process ({how})", "text": last[:300], "over": True}

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # one that waits for the GPU may outlive this
            self.process.wait(timeout=5)
            self.reader.join()
        self.errors.close()


# ---- The run ----


class Run:
    """What was found so far."""

    def __init__(self, device: str, release: int | None) -> None:
        self.device = device
        self.release = release  # to compare with; None: that of the installed PyTorch
        self.facts: dict[str, Any] = {}
        self.results: list[dict[str, Any]] = []
        self.failure = ""  # why no check could run
        self.complete = False

    def learn(self, facts: dict[str, Any]) -> None:
        """Take the facts of a child; note in `failure` why there is nothing to check."""
        if facts.get("over"):
            self.failure = f"PyTorch did not start: {facts['found']} {facts['text']}".rstrip()
            return
        self.facts = facts
        if self.release is None:
            self.release = second_number(facts["torch"])
        if self.device == "mps" and not facts["available"]:
            self.failure = f"no MPS: {why_no_mps(facts)}"

    def add(self, check: Check, found: dict[str, Any]) -> None:
        """Compare what a check found with the handbook, and keep both."""
        wanted = check.expect(min(self.release or 0, LATEST))
        row: dict[str, Any] = {"group": check.group, "name": check.name}
        row |= {"expected": wanted.found, "expected_text": wanted.text}
        row |= {key: value for key, value in found.items() if key not in ("name", "over")}
        row["agrees"] = agrees(wanted, found) if self.device == "mps" else None
        self.results.append(row)

    def go(self) -> None:
        """Run all checks, in a new child behind each that ended or hung."""
        checks = all_checks()
        while len(self.results) < len(checks) and not self.failure:
            child = Child(self.device, len(self.results))
            try:
                self.learn(child.next(START_LIMIT))
                for check in checks[len(self.results) :] if not self.failure else []:
                    show_progress(len(self.results), len(checks))
                    found = child.next(LIMIT)
                    self.add(check, found)
                    if found.get("over"):
                        break
            finally:
                child.stop()
                show_progress(0, 0)
        self.complete = not self.failure


def show_progress(done: int, total: int) -> None:
    """Show on a terminal how far the checks are; 0 of 0 removes the line."""
    if sys.stderr.isatty():
        text = f"check {done + 1} of {total} (Ctrl-C: report what there is)" if total else ""
        print(f"\r{text:60}", end="\r", file=sys.stderr, flush=True)


def agrees(wanted: Expected, found: dict[str, Any]) -> bool | None:
    """Return whether the finding is what the handbook says; None where it says nothing."""
    if not wanted.found:
        return None
    text = found.get("text", "")
    if wanted.found == "missing":  # the name may carry an overload: aten::take.out
        start, middle, rest = wanted.text.partition("' is ")
        same_text = text.startswith(wanted.text) or (text.startswith(f"{start}.") and middle + rest in text)
    else:
        same_text = not wanted.text or text == wanted.text
    return found["found"] == wanted.found and same_text


def why_no_mps(facts: dict[str, Any]) -> str:
    """Return in words why PyTorch has no MPS here."""
    if sys.platform != "darwin":
        return f"this is {platform.system()}, and MPS exists on macOS only"
    if not facts["built"]:
        return f"PyTorch {facts['torch']} was built without it"
    return "PyTorch finds no GPU that it can use; check_setup.py tells why"


# ---- The machine ----


def output_of(*command: str) -> str:
    """Return the output of a command of macOS; "" on other systems, or when it fails."""
    if sys.platform != "darwin":
        return ""
    environment = {**os.environ, "SYSTEM_VERSION_COMPAT": "0"}  # the true version of macOS
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=10, check=False
        )
        return done.stdout.strip()
    return ""


def machine() -> dict[str, Any]:
    """Return facts of this machine, and nothing that tells whose it is."""
    memory = output_of("sysctl", "-n", "hw.memsize")
    if not memory and hasattr(os, "sysconf"):
        memory = str(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    power = re.search(r"drawing from '([\w ]+)'", output_of("pmset", "-g", "batt"))
    saving = re.search(r"lowpowermode\s+1", output_of("pmset", "-g"))
    cores = re.search(r'"gpu-core-count" = (\d+)', output_of("ioreg", "-rd1", "-c", "AGXAccelerator"))
    named = sorted(name for name in os.environ if VARIABLES.fullmatch(name))
    return {
        "system": platform.system(),
        "chip": output_of("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine(),
        "gpu_cores": int(cores[1]) if cores else 0,
        "memory_gb": round(int(memory or 0) / 2**30, 1),
        "macos": output_of("sw_vers", "-productVersion"),
        "virtual": output_of("sysctl", "-n", "kern.hv_vmm_present") == "1",
        "power": (power[1] if power else "unknown") + (", low power mode" if saving else ""),
        "python": platform.python_version(),
        "variables": {
            name: os.environ[name] if HARMLESS.fullmatch(os.environ[name]) else "set" for name in named
        },
    }


def without_paths(value: Any) -> Any:
    """Return a report without any path: errors of libraries may hold one, and with it a name."""
    if isinstance(value, dict):
        return {key: without_paths(part) for key, part in value.items()}
    if isinstance(value, list):
        return [without_paths(part) for part in value]
    if not isinstance(value, str):
        return value
    own = {str(Path("~").expanduser()), str(Path.cwd()), str(Path(__file__).resolve().parent), sys.prefix}
    for folder in sorted(own - {"/", "~"}, key=len, reverse=True):
        value = value.replace(folder, "/…/")
    return PATHS.sub("(path)", value)


# ---- The report ----


def as_report(run: Run) -> dict[str, Any]:
    """Return everything that was found, as it is written to the JSON file."""
    about = machine() | {"torch": run.facts.get("torch", "")}
    about["gpu"] = run.facts.get("gpu", "")
    about["gpu_cores"] = run.facts.get("gpu_cores") or about["gpu_cores"]
    release = min(run.release or 0, LATEST)
    groups = list(dict.fromkeys(check.group for check in all_checks()))
    return without_paths(
        {
            "schema": SCHEMA,
            "program": "verify_mac",
            "complete": run.complete,
            "date": datetime.date.today().isoformat(),
            "device": run.device,
            "compared_with": f"2.{release}" if release >= FIRST else "",
            "machine": about,
            "counts": {
                group: counts([row for row in run.results if row["group"] == group]) for group in groups
            },
            "checks": run.results,
        }
    )


def counts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how many checks found what, and how many of them the handbook foretold."""
    verdicts = [row["agrees"] for row in rows]
    return {
        "tried": len(rows),
        "as said": verdicts.count(True),
        "differ": verdicts.count(False),
        "nothing said": verdicts.count(None),
        "found": dict(collections.Counter(row["found"] for row in rows)),
    }


def wrapped(text: str, most: int) -> list[str]:
    """Return a text in at most `most` lines; the first begins with a dash."""
    lines = textwrap.wrap(text, COLUMNS - 2, break_on_hyphens=False)
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1][: COLUMNS - 4] + " …"]
    return [("- " if number == 0 else "  ") + line for number, line in enumerate(lines)]


def rows_as_text(rows: list[dict[str, Any]], most: int, said: bool) -> list[str]:
    """Return findings in at most `most` lines: what the handbook says, and what was found."""
    lines: list[str] = []
    for number, row in enumerate(rows):
        found = " ".join(filter(None, [row["found"], figure(row), row.get("text", "")]))
        same = row["expected"] == row["found"]
        wanted = f"handbook: {row['expected']}{' with another text' if same else ''}; " if said else ""
        new = wrapped(f"{row['name']}; {wanted}here: {found}", 2)
        if len(lines) + len(new) > most - (number < len(rows) - 1):
            return [*lines, f"- and {len(rows) - number} more in the JSON file"]
        lines += new
    return lines


def figure(row: dict[str, Any]) -> str:
    """Return by how much values differ, where they do."""
    gap = row.get("difference", 0)
    if gap <= TOLERANCE:
        return ""
    return "(NaN or another shape)" if gap == NOT_COMPARABLE else f"(off by {gap:.1g} of the largest value)"


def heading(report: dict[str, Any]) -> list[str]:
    """Return the first lines: what the handbook got wrong."""
    rows = report["checks"]
    differ = [row for row in rows if row["agrees"] is False]
    compared = sum(row["agrees"] is not None for row in rows)
    stopped = [] if report["complete"] else ["Stopped before the end: this report is not complete."]
    if report["device"] != "mps":
        return [*stopped, "Nothing is verified about MPS: all of this ran on the CPU."]
    if not compared:
        return [*stopped, "Nothing could be compared with the handbook."]
    if not differ:
        return [*stopped, f"The handbook and this machine agree in all {compared} points that were compared."]
    first = f"The handbook differs from this machine in {len(differ)} of {compared} points:"
    return [*stopped, first, *rows_as_text(differ, 24, said=True)]


def machine_lines(report: dict[str, Any]) -> list[str]:
    """Return the facts of the machine."""
    about = report["machine"]
    parts = [about["chip"]]
    parts += [f"GPU {about['gpu']}"] if about["gpu"] not in ("", about["chip"]) else []
    parts += [f"{about['gpu_cores']} GPU cores"] if about["gpu_cores"] else []
    parts += ["virtual machine"] if about["virtual"] else []
    system = f"macOS {about['macos']}" if about["macos"] else about["system"]
    variables = ", ".join(f"{name}={value}" for name, value in about["variables"].items()) or "none"
    lines = [
        f"machine        {', '.join(parts)}, {about['memory_gb']} GB, power: {about['power']}",
        f"versions       {system}, Python {about['python']}, PyTorch {about['torch']}, "
        f"compared with: {report['compared_with'] or 'nothing, its tables begin with 2.9'}",
        *textwrap.wrap(f"variables      {variables}", COLUMNS, subsequent_indent=" " * 15, max_lines=3),
    ]
    return [line[:COLUMNS] for line in lines]


def count_lines(report: dict[str, Any]) -> list[str]:
    """Return the counts of each group whose results the handbook can foretell."""
    lines = []
    for group in ("device", "operators", "wrong results"):
        count = report["counts"][group]
        told = ", ".join(f"{count[key]} {key}" for key in ("as said", "differ", "nothing said"))
        found = ", ".join(f"{number} {what}" for what, number in count["found"].items())
        lines.append(f"{group:15}{told}; found: {found or 'nothing'}")
    return [line[:COLUMNS] for line in lines]


def figure_lines(report: dict[str, Any]) -> list[str]:
    """Return memory and speed."""
    lines = []
    for row in report["checks"]:
        figures = row.get("figures", {})
        if row["group"] == "memory" and figures:
            share = figures["recommended"] / 1024 / (report["machine"]["memory_gb"] or 1)
            lines.append(
                f"memory         recommended {figures['recommended']:,} MB, {share:.0%} of the memory"
            )
            steps = [f"{key} {a}/{b}" for key, (a, b) in list(figures.items())[1:]]
            lines.append(f"               MB of tensors/driver: {', '.join(steps)}")
        elif row["group"] == "speed" and figures:
            spread = f"{figures['lowest']:.3g} to {figures['highest']:.3g}"
            values = f"{figures['median']:.3g} TFLOP/s ({spread}), {figures['gflop']} GFLOP"
            lines.append(f"speed          {row['name']}: {values}")
        elif row["group"] in ("memory", "speed"):
            lines.append(f"{row['group']:15}{row['name']}: {row['found']} {row.get('text', '')}")
    return [line[:COLUMNS] for line in lines]


def as_text(report: dict[str, Any]) -> str:
    """Return the report in at most LINES lines of at most COLUMNS columns."""
    unknown = [row for row in report["checks"] if row["agrees"] is None and row["group"] == "wrong results"]
    telling = [row for row in unknown if row["found"] != "right"] if report["device"] == "mps" else []
    lines = [*heading(report), "", *machine_lines(report), "", *count_lines(report)]
    if telling:
        lines += ["", "Not right here, and the handbook knew nothing certain about this release or machine:"]
        lines += rows_as_text(telling, 8, said=False)
    lines += ["", *figure_lines(report)]
    return "\n".join(lines[:LINES])


# ---- The command ----


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that reports an error in one line."""

    def print_usage(self, file: object = None) -> None:
        """Print nothing, so that only the line with the error remains."""


def why_not_written(path: Path) -> str:
    """Return why a file may not be written; "" for a new one, or a report of this program."""
    try:
        if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            return "there is no such folder, or you may not write there"
        small = path.lstat().st_size < MOST_BYTES and path.is_file() and not path.is_symlink()
        old = json.loads(path.read_text(encoding="utf-8")) if small else None
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        old = None
    ours = isinstance(old, dict) and old.get("program") == "verify_mac"
    return "" if ours else "it is no report of this program and stays as it is; name another file"


def write(path: Path, report: dict[str, Any]) -> str:
    """Write the report in one step, so that no half file remains; return a sentence about it."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("x", encoding="utf-8") as file:
            json.dump(report, file, indent=1, ensure_ascii=False, allow_nan=False)
        part.replace(path)
    except OSError as error:
        return f"{path.name} could not be written ({error.strerror})."
    return f"All details are in {path.name}."


def finish(run: Run, path: Path) -> int:
    """Print and write what was found; return the exit code."""
    if run.failure and not run.results:
        cure = "; --device cpu tries this program without MPS" if run.device == "mps" else ""
        print(f"error: {without_paths(run.failure)}{cure}", file=sys.stderr)
        return 1
    report = as_report(run)
    written = write(path, report)
    try:
        print(f"{as_text(report)}\n\n{written} Nothing was sent anywhere.", flush=True)
    except OSError:  # a reader such as `head` has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        return 128 + signal.SIGPIPE
    return 0 if run.complete else 128 + signal.SIGINT


def second_number(release: str) -> int:
    """Return 13 for 2.13, and 0 for what is no release of PyTorch 2."""
    found = re.match(r"2\.(\d+)", release)
    return int(found[1]) if found else 0


def main(arguments: list[str] | None = None) -> int:
    """Run the checks, print the report and write it; return the exit code."""
    parser = Parser(allow_abbrev=False, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", choices=("mps", "cpu"), default="mps", help="default: mps")
    parser.add_argument(
        "--json", type=Path, default=Path("verify-mac.json"), metavar="FILE", help="default: %(default)s"
    )
    parser.add_argument("--release", type=second_number, help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if NO_TORCH:
        print(
            f"error: PyTorch cannot be imported ({without_paths(NO_TORCH)}): python -m pip install torch",
            file=sys.stderr,
        )
        return 1
    if options.answer is not None:
        answer(options.device, options.answer)
        return 0
    if why := why_not_written(options.json):
        parser.error(f"--json {str(options.json)!r}: {why}")
    run = Run(options.device, options.release)
    with contextlib.suppress(KeyboardInterrupt):
        run.go()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the report takes no time
    try:
        return finish(run, options.json)
    finally:
        signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    sys.exit(main())
