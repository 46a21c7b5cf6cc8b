"""Which operators modules and functions of PyTorch call, forward and backward, as operator_calls.json.

    python -m tools.measuring.operator_calls

Recorded on the CPU of the installed PyTorch. Left out is what PyTorch does in another way on MPS than on the
CPU (LSTM, attention, convolutions that the CPU hands to a library), and what every gradient needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import torch
from torch import nn
from torch.nn import functional as F

from snippets.operator_recorder import OperatorRecorder
from snippets.operator_support import ELSEWHERE, installed_list, read_operators, support
from tools.versions import DATA

OUTPUT = DATA / "operator_calls.json"
# Making, viewing and adding up tensors: no release of MPS since 2.0 lacked these.
SIMPLE = """
_conj _is_all_true _linalg_check_errors _local_scalar_dense _to_copy _unsafe_view abs add add_ alias arange
as_strided cat clone copy_ detach div div_ empty empty_like empty_strided eq expand eye fill_ full full_like
ge gt le lift_fresh logical_and lt mean mm mul mul_ ne neg new_empty new_empty_strided new_full new_zeros
normal_ ones ones_like permute pow rand real rsub scalar_tensor select select_backward slice slice_backward
split split_with_sizes sqrt squeeze stack sub sum t transpose unbind uniform_ unsqueeze view view_as_real
where zero_ zeros zeros_like
"""
EVERYWHERE = frozenset(SIMPLE.split())
# One line per call: the names under which readers know it, the shape of `x`, and an expression.
CALLS = """
nn.AdaptiveAvgPool1d F.adaptive_avg_pool1d | 2,3,8: nn.AdaptiveAvgPool1d(2)(x)
nn.AdaptiveAvgPool2d F.adaptive_avg_pool2d | 2,3,8,8: nn.AdaptiveAvgPool2d(2)(x)
nn.AdaptiveAvgPool3d F.adaptive_avg_pool3d | 2,3,8,8,8: nn.AdaptiveAvgPool3d(2)(x)
nn.AdaptiveMaxPool1d F.adaptive_max_pool1d | 2,3,8: nn.AdaptiveMaxPool1d(2)(x)
nn.AdaptiveMaxPool2d F.adaptive_max_pool2d | 2,3,8,8: nn.AdaptiveMaxPool2d(2)(x)
nn.AdaptiveMaxPool3d F.adaptive_max_pool3d | 2,3,8,8,8: nn.AdaptiveMaxPool3d(2)(x)
nn.AvgPool1d F.avg_pool1d | 2,3,8: nn.AvgPool1d(2)(x)
nn.AvgPool2d F.avg_pool2d | 2,3,8,8: nn.AvgPool2d(2)(x)
nn.AvgPool3d F.avg_pool3d | 2,3,8,8,8: nn.AvgPool3d(2)(x)
nn.MaxPool1d F.max_pool1d | 2,3,8: nn.MaxPool1d(2)(x)
nn.MaxPool3d F.max_pool3d | 2,3,8,8,8: nn.MaxPool3d(2)(x)
nn.MaxUnpool2d F.max_unpool2d | 1,1,4,4: nn.MaxUnpool2d(2)(*F.max_pool2d(x, 2, return_indices=True))
nn.MaxUnpool3d F.max_unpool3d | 1,1,4,4,4: nn.MaxUnpool3d(2)(*F.max_pool3d(x, 2, return_indices=True))
nn.FractionalMaxPool2d F.fractional_max_pool2d | 1,1,8,8: nn.FractionalMaxPool2d(2, output_size=3)(x)
nn.FractionalMaxPool3d F.fractional_max_pool3d | 1,1,8,8,8: nn.FractionalMaxPool3d(2, output_size=3)(x)
nn.LPPool2d F.lp_pool2d | 1,1,8,8: nn.LPPool2d(2, 2)(x)
nn.ReflectionPad1d | 1,1,8: nn.ReflectionPad1d(2)(x)
nn.ReflectionPad2d | 1,1,8,8: nn.ReflectionPad2d(2)(x)
nn.ReflectionPad3d | 1,1,8,8,8: nn.ReflectionPad3d(2)(x)
nn.ReplicationPad1d | 1,1,8: nn.ReplicationPad1d(2)(x)
nn.ReplicationPad2d | 1,1,8,8: nn.ReplicationPad2d(2)(x)
nn.ReplicationPad3d | 1,1,8,8,8: nn.ReplicationPad3d(2)(x)
nn.ZeroPad2d F.pad | 1,1,8,8: nn.ZeroPad2d(2)(x)
nn.ELU F.elu | 8: nn.ELU()(x)
nn.SELU F.selu | 8: nn.SELU()(x)
nn.CELU F.celu | 8: nn.CELU()(x)
nn.GELU F.gelu | 8: nn.GELU()(x)
nn.GLU F.glu | 8: nn.GLU()(x)
nn.Hardshrink F.hardshrink | 8: nn.Hardshrink()(x)
nn.Hardsigmoid F.hardsigmoid | 8: nn.Hardsigmoid()(x)
nn.Hardswish F.hardswish | 8: nn.Hardswish()(x)
nn.Hardtanh F.hardtanh | 8: nn.Hardtanh()(x)
nn.ReLU6 F.relu6 | 8: nn.ReLU6()(x)
nn.LeakyReLU F.leaky_relu | 8: nn.LeakyReLU()(x)
nn.LogSigmoid F.logsigmoid | 8: nn.LogSigmoid()(x)
nn.Mish F.mish | 8: nn.Mish()(x)
nn.PReLU F.prelu | 8: nn.PReLU()(x)
nn.RReLU F.rrelu | 8: nn.RReLU()(x)
nn.SiLU F.silu | 8: nn.SiLU()(x)
nn.Softplus F.softplus | 8: nn.Softplus()(x)
nn.Softshrink F.softshrink | 8: nn.Softshrink()(x)
nn.Threshold | 8: nn.Threshold(0.1, 0)(x)
nn.BatchNorm1d | 4,2: nn.BatchNorm1d(2)(x)
nn.BatchNorm2d F.batch_norm | 4,2,2,2: nn.BatchNorm2d(2)(x)
nn.BatchNorm3d | 4,2,2,2,2: nn.BatchNorm3d(2)(x)
nn.InstanceNorm2d F.instance_norm | 4,2,2,2: nn.InstanceNorm2d(2)(x)
nn.Upsample F.interpolate | 1,1,4,4: sum(F.interpolate(x, (8, 8), mode=m) for m in ("nearest", "bilinear", "bicubic"))
nn.Softmax F.softmax | 2,8: nn.Softmax(-1)(x)
nn.LogSoftmax F.log_softmax | 2,8: nn.LogSoftmax(-1)(x)
F.gumbel_softmax | 2,8: F.gumbel_softmax(x)
nn.GroupNorm F.group_norm | 2,4,8: nn.GroupNorm(2, 4)(x)
nn.LayerNorm F.layer_norm | 2,8: nn.LayerNorm(8)(x)
nn.LocalResponseNorm F.local_response_norm | 1,4,8,8: nn.LocalResponseNorm(2)(x)
nn.Embedding F.embedding | 2,3: nn.Embedding(8, 3)(torch.tensor([1, 2])) + x
nn.EmbeddingBag F.embedding_bag | 1,3: nn.EmbeddingBag(8, 3)(torch.tensor([[1, 2]])) + x
nn.Bilinear F.bilinear | 2,3: nn.Bilinear(3, 3, 2)(x, x)
nn.CosineSimilarity F.cosine_similarity | 2,3: nn.CosineSimilarity()(x, x + 1)
nn.PairwiseDistance | 2,3: nn.PairwiseDistance()(x, x + 1)
F.pdist | 4,3: F.pdist(x)
torch.cdist | 4,3: torch.cdist(x, x + 1)
nn.L1Loss F.l1_loss | 8: nn.L1Loss()(x, x + 1)
nn.MSELoss F.mse_loss | 8: nn.MSELoss()(x, x + 1)
nn.HuberLoss F.huber_loss | 8: nn.HuberLoss()(x, x + 1)
nn.SmoothL1Loss F.smooth_l1_loss | 8: nn.SmoothL1Loss()(x, x + 1)
nn.BCELoss F.binary_cross_entropy | 8: nn.BCELoss()(x.sigmoid(), torch.ones(8))
nn.BCEWithLogitsLoss | 8: nn.BCEWithLogitsLoss()(x, torch.ones(8))
nn.CrossEntropyLoss F.cross_entropy | 2,8: nn.CrossEntropyLoss()(x, torch.tensor([0, 1]))
nn.NLLLoss F.nll_loss | 2,8: nn.NLLLoss()(x.log_softmax(1), torch.tensor([0, 1]))
nn.KLDivLoss F.kl_div | 2,8: nn.KLDivLoss(reduction="batchmean")(x, torch.ones(2, 8))
nn.CTCLoss F.ctc_loss | 8,1,5: nn.CTCLoss()(x.log_softmax(2), torch.tensor([[1, 2]]), (8,), (2,))
nn.MultiMarginLoss F.multi_margin_loss | 2,8: nn.MultiMarginLoss()(x, torch.tensor([0, 1]))
nn.MultiLabelMarginLoss | 2,4: nn.MultiLabelMarginLoss()(x, torch.tensor([[0, 1, -1, 0], [2, -1, 0, 0]]))
nn.MultiLabelSoftMarginLoss | 2,4: nn.MultiLabelSoftMarginLoss()(x, torch.ones(2, 4))
nn.SoftMarginLoss F.soft_margin_loss | 8: nn.SoftMarginLoss()(x, torch.ones(8))
nn.TripletMarginLoss | 2,8: nn.TripletMarginLoss()(x, x + 1, x - 1)
nn.PixelShuffle F.pixel_shuffle | 1,4,2,2: nn.PixelShuffle(2)(x)
nn.PixelUnshuffle F.pixel_unshuffle | 1,1,4,4: nn.PixelUnshuffle(2)(x)
nn.ChannelShuffle F.channel_shuffle | 1,4,2,2: nn.ChannelShuffle(2)(x)
nn.Unfold F.unfold | 1,1,4,4: nn.Unfold(2)(x)
nn.Fold F.fold | 1,4,9: nn.Fold((4, 4), 2)(x)
F.grid_sample | 1,1,4,4: F.grid_sample(x, torch.zeros(1, 4, 4, 2, requires_grad=True), align_corners=False)
F.affine_grid | 1,2,3: F.affine_grid(x, (1, 1, 4, 4), align_corners=False)
torch.linalg.cholesky | 3,3: torch.linalg.cholesky(x @ x.mT + 9 * torch.eye(3))
torch.linalg.cond | 3,3: torch.linalg.cond(x)
torch.linalg.det | 3,3: torch.linalg.det(x)
torch.linalg.slogdet | 3,3: torch.linalg.slogdet(x)[1]
torch.linalg.eig | 3,3: torch.linalg.eig(x)[0].abs()
torch.linalg.eigvals | 3,3: torch.linalg.eigvals(x).abs()
torch.linalg.eigh | 3,3: torch.linalg.eigh(x + x.mT)[0]
torch.linalg.eigvalsh | 3,3: torch.linalg.eigvalsh(x + x.mT)
torch.linalg.inv torch.inverse | 3,3: torch.linalg.inv(x)
torch.linalg.ldl_factor | 3,3: torch.linalg.ldl_factor(x.detach() + x.detach().mT)[0] + x
torch.linalg.lstsq | 4,3: torch.linalg.lstsq(x, torch.ones(4, 1)).solution
torch.linalg.lu | 3,3: torch.linalg.lu(x)[2]
torch.linalg.lu_factor torch.lu | 3,3: torch.linalg.lu_factor(x)[0]
torch.linalg.matrix_exp torch.matrix_exp | 3,3: torch.linalg.matrix_exp(x)
torch.linalg.matrix_rank | 3,3: torch.linalg.matrix_rank(x) + x
torch.linalg.pinv torch.pinverse | 3,3: torch.linalg.pinv(x)
torch.linalg.qr | 3,3: torch.linalg.qr(x)[1]
torch.linalg.solve | 3,3: torch.linalg.solve(x, torch.ones(3))
torch.linalg.solve_triangular | 3,3: torch.linalg.solve_triangular(x, torch.ones(3, 1), upper=True)
torch.linalg.svd torch.svd | 3,3: torch.linalg.svd(x)[1]
torch.linalg.svdvals | 3,3: torch.linalg.svdvals(x)
torch.linalg.householder_product | 3,2: torch.linalg.householder_product(x, torch.ones(2))
torch.fft.fft | 8: torch.fft.fft(x).abs()
torch.fft.ifft | 8: torch.fft.ifft(x).abs()
torch.fft.rfft torch.fft.rfft2 | 8: torch.fft.rfft(x).abs()
torch.fft.irfft torch.fft.irfft2 | 8: torch.fft.irfft(x)
torch.stft | 64: torch.stft(x, 16, window=torch.ones(16), return_complex=True).abs()
torch.istft | 1,9,8: torch.istft(torch.complex(x, x), 16, window=torch.ones(16))
torch.mode | 2,8: torch.mode(x)[0]
torch.median | 8: torch.median(x)
torch.quantile | 8: torch.quantile(x, 0.5)
torch.kthvalue | 8: torch.kthvalue(x, 2)[0]
torch.cummax | 8: torch.cummax(x, 0)[0]
torch.cummin | 8: torch.cummin(x, 0)[0]
torch.cumprod | 8: torch.cumprod(x, 0)
torch.logcumsumexp | 8: torch.logcumsumexp(x, 0)
torch.logsumexp | 8: torch.logsumexp(x, 0)
torch.histc | 8: torch.histc(x.detach()).sum() + x
torch.bincount | 8: torch.bincount(torch.tensor([1, 2])).sum() + x
torch.unique | 8: torch.unique(x.detach()) + x
torch.einsum | 3,3: torch.einsum("ij,jk->ik", x, x)
torch.logit | 8: torch.logit(x.sigmoid())
torch.frexp | 8: torch.frexp(x.detach())[0] + x
torch.lgamma | 8: torch.lgamma(x.abs() + 1)
torch.special.log_ndtr | 8: torch.special.log_ndtr(x)
torch.special.ndtri | 8: torch.special.ndtri(x.sigmoid())
torch.special.ndtr | 8: torch.special.ndtr(x)
torch.segment_reduce | 8: torch.segment_reduce(x, "sum", lengths=torch.tensor([3, 5]))
torch.fake_quantize_per_tensor_affine | 8: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255)
torch.fake_quantize_per_channel_affine | 2,8: torch.fake_quantize_per_channel_affine(x, torch.ones(2), torch.zeros(2).int(), 0, 0, 255)
torch.distributions.Gamma | 8: torch.distributions.Gamma(x.abs() + 1, torch.ones(8), False).rsample()
torch.distributions.Beta | 8: torch.distributions.Beta(x.abs() + 1, torch.ones(8), False).rsample()
torch.distributions.Dirichlet | 2,8: torch.distributions.Dirichlet(x.abs() + 1, False).rsample()
torch.distributions.Poisson torch.poisson | 8: torch.poisson(x.detach().abs()) + x
""".strip().splitlines()  # noqa: E501
# What PyTorch calls on MPS in another way than on the CPU, read in its source (RNN.cpp, Pooling.cpp).
ON_MPS = {"nn.LSTM": "_lstm_mps lstm_mps_backward"} | dict.fromkeys(
    ("nn.MaxPool2d", "F.max_pool2d"), "max_pool2d max_pool2d_backward"
)


def recorded(shape: str, expression: str) -> list[str]:
    """Return the operators that an expression calls, gradient included, but those of EVERYWHERE."""
    x = torch.rand([int(side) for side in shape.split(",")], generator=torch.Generator().manual_seed(0))
    x.requires_grad_()
    with OperatorRecorder() as recorder:
        result = eval(expression, {"torch": torch, "nn": nn, "F": F, "x": x})
        result.sum().backward()
    return sorted({name for name in recorder.counts if name.partition(".")[0] not in EVERYWHERE})


def calls(lines: Iterable[str] = CALLS) -> Mapping[str, str]:
    """Return the operators by the names of what calls them."""
    operators, found = read_operators(installed_list()), dict(ON_MPS)
    for line in lines:
        names, _, rest = line.partition(" | ")
        shape, _, expression = rest.partition(": ")
        used = [name for name in recorded(shape, expression) if support(name, operators) != ELSEWHERE]
        found |= dict.fromkeys(names.split(), " ".join(used))
    return found


if __name__ == "__main__":
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(used)}" for name, used in sorted(calls().items()))
    OUTPUT.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
