"""Cure for `Expected all tensors to be on the same device`: find the tensors that did not move."""

# --8<-- [start:left_behind]
import torch


def left_behind(model: torch.nn.Module, device: str) -> list[str]:
    """Name the tensors of a model that are not on a device such as "mps", ordinary attributes included."""
    found = []
    for place, module in model.named_modules():
        own = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
        for name, value in (*own, *vars(module).items()):
            if isinstance(value, torch.Tensor) and value.device.type != device:
                found.append(f"{place}.{name}" if place else name)
    return found


# --8<-- [end:left_behind]
