"""Find the device that the wheel carries for this PyTorch, or compile it once and keep the result."""

import hashlib
import importlib.util
import os
import shlex
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path
from types import ModuleType

import torch

from simulated_mps.errors import SimulationError

HERE = Path(__file__).parent
SOURCES = sorted([*HERE.glob("*.cpp"), *HERE.glob("*.h")])
NAME = "simulated_mps_device"
SUPPORTED = ("2.13", "2.14", "2.15")  # releases of PyTorch that this was compiled and tested with
INSTALL = "pip install torch==2.15.0"


def check_pytorch() -> None:
    """Raise SimulationError when this PyTorch cannot hold the simulated device."""
    if torch.backends.mps.is_built():
        raise SimulationError("this PyTorch has the real MPS; the simulated one is for machines without it")
    if torch.cuda.is_available() or torch.version.hip is not None:
        raise SimulationError(
            f"PyTorch {torch.__version__} has a CUDA GPU or is built for ROCm, beside which MPS cannot be; "
            "hide the GPU: CUDA_VISIBLE_DEVICES= before the command"
        )
    if installed_release() not in SUPPORTED:
        raise SimulationError(
            f"PyTorch {torch.__version__} is not supported, only {', '.join(SUPPORTED)}: {INSTALL}"
        )


def installed_release() -> str:
    """Return the release of this PyTorch, such as "2.15"."""
    return ".".join(torch.__version__.split(".")[:2])


def carried_device() -> Path:
    """Return where a wheel carries the device for this release of PyTorch and this Python, if it does."""
    return HERE / f"torch-{installed_release()}{sysconfig.get_config_var('EXT_SUFFIX')}"


def cache_folder() -> Path:
    """Return the folder of the compiled device, which depends on sources, PyTorch, Python and compiler."""
    parts = [torch.__version__, sys.implementation.cache_tag, os.environ.get("CXX", "c++")]
    digest = hashlib.sha256("\0".join(parts).encode() + b"".join(path.read_bytes() for path in SOURCES))
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "simulated_mps" / digest.hexdigest()[:16]


def compile_command(target: Path) -> list[str]:
    """Return the command that compiles the device to `target`, an extension module."""
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    folder = Path(torch.__file__).parent
    headers = folder / "include"
    includes = [headers, headers / "torch/csrc/api/include", sysconfig.get_path("include")]
    return [
        *compiler,
        *("-std=c++20", "-O1", "-shared", "-fPIC", "-DTORCH_API_INCLUDE_EXTENSION_H"),
        f"-DTORCH_EXTENSION_NAME={NAME}",
        *(f"-isystem{path}" for path in includes),
        str(HERE / "device.cpp"),
        *("-o", str(target)),
        f"-L{folder / 'lib'}",
        *("-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"),
    ]


def compile_device(target: Path) -> None:
    """Compile the device, which takes about half a minute, and put it at `target` when it is complete.

    Raises SimulationError when there is no compiler, or when it fails.
    """
    print("simulated_mps: compiling the device, once", file=sys.stderr, flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    command = compile_command(scratch)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        install = "install one (Debian: apt install g++) or set CXX"
        raise SimulationError(f"there is no C++ compiler {command[0]!r}; {install}") from None
    if done.returncode != 0:
        error = next((line for line in done.stderr.splitlines() if "error" in line), "no message")
        raise SimulationError(f"{command[0]} cannot compile the simulated device: {error}")
    scratch.replace(target)


def compiled_device() -> Path:
    """Return the file of the compiled device, compiled now where there is none. Raises SimulationError."""
    check_pytorch()
    carried = carried_device()
    if carried.exists():
        return carried
    library = cache_folder() / f"{NAME}.so"
    if not library.exists():
        compile_device(library)
    return library


def load_device() -> ModuleType:
    """Return the compiled device as a module; loading it registers the device "mps".

    Raises SimulationError.
    """
    library = compiled_device()
    loader = ExtensionFileLoader(NAME, str(library))
    try:
        module = importlib.util.module_from_spec(ModuleSpec(NAME, loader, origin=str(library)))
    except ImportError as error:  # such as a symbol that this PyTorch does not have
        reason = str(error).removeprefix(f"{library}: ")
        raise SimulationError(
            f"the compiled device does not fit PyTorch {torch.__version__} ({reason}); "
            f"install simulated-mps from its source, or remove {library}"
        ) from None
    loader.exec_module(module)
    return module
