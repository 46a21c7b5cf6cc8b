"""Switch the simulated device on: its rules, and the Python side of PyTorch that builds without MPS lack."""

import atexit
import os
import platform
import re
import time
from types import ModuleType
from typing import Any

import torch

from simulated_mps import findings, gradients, limits, processes, rules
from simulated_mps.build import load_device
from simulated_mps.compilation import replace_inductor
from simulated_mps.errors import SimulationError
from simulated_mps.kernels import (
    OF_TORCHVISION,
    always_on_cpu,
    composed_with_kernel,
    installed_kernels,
    kernels_of,
    sparse_kernels,
    table,
)

GIGABYTE = 1 << 30
CORES = 8  # of the GPU, as the smallest M1 has
RECOMMENDED_MAX_MEMORY = 11 * GIGABYTE  # about what a Mac with 16 GB reports
COMPOSED = {"linalg_svd", "linalg_svd.U"}  # of others; the rest of always_on_cpu() has one kernel on the CPU

loaded: ModuleType | None = None
release: str | None = None


def enable(as_torch: str | None = None) -> None:
    """Give PyTorch the device "mps", with the operators of release `as_torch` ("2.9"), else of its own.

    Once per process, before a tensor or module is moved; processes started later have it from their start.
    PYTORCH_ENABLE_MPS_FALLBACK and SIMULATED_MPS_MACOS are read here.
    Raises SimulationError when this PyTorch cannot hold the device, and for a release without a table.
    """
    global loaded, release
    kernels = kernels_of(as_torch) if as_torch else installed_kernels()
    macos = macos_asked_for()
    if loaded is None:
        end_quietly()
        loaded = load_device()
        loaded.listen(findings.note)
        atexit.register(loaded.listen, None)  # the last to run: then Python cannot be called any more
        complete_python(loaded)
        replace_inductor()
        gradients.listen_to_backward()
        processes.start_workers_as_asked()
        processes.refuse_tensors_of_workers()
        processes.collect_counts()
    processes.give_children_the_device(as_torch)
    loaded.set_macos(*macos)
    torch._C._mps_is_on_macos_or_newer = lambda major, minor: (major, minor) <= macos
    torch.backends.mps.is_macos_or_newer.cache_clear()
    release = as_torch or ".".join(torch.__version__.split(".")[:2])
    commit = table()["releases"].get(release, {}).get("commit", "unknown")
    sparse = sparse_kernels(as_torch)
    on_cpu = always_on_cpu(release)
    loaded.set_rules(
        [
            *(f"aten::{name}" for name in kernels - on_cpu),
            *(f"aten::{name} (sparse)" for name in sparse),
            *OF_TORCHVISION,
        ],
        sorted(f"aten::{name}" for name in on_cpu),
        fallback_is_on(),
        commit,
        int(release.split(".")[1]),
        [loaded.Rule(*arguments) for arguments in rules.refused(release, macos)],
        rules.mixed_texts(release),
        rules.beyond_the_cpu(release),
    )
    whole_on_cpu = on_cpu & COMPOSED
    loaded.register_by_release(
        *(sorted(names) for names in (composed_with_kernel(as_torch), whole_on_cpu, sparse))
    )


def fallback_is_on() -> bool:
    """Return whether the variable is set as releases since 2.8 read it: to anything but exactly 0."""
    return os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK", "0") != "0"


def macos_asked_for() -> tuple[int, int]:
    """Return the macOS that SIMULATED_MPS_MACOS names, (15, 1), without it a newer one than all.

    Raises SimulationError.
    """
    asked = os.environ.get(processes.MACOS, "")
    if asked and not re.fullmatch(r"\d{1,2}(\.\d{1,2})?", asked):
        raise SimulationError(f"{processes.MACOS}={asked}: a version of macOS is such as 14 or 15.1")
    major, _, minor = (asked or "99").partition(".")
    return int(major), int(minor or 0)


def end_quietly() -> None:
    """Keep the thread that runs backward passes on the device from aborting the process at its end.

    Before Python 3.12, a thread that wants the interpreter while it ends is killed in a way that C++ takes
    for a defect. So the last backward pass gets a moment to finish, and no thread is told to end.
    """
    atexit.register(time.sleep, 0.05)  # seconds; the interpreter is free meanwhile
    os.environ.setdefault("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT", "0")


def complete_python(device: ModuleType) -> None:
    """Fill in what torch._C has only in builds with MPS; let PyTorch ask again whether there is one."""
    functions = {
        "_mps_is_available": lambda: True,
        "_mps_is_in_bad_fork": lambda: False,
        "_mps_deviceSynchronize": lambda: None,
        "_mps_emptyCache": lambda: None,
        "_mps_setMemoryFraction": lambda fraction: None,
        "_mps_currentAllocatedMemory": device.allocated,
        "_mps_driverAllocatedMemory": device.allocated,
        "_mps_recommendedMaxMemory": lambda: RECOMMENDED_MAX_MEMORY,
        "_mps_get_default_generator": device.default_generator,
        "_mps_get_name": lambda: "simulated",
        "_mps_get_core_count": lambda: CORES,
        "_mps_isCaptureEnabled": lambda: False,
        "_mps_isCapturing": lambda: False,
        "_mps_stopCapture": lambda: None,
        **limits.FUNCTIONS,
    }
    for name, function in functions.items():
        setattr(torch._C, name, function)
    if hasattr(torch.mps, "streams"):
        complete_streams(torch._C._MPSStreamBase)
    torch._C._has_mps = True
    torch.storage._StorageBase.mps = storage_to_mps
    torch.UntypedStorage.clone = clone_storage
    if hasattr(torch._refs.linalg, "mps_lib"):  # of 2.10 to 2.13; the tables decide, as for all others
        torch._refs.linalg.mps_lib._destroy()
    platform.processor = lambda: "arm"  # Lightning asks this beside PyTorch; else it takes the CPU, silently
    torch.backends.mps.is_available.cache_clear()


def complete_streams(base: Any) -> None:
    """Fill in the base of torch.mps.Stream, as of PyTorch 2.15; work is done when a call returns."""
    current = 0

    def begin(stream: Any, *, stream_id: int = 0) -> None:
        stream.__dict__["stream_id"] = stream_id

    def select(stream: Any) -> None:
        nonlocal current
        current = stream.stream_id

    members = {
        "__new__": staticmethod(lambda cls, **_: object.__new__(cls)),
        "__init__": begin,
        "__eq__": lambda stream, other: isinstance(other, base) and stream.stream_id == other.stream_id,
        "__hash__": lambda stream: hash(stream.stream_id),
        "stream_id": property(lambda stream: stream.__dict__["stream_id"]),
        "synchronize": lambda stream: None,
    }
    for name, member in members.items():
        setattr(base, name, member)
    torch._C._mps_getCurrentStream = lambda: base(stream_id=current)
    torch._C._mps_setStream = select


def storage_to_mps(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Return a copy of `storage` on the device; loading a checkpoint asks for it."""
    content = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    return content.to("mps").untyped_storage()


def clone_storage(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Return a copy of `storage` on its own device."""
    content = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    return content.clone().untyped_storage()
