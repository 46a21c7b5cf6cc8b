"""Which operators have an MPS kernel in which release of PyTorch."""

import functools
import json
from importlib.util import find_spec
from pathlib import Path

from simulated_mps.errors import SimulationError
from simulated_mps.native_functions import read_composed_with_kernel, read_marks, read_sparse

TABLE = Path(__file__).with_name("kernels.json")  # written by tools.measuring.releases from the macOS wheels


LIST = "ATen/native/native_functions.yaml"

# Registered for MPS beside native_functions.yaml, to run on the CPU whatever PYTORCH_ENABLE_MPS_FALLBACK says
# (aten/src/ATen/mps/MPSFallback.mm). Read in the machine code of the macOS wheels of the commits in TABLE:
# what their functions TORCH_LIBRARY_IMPL_init_aten_MPS_* register are the kernels of TABLE, these, and
# _slow_conv2d_forward, which only refuses an input on the CPU with a weight on MPS.
ALWAYS_ON_CPU = {"embedding_renorm_"}
REGISTERED_IN_PYTHON = {"linalg_lu_solve.out"}  # by the installed release, in torch/_refs/linalg
UP_TO_2_13 = {"linalg_svd", "linalg_svd.U"}  # from 2.14 on _linalg_svd has a kernel

# torchvision's own kernels: those in the Metal source of its macOS wheel 0.29.2. The CPU's compute here.
OF_TORCHVISION = {
    f"torchvision::{name}"
    for name in (
        *("nms", "deform_conv2d", "roi_align", "_roi_align_backward", "roi_pool", "_roi_pool_backward"),
        *("ps_roi_align", "_ps_roi_align_backward", "ps_roi_pool", "_ps_roi_pool_backward"),
    )
}


def always_on_cpu(release: str) -> set[str]:
    """Return the operators that `release` ("2.13") runs on the CPU without being asked, with a warning."""
    major, minor = (int(part) for part in release.split("."))
    return ALWAYS_ON_CPU | (UP_TO_2_13 if (major, minor) <= (2, 13) else set())


def table() -> dict:
    """Return the table: "releases", and for every operator of "kernels" the releases that have its kernel."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


def releases() -> list[str]:
    """Return the releases that can be simulated, such as "2.13", the oldest first."""
    return list(table()["releases"])


def kernels_of(release: str) -> set[str]:
    """Return the operators ("add.Tensor") that run on MPS in `release`, by a kernel or composed of others.

    Raises SimulationError for a release without a table.
    """
    position = position_of(release)
    return {name for name, marks in table()["kernels"].items() if marks[position] != "-"}


def position_of(release: str) -> int:
    """Return which mark of the table stands for `release`. Raises SimulationError for one without a table."""
    known = releases()
    if release not in known:
        raise SimulationError(f"--as-torch {release}: there are tables for {', '.join(known)}")
    return known.index(release)


def packaged(name: str) -> Path:
    """Return a file that comes with the installed PyTorch. Raises SimulationError."""
    torchgen = find_spec("torchgen")
    path = Path(torchgen.origin).parent / "packaged" / name if torchgen and torchgen.origin else None
    if path is None or not path.is_file():
        raise SimulationError(f"this PyTorch has no torchgen/packaged/{name}; use pip's")
    return path


def installed_kernels() -> set[str]:
    """Return those of the installed PyTorch, whose list comes with it. Raises SimulationError."""
    marks = read_marks(packaged(LIST))
    return {name for name, mark in marks.items() if mark != "-"} | REGISTERED_IN_PYTHON


@functools.cache
def installed_composed_with_kernel() -> set[str]:
    """Return what the installed PyTorch composes of others, except on devices that have a kernel as MPS has.

    Raises SimulationError.
    """
    return read_composed_with_kernel(packaged(LIST), packaged("autograd/derivatives.yaml"))


def composed_with_kernel(release: str | None) -> set[str]:
    """Return those of them that have the kernel in `release`, None: in the installed one.

    Raises SimulationError.
    """
    found = installed_composed_with_kernel()
    if release is None:
        return found
    position, marks = position_of(release), table()["kernels"]
    return {name for name in found if marks.get(name, "-" * len(releases()))[position] == "x"}


def sparse_kernels(release: str | None) -> set[str]:
    """Return the operators that take sparse tensors in `release`, None: in the installed one.

    Raises SimulationError.
    """
    if release is None:
        return read_sparse(packaged(LIST))
    position = position_of(release)
    return {name for name, marks in table()["sparse"].items() if marks[position] == "x"}
