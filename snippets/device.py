"""Choose the device to compute on: CUDA, then MPS, then the CPU, with the reason.

`python -m snippets.device` prints the choice for this machine; `python -m snippets.device mps` requires MPS.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Sequence

import torch
from torch import nn

from snippets.errors import UsageError, exit_with_one_line


# --8<-- [start:availability]
def why_not_mps() -> str | None:
    """Return why MPS cannot be used here, or None when it can."""
    if torch.backends.mps.is_available():
        return None
    if platform.system() != "Darwin":
        return f"only Macs have it, and this is {platform.system()}"
    if not torch.backends.mps.is_built():
        return "this PyTorch was built without MPS; install the macOS arm64 wheel"
    return (
        f"this PyTorch has MPS, but finds no usable GPU on macOS {macos_version()}: "
        f"a virtual machine or sandbox, or a macOS too old for PyTorch {torch.__version__}"
    )


def why_not_cuda() -> str | None:
    """Return why CUDA cannot be used here, or None when it can."""
    if torch.cuda.is_available():
        return None
    if torch.version.cuda is None:
        return "this PyTorch was built without CUDA"
    return "no usable NVIDIA GPU"


# --8<-- [end:availability]
# --8<-- [start:pick_device]
def pick_device(wanted: str = "auto") -> tuple[torch.device, str]:
    """Return the device to compute on and the reason as text.

    `wanted` is "auto", "cuda", "mps" or "cpu". Raises UsageError for any other word, and for a device
    that this machine does not have, rather than silently returning another one.
    """
    obstacles = {"cuda": why_not_cuda(), "mps": why_not_mps(), "cpu": None}  # in order of preference
    if wanted == "auto":
        reason = "automatic choice"
        for name, obstacle in obstacles.items():
            if obstacle is None:
                return torch.device(name), reason
            reason += f"; no {name.upper()}: {obstacle}"
    if wanted not in obstacles:
        raise UsageError(f"unknown device {wanted!r}; choose auto, {', '.join(obstacles)}")
    if obstacles[wanted] is not None:
        raise UsageError(f"device {wanted!r} cannot be used: {obstacles[wanted]}; use auto or cpu")
    return torch.device(wanted), "as requested"


# --8<-- [end:pick_device]
# --8<-- [start:accelerator]
def pick_accelerator() -> torch.device:
    """Return the machine's accelerator, or the CPU. Needs PyTorch 2.6.

    Check `is_available()` first: `current_accelerator()` alone returns what PyTorch was built for,
    which is "mps" in every macOS build, with or without a usable GPU.
    """
    found = torch.accelerator.is_available()
    return torch.accelerator.current_accelerator() if found else torch.device("cpu")


# --8<-- [end:accelerator]
# --8<-- [start:is_mps]
def is_mps(device: torch.device) -> bool:
    """Return whether `device` is the Apple GPU. `device == "mps"` is always False: compare `.type`."""
    return device.type == "mps"


# --8<-- [end:is_mps]
# --8<-- [start:move]
def forward_on(device: torch.device, model: nn.Module, images: torch.Tensor) -> torch.Tensor:
    """Run `model` on `images` (batch, ...) on `device`; the result stays there.

    `.to()` moves a module in place. Of a tensor elsewhere it returns a copy, so assign the result.
    """
    model.to(device)
    images = images.to(device)
    return model(images)


# --8<-- [end:move]
def synchronize(device: torch.device) -> None:
    """Wait until `device` has finished all queued work. Calls on the CPU return only when finished."""
    if device.type == "mps":
        torch.mps.synchronize()
    elif device.type == "cuda":
        torch.cuda.synchronize(device)


def macos_version() -> str:
    """Return the version of macOS, such as "26.1"; "" on other systems.

    macOS 26 reports version 16 to programs built with an older SDK, and 10.16 to still older ones.
    platform.mac_ver() returns that number; sw_vers with this variable returns the true one.
    """
    told = platform.mac_ver()[0]
    if not told:
        return ""
    environment = os.environ | {"SYSTEM_VERSION_COMPAT": "0"}
    command = ["sw_vers", "-productVersion"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # a sandbox may forbid the command
        return told
    return done.stdout.strip() or told


def typed_device(argv: Sequence[str] | None) -> tuple[torch.device, str]:
    """Return device and reason for a command line of at most one word. Raises UsageError."""
    words = list(sys.argv[1:] if argv is None else argv)
    if len(words) > 1:
        raise UsageError(f"expected at most one device, got {' '.join(words)!r}")
    return pick_device(*words)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the device that would be used, and why."""
    device, reason = typed_device(argv)
    print(f"device: {device} ({reason})")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
