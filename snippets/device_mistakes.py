"""Four ways to choose a device that look right and are wrong. Each function makes the mistake."""

import os
import subprocess
import sys

import torch


# --8<-- [start:compare_with_string]
def compare_with_string() -> bool:
    """Compare a device with a string: False on every machine, so the branch for MPS never runs."""
    device = torch.device("mps")
    return device == "mps"


# --8<-- [end:compare_with_string]
# --8<-- [start:try_except]
def pick_by_exception() -> torch.device:
    """Wait for an exception that is never raised: `torch.device` only stores a name, on any machine."""
    try:
        device = torch.device("mps")
    except RuntimeError:
        device = torch.device("cpu")
    return device


# --8<-- [end:try_except]
# --8<-- [start:forgotten_assignment]
def forget_the_copy(images: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Call `.to()` and drop what it returns: `images` stays where it was."""
    images.to(device)
    return images


# --8<-- [end:forgotten_assignment]
# --8<-- [start:fallback_variable]
def device_with_fallback(value: str) -> str:
    """Return the device that a new Python picks when PYTORCH_ENABLE_MPS_FALLBACK is `value`.

    The variable sends single missing operators to the CPU. It does not choose the device:
    the result is the same for "0" and "1". To force the CPU, use `--device cpu`.
    """
    environment = os.environ | {"PYTORCH_ENABLE_MPS_FALLBACK": value}
    command = [sys.executable, "-c", "from snippets.device import pick_device; print(pick_device()[0])"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


# --8<-- [end:fallback_variable]
