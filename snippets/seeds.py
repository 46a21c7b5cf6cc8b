"""Seed every random generator, and save and restore their states."""

import random
from typing import Any

import numpy
import torch


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and PyTorch. `torch.manual_seed` seeds the CPU and every accelerator."""
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


def random_states(device: torch.device) -> dict[str, Any]:
    """Return the state of every generator, in types that `torch.load(weights_only=True)` accepts."""
    name, keys, *rest = numpy.random.get_state()
    on_device = torch if device.type == "cpu" else torch.get_device_module(device)
    return {
        "python": random.getstate(),
        "numpy": [name, keys.tolist(), *rest],
        "torch": torch.get_rng_state(),
        device.type: on_device.get_rng_state(),
    }


def restore_random_states(states: dict[str, Any], device: torch.device) -> None:
    """Go back to `random_states`. A device of another kind than the saved one keeps its generator."""
    random.setstate(states["python"])
    numpy.random.set_state(tuple(states["numpy"]))
    torch.set_rng_state(states["torch"])
    if device.type in states:
        on_device = torch if device.type == "cpu" else torch.get_device_module(device)
        on_device.set_rng_state(states[device.type])
