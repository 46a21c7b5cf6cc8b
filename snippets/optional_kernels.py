"""Use a package of CUDA kernels where it is installed, and plain PyTorch everywhere else."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from snippets.selective_scan import selective_scan

# --8<-- [start:guard]
try:
    from flash_attn import flash_attn_func
except ImportError:  # as on every Mac
    flash_attn_func = None

try:
    from mamba_ssm.ops.selective_scan_interface import selective_scan_fn
except ImportError:
    selective_scan_fn = None

KERNEL_DEVICES = ("cuda",)  # on which such packages run
# --8<-- [end:guard]


# --8<-- [start:attention]
def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """Return the attention of q, k and v (batch, length, heads, size), of equal lengths if `causal`."""
    half = q.dtype in (torch.float16, torch.bfloat16)  # flash-attn supports no other dtype
    if flash_attn_func is not None and half and q.device.type in KERNEL_DEVICES:
        return flash_attn_func(q, k, v, causal=causal)
    q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))  # heads before length
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)


# --8<-- [end:attention]
# --8<-- [start:scan]
def scan(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """Return the selective scan of x and dt (batch, length, inner), B and C (batch, length, state)."""
    if selective_scan_fn is not None and x.device.type in KERNEL_DEVICES:
        x, dt, B, C = (tensor.mT.contiguous() for tensor in (x, dt, B, C))  # mamba_ssm: length last
        return selective_scan_fn(x, dt, A, B, C, D).mT
    return selective_scan(x, dt, A, B, C, D)


# --8<-- [end:scan]
# --8<-- [start:causal_conv1d]
def causal_conv1d(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return what causal_conv1d_fn returns for x (batch, channels, length) and weight (channels, width)."""
    channels, width = weight.shape
    x = F.pad(x, (width - 1, 0))  # zeros before the first step, so that no step sees a later one
    return F.conv1d(x, weight[:, None], bias, groups=channels)


# --8<-- [end:causal_conv1d]
# --8<-- [start:scatter_sum]
def scatter_sum(source: Tensor, index: Tensor, groups: int) -> Tensor:
    """Return the sum of the rows of each group, as torch_scatter does with dim=0; index is (rows,)."""
    sums = source.new_zeros(groups, *source.shape[1:])
    return sums.index_add(0, index, source)


# --8<-- [end:scatter_sum]
