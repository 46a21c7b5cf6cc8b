"""Seed every random generator, and save and restore their states."""

import random
from typing import Any

import numpy
import torch


# --8<-- [start:seed]
def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and PyTorch. `torch.manual_seed` seeds the CPU and every accelerator."""
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


# --8<-- [end:seed]
def random_states(device: torch.device) -> dict[str, Any]:
    """Return the states of all generators, in types that `torch.load(weights_only=True)` accepts."""
    name, keys, *rest = numpy.random.get_state()
    on_device = torch if device.type == "cpu" else torch.get_device_module(device)
    return {
        "python": random.getstate(),
        "numpy": [name, keys.tolist(), *rest],
        "torch": torch.get_rng_state(),
        device.type: on_device.get_rng_state(),
    }


def restore_random_states(states: dict[str, Any], device: torch.device) -> None:
    """Restore `random_states`. The generator of a device of another type than the saved one is unchanged."""
    random.setstate(states["python"])
    numpy.random.set_state(tuple(states["numpy"]))
    torch.set_rng_state(states["torch"])
    if device.type in states:
        on_device = torch if device.type == "cpu" else torch.get_device_module(device)
        on_device.set_rng_state(states[device.type])


# --8<-- [start:deterministic]
def make_deterministic(*, warn_only: bool = False) -> None:
    """Use deterministic operators; one without such an implementation raises, or warns with `warn_only`.

    It also makes `torch.empty` fill memory with NaN, which takes some time. To undo it, call
    `torch.use_deterministic_algorithms(False)`.
    """
    torch.use_deterministic_algorithms(True, warn_only=warn_only)


# --8<-- [end:deterministic]
# --8<-- [start:threads]
def sum_with_threads(values: torch.Tensor, threads: int) -> float:
    """Return the float32 sum of `values`, computed by `threads` CPU threads that each add up a share."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return values.sum().item()
    finally:
        torch.set_num_threads(before)


# --8<-- [end:threads]
