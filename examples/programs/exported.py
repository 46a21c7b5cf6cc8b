"""Export a trained network: weights as plain types, a program that runs without this code, and ONNX.

Every file is loaded again and compared with the trained network before it gets its name. ONNX needs packages
that are not in the requirements: where one is missing, a line names the command that installs them.
"""

import contextlib
import importlib
import importlib.util
import io
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import Dim, ExportedProgram
from torch.onnx import OnnxExporterError

from examples.programs.run_folder import check_target, temporary_folder
from snippets.atomic_write import replace_file
from snippets.errors import RunError, one_line
from snippets.foreign_files import open_regular

Inputs = tuple[torch.Tensor, ...]
Computes = Callable[..., Any]  # a network, or what was loaded from its export
# foreign_reads: what it has just written, and regular files
ONNX = ("onnx", "onnxscript", "onnxruntime")  # the first two write it, the last computes for the comparison
CLOSE = 1e-4  # differences of ONNX, as a share of the largest output; other runtimes round in another order
CHECKED = "checked    loaded again on the CPU: .pt and .pt2 compute the same bits as the trained network"


@dataclass(frozen=True)
class Export:
    """The export of a network, which is on the CPU and in evaluation mode."""

    name: str  # of the files, without suffix
    network: nn.Module
    content: dict[str, Any]  # plain types: "network" (arguments of `rebuild`), "options" (of the run), others
    rebuild: Callable[..., nn.Module]  # returns a new network
    inputs: Callable[..., Inputs]  # returns inputs of given sizes, equal ones for each call
    sizes: Sequence[tuple[int, ...]]  # for `inputs`: the first is traced, the outputs of all are compared
    varying: dict[str, dict[int, Dim]]  # by input, in order: the axes whose size is free
    says: str  # which sizes are free, for the user


def write_weights(path: Path, export: Export) -> nn.Module:
    """Write weights and their options to `path`; return a new network loaded from it."""
    content = {**export.content, "weights": export.network.state_dict()}
    replace_file(path, lambda file: torch.save(content, file))
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    network = export.rebuild(**loaded["network"])
    network.load_state_dict(loaded["weights"])
    return network.eval()


def traced(export: Export) -> ExportedProgram:
    """Return the network as a program for inputs of free sizes."""
    inputs = export.inputs(*export.sizes[0])
    return torch.export.export(export.network, inputs, dynamic_shapes=export.varying)


def write_program(path: Path, export: Export) -> nn.Module:
    """Write a program that needs only PyTorch to `path`; return the network loaded from it."""
    whole = io.BytesIO()  # where a write fails, PyTorch's archive would end the process (2.15.0)
    torch.export.save(traced(export), whole)
    replace_file(path, lambda file: file.write(whole.getbuffer()))
    return torch.export.load(path).module()


def write_onnx(path: Path, export: Export) -> Computes:
    """Write the network as ONNX to `path`; return a function that computes it with ONNX Runtime."""
    runtime = importlib.import_module("onnxruntime")  # optional, so no import of this module
    names = list(export.varying)
    with contextlib.redirect_stdout(sys.stderr):  # it prints its own steps
        torch.onnx.export(
            traced(export), f=path, input_names=names, dynamo=True, external_data=False, verbose=False
        )
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    used = {entry.name for entry in session.get_inputs()}

    def compute(*inputs: torch.Tensor) -> Inputs:
        given = {name: value.numpy() for name, value in zip(names, inputs, strict=True) if name in used}
        return tuple(torch.from_numpy(output) for output in session.run(None, given))

    return compute


def outputs(network: Computes, inputs: Inputs) -> Inputs:
    """Return the outputs of a network as a tuple."""
    computed = network(*inputs)
    return (computed,) if isinstance(computed, torch.Tensor) else tuple(computed)


