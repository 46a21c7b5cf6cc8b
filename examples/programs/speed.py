"""Switches that change how fast a training computes, and its values by rounding alone: all off by default."""

import torch
from torch import nn

from snippets.errors import Option, UsageError

SWITCHES = {
    "compile": "torch.compile, if it works and gives the same values",
    "graphs": "with compile, on NVIDIA GPUs: repeat recorded CUDA graphs",
    "fused": "the optimizer's update in one kernel: SGD, Adam, AdamW",
    "tf32": "on NVIDIA GPUs: round float32 inputs of matrix products to 10 bits",
}
MEASURED = (
    "graphs",
    "fused",
    "tf32",
    "channels_last",
    "search",
)  # beside `compile`; the last two are those of cifar_optimizers
ONLY_NVIDIA = "only NVIDIA GPUs have it"
OFF = {  # device types on which a switch stays off, and why
    "graphs": {"cpu": ONLY_NVIDIA, "mps": ONLY_NVIDIA},
    "tf32": {"cpu": ONLY_NVIDIA, "mps": ONLY_NVIDIA},
    "search": {"cpu": ONLY_NVIDIA, "mps": ONLY_NVIDIA},
    "channels_last": {
        # 1×1, stride 2, fewer than 8 channels: heap damaged, PyTorch 2.13.0 and 2.15.0 on x86-64
        "cpu": "the backward pass of some convolutions can end the process",
        "mps": "some gradients are wrong with it on MPS",
    },
}


def why_off(switch: str, device_type: str) -> str | None:
    """Return why a switch stays off on devices of this type, or None when it can be used there."""
    return OFF.get(switch, {}).get(device_type)


def is_on(options: object, switch: str, device: torch.device) -> bool:
    """Return whether `options` has a switch that can be used on `device`."""
    return bool(getattr(options, switch, False)) and why_off(switch, device.type) is None


def set_speed(options: object, precision: str, device: torch.device) -> dict[str, str]:
    """Turn TF32 on or off, and return for config.json which switches are on and which stay off, and why.

    Raises UsageError for switches that cannot be together.
    """
    names = [name for name in MEASURED if getattr(options, name, False)]
    if "graphs" in names and not getattr(options, "compile", False):
        raise UsageError(Option("graphs"), " repeats what was compiled: add ", Option("compile"))
    if is_on(options, "graphs", device) and getattr(options, "accumulate", 1) > 1:
        # A replay overwrites gradients that are still being summed: pytorch/pytorch issues 96693 and 169545.
        raise UsageError(Option("graphs"), " cannot be used with ", Option("accumulate"), "; leave one out")
    scaler_is_ignored = device.type == "mps" and torch.__version__ < (2, 13)
    if "fused" in names and precision == "fp16" and scaler_is_ignored:  # pytorch/pytorch pull request 186360
        raise UsageError(
            Option("fused"), " ignores the scaler of fp16 on MPS before PyTorch 2.13; leave it out"
        )
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high" if is_on(options, "tf32", device) else "highest")
        if hasattr(options, "search"):  # cuDNN then times its convolutions for each new shape
            torch.backends.cudnn.benchmark = is_on(options, "search", device)
    if not names:
        return {}
    reasons = [(name, why_off(name, device.type)) for name in names]
    said = [f"{name} (off: {reason})" if reason else name for name, reason in reasons]
    return {"speed": ", ".join(said).replace("_", "-")}


def in_memory_format(options: object, network: nn.Module, device: torch.device) -> nn.Module:
    """Return `network` with channels last in memory if `options` say so and the device can."""
    if is_on(options, "channels_last", device):
        return network.to(memory_format=torch.channels_last)
    return network
