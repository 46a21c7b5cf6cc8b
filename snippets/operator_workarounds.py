"""Functions that MPS lacks in PyTorch 2.15, computed with operators that it has since 2.13."""

import math
from collections.abc import Callable

import torch


# --8<-- [start:channel_shuffle]
def channel_shuffle(images: torch.Tensor, groups: int) -> torch.Tensor:
    """Return what `torch.channel_shuffle` returns, for images (batch, channels, ...).

    The channels are arranged as a table with a row for each group, and read by columns.
    """
    return images.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)


# --8<-- [end:channel_shuffle]
# --8<-- [start:adaptive_pool3d]
def adaptive_pool3d(
    volumes: torch.Tensor, output_size: tuple[int, int, int], reduce: Callable[..., torch.Tensor]
) -> torch.Tensor:
    """Return `adaptive_avg_pool3d` (reduce=torch.mean) or `adaptive_max_pool3d` (torch.amax).

    `volumes` is (..., D, H, W). The dimensions can be pooled one after the other. Bin i of n reaches from
    ⌊i·size/n⌋ to ⌈(i+1)·size/n⌉. Among equal maxima, amax shares the gradient; max pooling gives it to one.
    """
    for dim, bins in zip((-3, -2, -1), output_size, strict=True):
        size = volumes.shape[dim]
        edges = [(i * size // bins, -((-(i + 1) * size) // bins)) for i in range(bins)]
        slices = [volumes.narrow(dim, start, end - start) for start, end in edges]
        volumes = torch.cat([reduce(piece, dim=dim, keepdim=True) for piece in slices], dim)
    return volumes


# --8<-- [end:adaptive_pool3d]
# --8<-- [start:eig]
def eig_symmetric(matrices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return eigenvalues (..., n) in ascending order and eigenvectors (..., n, n) of symmetric matrices.

    Both are real, so `eigh` can be used, which has an MPS kernel since PyTorch 2.14. It reads one triangle
    only, so it is wrong for other matrices.
    """
    return torch.linalg.eigh(matrices)


def eig_on_cpu(matrices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return complex eigenvalues and eigenvectors of any square matrices (..., n, n), computed on the CPU.

    The fallback would do the same, but for every operator and without being visible. Gradients are supported.
    """
    values, vectors = torch.linalg.eig(matrices.cpu())
    return values.to(matrices.device), vectors.to(matrices.device)


# --8<-- [end:eig]
# --8<-- [start:multi_margin_loss]
def multi_margin_loss(scores: torch.Tensor, labels: torch.Tensor, margin: float = 1.0) -> torch.Tensor:
    """Return the mean of `nn.MultiMarginLoss` (p=1) for scores (batch, classes) and labels (batch,).

    Per sample: Σ max(0, margin - score of the right class + score) over the wrong classes, / classes.
    """
    right = scores.gather(1, labels[:, None])
    hinge = (margin - right + scores).clamp(min=0)
    wrong = torch.ones_like(hinge).scatter(1, labels[:, None], 0.0)
    return (hinge * wrong).sum(1).mean() / scores.shape[1]


# --8<-- [end:multi_margin_loss]
# --8<-- [start:pdist]
def pdist(points: torch.Tensor) -> torch.Tensor:
    """Return the distances between all pairs of points (n, dims), as `F.pdist`: (n·(n-1)/2,).

    `cdist` computes every distance twice. In its default mode it uses a matrix product for more than 25
    points, which is less exact for points that are close together.
    """
    distances = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    first, second = torch.triu_indices(len(points), len(points), offset=1, device=points.device)
    return distances[first, second]


# --8<-- [end:pdist]
# --8<-- [start:rrelu]
def rrelu(values: torch.Tensor, lower: float = 1 / 8, upper: float = 1 / 3) -> torch.Tensor:
    """Return what `nn.RReLU` does in training: negative values times a slope drawn anew for each."""
    slopes = torch.empty_like(values).uniform_(lower, upper)
    return torch.where(values >= 0, values, values * slopes)


# --8<-- [end:rrelu]


# --8<-- [start:multilabel_margin_loss]
def multilabel_margin_loss(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean of `nn.MultiLabelMarginLoss` for scores and labels (batch, classes).

    A row of labels lists each right class once and ends with the first -1. Per sample: Σ max(0, 1 - right +
    wrong) over all pairs of a right and a wrong class, / classes.
    """
    listed = (labels < 0).cumsum(1) == 0
    right = torch.zeros_like(scores).scatter_add(1, labels.clamp(min=0), listed.to(scores.dtype)) > 0
    hinge = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (hinge * pairs).sum((1, 2)).mean() / scores.shape[1]


# --8<-- [end:multilabel_margin_loss]
# --8<-- [start:segment_reduce]
def segment_reduce(values: torch.Tensor, reduce: str, lengths: torch.Tensor) -> torch.Tensor:
    """Return what `torch.segment_reduce` returns for values (n, ...): a row for each segment.

    `reduce` is sum, mean, max or min, `lengths` holds the lengths of segments that follow each other, of
    which none is 0. Among equal maxima, both share the gradient.
    """
    number = torch.arange(len(lengths), device=values.device).repeat_interleave(lengths)
    number = number.reshape(-1, *[1] * (values.ndim - 1)).expand_as(values)
    how = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    result = values.new_zeros(len(lengths), *values.shape[1:])
    return result.scatter_reduce(0, number, values, how, include_self=False)


# --8<-- [end:segment_reduce]
# --8<-- [start:normal]
def log_ndtr(values: torch.Tensor) -> torch.Tensor:
    """Return `torch.special.log_ndtr`: the logarithm of the normal distribution function.

    Each formula is exact where it is used; clamping keeps the other from overflowing into the gradient.
    """
    low, high = values.clamp(max=-1) * 0.5**0.5, values.clamp(min=-1) * 0.5**0.5
    tail = torch.special.erfcx(-low).log() - low.square() - math.log(2)
    return torch.where(values < -1, tail, torch.log1p(-torch.erfc(high) / 2))


def ndtri(probabilities: torch.Tensor) -> torch.Tensor:
    """Return `torch.special.ndtri`: the normal quantiles. Near 0 and 1 it is less exact than the original."""
    return 2**0.5 * torch.erfinv(2 * probabilities - 1)


# --8<-- [end:normal]
# --8<-- [start:fake_quantize]
def fake_quantize(
    values: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, low: int, high: int
) -> torch.Tensor:
    """Return what `torch.fake_quantize_per_tensor_affine` returns: values that fit into low…high steps.

    Inside of the range the gradient passes as it is, outside it is 0. For the form per channel, give `scale`
    and `zero_point` a shape that fits, such as (channels, 1, 1, 1) for the weights of a convolution.
    """
    steps = (values / scale).round() + zero_point
    rounded = (steps.clamp(low, high) - zero_point) * scale
    passes = torch.where((steps >= low) & (steps <= high), values, values.detach())
    return passes + (rounded - passes).detach()


# --8<-- [end:fake_quantize]
# --8<-- [start:sparse_product]
def sparse_product(
    rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, dense: torch.Tensor, height: int
) -> torch.Tensor:
    """Return a sparse matrix times a dense one (n, width) without sparse tensors: (height, width).

    Entry i of the matrix is `values[i]`, in row `rows[i]` and column `columns[i]`.
    Entries of one place are added. `width` numbers are held for each entry.
    Gradients reach `values` and `dense`.
    """
    terms = values[:, None] * dense[columns]
    return terms.new_zeros(height, dense.shape[1]).index_add(0, rows, terms)


# --8<-- [end:sparse_product]