def largest_difference(export: Export, loaded: Computes) -> float:
    """Return the largest difference of outputs, as a share of the largest output: 0 for equal bits.

    It is infinite for outputs of another shape and for NaN.
    """
    worst = 0.0
    for sizes in export.sizes:
        inputs = export.inputs(*sizes)
        for one, other in zip(outputs(export.network, inputs), outputs(loaded, inputs), strict=True):
            if one.shape != other.shape:
                return math.inf
            if not torch.equal(one, other):
                share = ((one - other).abs().max() / one.abs().max()).item()
                worst = math.inf if math.isnan(share) else max(worst, share)
    return worst


def check_files(export: Export, folder: Path) -> None:
    """Raise UsageError when `folder` has files of these names that are not an export of this run."""
    weights, *others = files_of(export, folder)

    def is_of_this_run(file: Path) -> bool:
        try:
            with open_regular(file) as content:
                options = torch.load(content, map_location="cpu", weights_only=True)["options"]
        except Exception:  # PyTorch raises many errors for other files
            return False
        return options == export.content["options"]

    check_target(weights, is_of_this_run)
    for other in others:
        check_target(other, lambda _: weights.exists())


def write_files(export: Export, folder: Path) -> list[str]:
    """Write the files of a network and test them; return the lines to print. Raises RunError.

    They are written to a temporary folder and renamed when all are right. An older ONNX file is removed where
    no new one can be written.
    """
    lines: list[str] = []
    try:
        with torch.no_grad(), made(folder), temporary_folder(folder / export.name) as temporary:
            for write in (write_weights_and_program, write_onnx_if_possible):
                lines += write(export, folder, temporary)
            for path in files_of(export, folder):
                new = temporary / path.name
                new.replace(path) if new.exists() else path.unlink(missing_ok=True)
    except OSError as error:
        reason = f"cannot write to {folder}: {error.strerror or error}; choose another --out"
        raise RunError(reason) from None
    return lines


def write_weights_and_program(export: Export, folder: Path, temporary: Path) -> list[str]:
    """Write both files to `temporary`, test them, and return the lines to print. Raises RunError."""
    weights, program, _ = files_of(export, folder)
    lines = []
    for path, write, says in (
        (weights, write_weights, "weights and options, for this code"),
        (program, write_program, f"a program for PyTorch alone, {export.says}"),
    ):
        new = temporary / path.name
        check(path, largest_difference(export, write(new, export)), allowed=0.0)
        lines.append(f"written    {path}: {size_in_words(new)}, {says}")
    return lines


def write_onnx_if_possible(export: Export, folder: Path, temporary: Path) -> list[str]:
    """Write the ONNX file to `temporary`, test it, and return the lines to print. Raises RunError."""
    missing = [name for name in ONNX if importlib.util.find_spec(name) is None]
    if missing:
        return [f"note       no ONNX file; for one: pip install {' '.join(missing)}"]
    path = files_of(export, folder)[-1]
    new = temporary / path.name
    try:
        difference = largest_difference(export, write_onnx(new, export))
    except OnnxExporterError as error:
        return [f"note       no ONNX file, PyTorch cannot write it: {one_line(str(error), 300)}"]
    check(path, difference, allowed=CLOSE)
    return [
        f"written    {path}: {size_in_words(new)}, for ONNX Runtime and others, {export.says}",
        f"           it differs by at most {difference:.1g} of the largest output",
    ]


def files_of(export: Export, folder: Path) -> list[Path]:
    """Return the files of an export, the weights first: they show whose files these are."""
    return [folder / f"{export.name}{suffix}" for suffix in (".pt", ".pt2", ".onnx")]


def size_in_words(file: Path) -> str:
    """Return the size of a file for the user."""
    return f"{file.stat().st_size / 1000:,.0f} kB"


def check(path: Path, difference: float, *, allowed: float) -> None:
    """Raise RunError when the outputs of a file differ by more than `allowed`."""
    if difference > allowed:
        raise RunError(f"{path} would not compute what the trained network computes; nothing is written")


@contextlib.contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make `folder` for the block; remove it at the end if it is new and empty."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()
