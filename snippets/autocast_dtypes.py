"""Show which number format each operation returns inside autocast on a device.

`python -m snippets.autocast_dtypes mps` works on every machine: without MPS, it uses fake tensors, which
have a shape, a device and a dtype but no values.
"""

import contextlib
import sys
from collections.abc import Callable, Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F

from snippets.device import why_not_cuda, why_not_mps
from snippets.errors import UsageError, exit_with_one_line

DEVICES = ("mps", "cuda", "cpu")
FORMATS = {"bf16": torch.bfloat16, "fp16": torch.float16}


def operations(device: str, low: torch.dtype) -> dict[str, Callable[[], torch.Tensor]]:
    """Return the operations by name. Weights are float32; inputs have dtype `low`, as after another layer."""
    w, filters, bias = (torch.ones(*shape, device=device) for shape in ((8, 8), (4, 4, 3, 3), (8,)))
    x, im = torch.ones(2, 8, device=device, dtype=low), torch.ones(2, 4, 8, 8, device=device, dtype=low)
    return {
        "linear (float32 input)": lambda: F.linear(x.float(), w),
        "conv2d (float32 input)": lambda: F.conv2d(im.float(), filters),
        "matmul": lambda: x @ w,
        "relu": lambda: F.relu(x),
        "gelu": lambda: F.gelu(x),
        "dropout": lambda: F.dropout(x),
        "max_pool2d": lambda: F.max_pool2d(im, 2),
        "x + x": lambda: x + x,
        "x + float32": lambda: x + bias,
        "mean": lambda: x.mean(),
        "sum": lambda: x.sum(),
        "exp": lambda: x.exp(),
        "softmax": lambda: F.softmax(x, dim=-1),
        "layer_norm": lambda: F.layer_norm(x, (8,)),
        "group_norm": lambda: F.group_norm(im, 2),
        "rms_norm": lambda: F.rms_norm(x, (8,)),
        "mse_loss": lambda: F.mse_loss(x, x),
        "binary_cross_entropy_with_logits": lambda: F.binary_cross_entropy_with_logits(x, x),
    }


def dtypes_inside(device: str, low: torch.dtype) -> dict[str, torch.dtype]:
    """Return the dtype that each of the operations has inside `torch.autocast(device, dtype=low)`."""
    fake = device == "mps" and why_not_mps() is not None
    with FakeTensorMode() if fake else contextlib.nullcontext(), torch.autocast(device, dtype=low):
        return {name: operation().dtype for name, operation in operations(device, low).items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table for a device, and for bf16 or fp16."""
    words = list(sys.argv[1:] if argv is None else argv)
    device, name = [*words, *("mps", "bf16")[len(words) :]][:2]
    if len(words) > 2 or device not in DEVICES or name not in FORMATS:
        raise UsageError(
            f"expected {', '.join(DEVICES)}, then {' or '.join(FORMATS)}, got {' '.join(words)!r}"
        )
    if device == "cuda" and why_not_cuda() is not None:
        raise UsageError(f"cuda cannot be asked: {why_not_cuda()}; mps and cpu can, on every machine")
    for operation, dtype in dtypes_inside(device, FORMATS[name]).items():
        print(f"{operation:34}{str(dtype).removeprefix('torch.')}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
