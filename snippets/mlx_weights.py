"""Convert the weights of a PyTorch network to a file that MLX reads, with MLX's names and layouts.

It does not need MLX. Names and layouts follow MLX 0.32.4; tests/snippets/test_compare_with_mlx.py loads such
a file into MLX and compares outputs and training steps.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn

from snippets.atomic_write import replace_file
from snippets.errors import RunError, UsageError

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
# MLX's layers of this kind keep their parameters in other arrays.
DIFFERENT_INSIDE = (nn.MultiheadAttention, nn.RNNBase, nn.RNNCellBase)


# --8<-- [start:layout]
def mlx_layout(layer: nn.Module, name: str, values: torch.Tensor) -> torch.Tensor:
    """Return a parameter in MLX's layout, which has the channels last.

    The weight of a convolution (out, in, *kernel) becomes (out, *kernel, in), and so does that of a
    transposed one, which is (in, out, *kernel) in PyTorch. Other parameters are unchanged.
    """
    if name != "weight" or not isinstance(layer, CONVOLUTIONS + TRANSPOSED):
        return values
    if isinstance(layer, TRANSPOSED):
        values = values.transpose(0, 1)
    return values.movedim(1, -1)


# --8<-- [end:layout]
# --8<-- [start:names]
def mlx_name(model: nn.Module, name: str) -> str:
    """Return MLX's name of a parameter. MLX's `nn.Sequential` keeps its parts in a list `layers`."""
    parts: list[str] = []
    for part in name.split("."):
        if isinstance(model, nn.Sequential):
            parts.append("layers")
        parts.append(part)
        model = getattr(model, part)
    return ".".join(parts)


# --8<-- [end:names]
def check_layers(model: nn.Module) -> None:
    """Raise UsageError when `model` has a layer whose weights cannot be converted one by one."""
    for name, layer in model.named_modules():
        kind = type(layer).__name__
        if isinstance(layer, DIFFERENT_INSIDE):
            raise UsageError(
                f"MLX arranges the parameters of {kind} ({name or 'the model'}) differently; "
                "convert them by hand, or write the layer out as linear layers"
            )
        if isinstance(layer, TRANSPOSED) and layer.groups > 1:
            raise UsageError(
                f"{kind} ({name}) has {layer.groups} groups, and MLX's layer has none; use groups=1"
            )


# --8<-- [start:export]
def mlx_weights(model: nn.Module) -> dict[str, np.ndarray]:
    """Return parameters and buffers of `model` by MLX's names.

    NumPy has no bfloat16, so such values become float32, which represents them exactly. Raises UsageError
    for a layer whose parameters MLX arranges differently.
    """
    check_layers(model)
    weights = {}
    for name, values in model.state_dict().items():
        owner, _, last = name.rpartition(".")
        if last == "num_batches_tracked":  # of batch normalization; MLX has no such counter
            continue
        values = mlx_layout(model.get_submodule(owner), last, values.cpu())
        if values.dtype == torch.bfloat16:
            values = values.float()
        weights[mlx_name(model, name)] = values.numpy()
    return weights


def export_weights(model: nn.Module, path: Path) -> None:
    """Write the weights to `path`, an .npz file for `model.load_weights(path)` in MLX.

    Raises UsageError for another suffix, since MLX chooses the format by it, and RunError when writing fails.
    """
    if path.suffix != ".npz":
        raise UsageError(f"{path} has to end in .npz, or MLX does not know how to read it")
    weights = mlx_weights(model)
    try:
        replace_file(path, lambda file: np.savez(file, **weights))
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror}") from error


# --8<-- [end:export]
