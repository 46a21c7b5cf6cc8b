"""The machine that a result belongs to: chip, memory, GPU, power source, settings."""

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any

import torch

SETTINGS = ("PYTORCH_", "TORCH", "OMP_", "MKL_", "KMP_", "CUDA_", "NVIDIA_TF32")  # change speed or results


def output_of(*command: str) -> str:
    """Return the stripped output of a command; "" when it cannot run or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def chip_and_memory() -> tuple[str, int]:
    """Return processor name and memory in bytes; "" and 0 when they cannot be read."""
    if platform.system() == "Darwin":
        chip, memory = (output_of("sysctl", "-n", key) for key in ("machdep.cpu.brand_string", "hw.memsize"))
        return chip, int(memory or 0)
    try:
        name = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        name = None
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return name[1].strip() if name else platform.processor(), pages


def gpu() -> str | None:
    """Return the name of the GPU that PyTorch can use, on a Mac with its number of cores, or None."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    if torch.backends.mps.is_available():
        cores = getattr(torch.backends.mps, "get_core_count", lambda: None)()  # since PyTorch 2.9
        return f"{cores} GPU cores" if cores else "Apple GPU"
    return None


def power_source() -> str | None:
    """Return "AC Power" or "Battery Power" on a Mac, or None when it cannot be read."""
    if platform.system() != "Darwin":
        return None
    found = re.search(r"drawing from '(.+?)'", output_of("pmset", "-g", "batt"))
    return found[1] if found else None


def machine() -> dict[str, Any]:
    """Return the properties of this machine that affect times."""
    chip, memory = chip_and_memory()
    return {
        "chip": chip,
        "cpu_cores": os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
        "gpu": gpu(),
        "power": power_source(),
        # by default cuDNN rounds float32 inputs of convolutions to 10 bits
        "tf32_convolutions": torch.cuda.is_available() and torch.backends.cudnn.allow_tf32,
        "variables": {name: value for name, value in sorted(os.environ.items()) if name.startswith(SETTINGS)},
    }
