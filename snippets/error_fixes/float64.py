"""Cure for `Cannot convert a MPS Tensor to float64 dtype`: become float32, then move."""

# --8<-- [start:convert]
import numpy as np
import torch


def to_device(array: np.ndarray, device: torch.device | str) -> torch.Tensor:
    """Return a NumPy array as a tensor on a device; float64 becomes float32, other formats stay."""
    tensor = torch.from_numpy(array)
    return (tensor.float() if tensor.dtype == torch.float64 else tensor).to(device)


# --8<-- [end:convert]
