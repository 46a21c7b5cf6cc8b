"""Check whether this machine is ready to train with PyTorch, and show how to fix each problem.

Copy this file anywhere: it needs no other file, Python 3.9 or newer, and not even PyTorch.

    python check_setup.py            # for people
    python check_setup.py --json     # for programs and for bug reports

Exit code 0: nothing is wrong (notes may remain); 1: at least one problem; 2: wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import dataclasses
import functools
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HIGH = "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
LOW = "PYTORCH_MPS_LOW_WATERMARK_RATIO"
FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
VARIABLES = (
    FALLBACK,
    HIGH,
    LOW,
    "KMP_DUPLICATE_LIB_OK",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "TORCHDYNAMO_SUPPRESS_ERRORS",
    "DISABLE_MPS",
)
BRING_OPENMP = ("sklearn", "faiss", "xgboost", "lightgbm")  # packages that contain OpenMP
OPENMP_FILE = re.compile(r"lib(iomp5|omp|gomp)(-\w+)?(\.so[.\d]*|\.dylib)")
TOLERANCE = 1e-3  # relative: float32 is off by about 2e-7, TF32 on CUDA by 4e-4
PROBE_SECONDS = 300
MARK = "check_setup>"


class Release(NamedTuple):
    """The newest PyTorch for a version of macOS. `since` is the first PyTorch that needs this version."""

    macos: tuple[int, ...]
    since: tuple[int, ...]
    torch: str
    torchvision: str
    oldest_python: tuple[int, int]
    newest_python: tuple[int, int]

    @property
    def pythons(self) -> str:
        """The Python versions with wheels, such as "3.11 to 3.15"."""
        return f"{dotted(self.oldest_python)} to {dotted(self.newest_python)}"

    def has_wheels_for(self, python: tuple[int, ...]) -> bool:
        """Return whether there is a wheel for a Python version such as (3, 12)."""
        return self.oldest_python <= python <= self.newest_python


# The page "Which PyTorch for my Mac" has the sources. 2.5 names macOS 12.3 but rejects 12.7.
RELEASES = (
    Release((15, 0), (2, 15), "2.15.0", "0.29.2", (3, 11), (3, 15)),
    Release((14, 0), (2, 9), "2.14.1", "0.29.2", (3, 10), (3, 14)),
    Release((13, 0), (2, 5), "2.8.0", "0.23.0", (3, 9), (3, 13)),
    Release((12, 3), (1, 12), "2.4.1", "0.19.1", (3, 8), (3, 12)),
)
INTEL = Release((10, 9), (1, 0), "2.2.2", "0.17.2", (3, 8), (3, 12))


@dataclasses.dataclass
class Machine:
    """The input of all checks, gathered once. Tests use it to describe other machines."""

    system: str  # "Darwin", "Linux" or "Windows"
    arch: str  # of this Python: "arm64", "x86_64"
    translated: bool  # an x86_64 Python under Rosetta on Apple silicon
    virtual: bool  # macOS in a virtual machine
    chip: str
    ram: int  # bytes, 0 when unknown
    macos: str  # "15.1"; "" elsewhere
    python: str
    executable: str
    env: dict[str, str]  # those of VARIABLES that are set
    torch: str  # version, "" when not installed; the same for the next
    torchvision: str
    torchvision_needs: str  # its requirement on torch, "==2.9.1"
    numpy: str
    torch_copies: list[str]  # "2.15.0 in /…/site-packages"; folders "~orch" that pip left behind
    openmp_files: list[str]  # OpenMP libraries in installed packages
    probe: dict[str, dict[str, Any]]  # answers of PyTorch in a child process, by step
    failed: dict[str, str]  # values that could not be gathered, with the reason


@dataclasses.dataclass
class Result:
    """The result of the check `name`, one sentence on why it matters, and what to do."""

    status: str
    found: str
    why: str = ""
    fix: str = ""
    name: str = ""


ok = functools.partial(Result, "ok")
note = functools.partial(Result, "note")  # no problem
problem = functools.partial(Result, "problem")
Check = Callable[[Machine], Iterator[Result]]


def numbers(version: str) -> tuple[int, ...]:
    """Return "2.15.0+cu132" as (2, 15, 0); () when there is no number."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def dotted(version: tuple[int, ...]) -> str:
    """Return (15, 0) as "15" and (12, 3) as "12.3"."""
    return ".".join(map(str, version[:1] if version[1:] == (0,) else version))


def one_line(error: BaseException) -> str:
    """Return the type and the first line of an error."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or ['no message'])[0][:300]}"


def newest_release(m: Machine) -> Release | None:
    """Return the newest release for this chip and macOS, with any Python; None: macOS too old."""
    if m.system == "Darwin" and m.arch == "x86_64" and not m.translated:
        return INTEL
    macos = numbers(m.macos) if m.system == "Darwin" else RELEASES[0].macos
    return next((release for release in RELEASES if release.macos <= macos), None)


def install_command(m: Machine) -> str:
    """Return the command that installs the newest PyTorch for this machine and this Python."""
    best, python = newest_release(m), numbers(m.python)[:2]
    if best is None:
        return "update macOS to 12.3 or newer, better to the newest that this Mac takes"
    if m.system != "Darwin":
        return "python -m pip install --upgrade torch torchvision"
    usable = [INTEL] if best is INTEL else [r for r in RELEASES if r.macos <= best.macos]
    fitting = [best] if m.translated else [r for r in usable if r.has_wheels_for(python)]
    release = fitting[0] if fitting else best
    command = f"python -m pip install torch=={release.torch} torchvision=={release.torchvision}"
    if release is INTEL:
        command += ' "numpy<2"'
    return command if fitting else f"install Python {best.pythons}, make a new environment, then: {command}"


def check_python(m: Machine) -> Iterator[Result]:
    """Check architecture and version: PyTorch's Mac wheels are made for arm64 only."""
    found, best = f"{m.python}, {m.arch}, {m.executable}", newest_release(m)
    if m.translated:
        yield problem(
            f"{found}: an Intel Python under Rosetta on {m.chip}",
            "It gets Intel wheels, which end at PyTorch 2.2.2, and no Apple GPU.",
            "install an arm64 Python (python.org, or Homebrew in /opt/homebrew), make a new "
            f"environment with it, then: {install_command(m)}",
        )
    elif best and not best.has_wheels_for(numbers(m.python)[:2]):
        yield note(
            found,
            f"PyTorch {best.torch}, the newest for this machine, has no wheel for this Python.",
            f"make a new environment with Python {best.pythons}",
        )
    else:
        yield ok(found)


def check_macos(m: Machine) -> Iterator[Result]:
    """Check that macOS is new enough for the installed PyTorch; yields nothing on other systems."""
    found, torch = f"{m.macos} on {m.chip or 'an unknown chip'}", numbers(m.torch)
    need = next((r.macos for r in RELEASES if torch and r.since <= torch), RELEASES[-1].macos)
    if m.system != "Darwin":
        return
    if m.arch == "x86_64" and not m.translated:
        yield note(
            f"{found}: an Intel Mac",
            "PyTorch ended for Intel with 2.2.2, whose MPS is unsupported and needs an AMD GPU.",
            "train small models on its CPU, or use another machine",
        )
    elif numbers(m.macos) < need:
        other = f", or: {install_command(m)}" if newest_release(m) else ""
        what = f"PyTorch {m.torch}" if m.torch else "MPS"
        yield problem(
            f"{found}, but {what} needs {dotted(need)}",
            "On an older macOS than it was made for, MPS refuses to work or is untested.",
            f"update macOS to {dotted(need)} or newer{other}",
        )
    else:
        yield ok(found)


def check_torch(m: Machine) -> Iterator[Result]:
    """Check that PyTorch is installed once, starts, and is not needlessly old."""
    step, best = m.probe.get("torch", {"error": "not tried"}), newest_release(m)
    versions = {numbers(text) for text in (m.torch, *m.torch_copies) if numbers(text)}
    if "No module named 'torch'" in step.get("error", ""):
        yield problem("not installed", "Nothing can be trained without it.", install_command(m))
    elif "error" in step:
        yield problem(
            f"{m.torch} cannot start: {step['error']}",
            "A PyTorch that does not start is damaged, or mixed from several installs.",
            f"make a new environment, then: {install_command(m)}",
        )
    elif m.system == "Darwin" and not m.translated and best and numbers(m.torch) < numbers(best.torch):
        early = "Releases before 2.14 give wrong results without an error in more operations."
        yield note(
            f"{m.torch}; the newest for this Mac is {best.torch}",
            early if numbers(m.torch) < (2, 14) else "Newer releases correct its errors.",
            install_command(m),
        )
    else:
        yield ok(f"{m.torch} starts")
    if len(m.torch_copies) > 1 or len(versions) > 1:
        yield problem(
            f"{m.torch}; installed: {'; '.join(m.torch_copies)}",
            "Files of several installs mix, with errors that nobody can explain.",
            "python -m pip uninstall -y torch, again until none is found; delete folders "
            f"named ~orch…; then: {install_command(m)}",
        )


def satisfies(torch: str, requirement: str) -> bool:
    """Return whether a PyTorch version meets a requirement such as "==2.9.1" or ">=2.14.0"."""
    for operator, wanted in re.findall(r"(==|>=|<|!=)([^,]+)", requirement):
        have, want = numbers(torch), numbers(wanted)
        met = {"==": have == want, ">=": have >= want, "<": have < want, "!=": have != want}
        if "dev" in wanted:  # a nightly build requires one exact build
            met["=="] = torch.partition("+")[0] == wanted.partition("+")[0]
        if not met[operator]:
            return False
    return True


def check_torchvision(m: Machine) -> Iterator[Result]:
    """Check that torchvision's compiled operators are made for this PyTorch."""
    error = m.probe.get("torchvision", {}).get("error")
    if not m.torch:
        return
    if not m.torchvision:
        yield note("not installed", "Only image data sets need it.", install_command(m))
    elif not satisfies(m.torch, m.torchvision_needs):
        yield problem(
            f"{m.torchvision} needs torch{m.torchvision_needs}, installed is {m.torch}",
            "Its compiled operators are made for another PyTorch and fail or crash.",
            install_command(m),
        )
    elif error:
        yield problem(
            f"{m.torchvision} does not work: {error}",
            "Its compiled operators do not fit this PyTorch.",
            f"python -m pip uninstall -y torchvision; then: {install_command(m)}",
        )
    else:
        yield ok(f"{m.torchvision} fits PyTorch {m.torch}")


def check_numpy(m: Machine) -> Iterator[Result]:
    """Check that tensors can become NumPy arrays."""
    error = m.probe.get("torch", {}).get("numpy_error")
    if m.numpy and error:
        old = numbers(m.torch) < (2, 3) and numbers(m.numpy) >= (2,)
        yield problem(
            f"{m.numpy} does not work with PyTorch: {error}",
            "PyTorch before 2.3 cannot use NumPy 2." if old else "One of them is damaged.",
            f'python -m pip install --force-reinstall "numpy{"<2" if old else ""}"',
        )


def check_mps(m: Machine) -> Iterator[Result]:
    """Check whether MPS can be used; if not, yield the first cause that explains it."""
    torch = m.probe.get("torch", {"error": "not tried"})
    too_old = any(numbers(m.macos) < r.macos for r in RELEASES if r.since <= numbers(m.torch))
    if m.system != "Darwin":
        yield note(
            f"not available, this is {m.system}",
            "MPS exists on macOS only; a container on a Mac runs Linux and has none.",
            "nothing: use CUDA or the CPU here; on a Mac, run Python on macOS itself",
        )
    elif "error" in torch:
        yield note("not checked", "Only a PyTorch that starts can tell.", "fix PyTorch first")
    elif torch["mps_available"]:
        yield ok(f"available on {m.chip}")
    elif m.translated:
        yield problem(
            "not available, PyTorch runs under Rosetta",
            "The Apple GPU needs an arm64 PyTorch.",
            "see Python above",
        )
    elif m.arch == "x86_64":
        yield note(
            "not available, an Intel Mac without a usable AMD GPU",
            "MPS is made for Apple silicon.",
            "nothing: use the CPU",
        )
    elif not torch["mps_built"]:
        yield problem(
            "not built into this PyTorch",
            "Some channels and own builds leave MPS out; pip's wheels contain it.",
            f"python -m pip uninstall -y torch; then: {install_command(m)}",
        )
    elif too_old:
        yield problem(
            f"not available, macOS {m.macos} is too old for {m.torch}",
            "Each PyTorch refuses a macOS below its own minimum.",
            "see macOS above",
        )
    else:
        where = "this virtual machine" if m.virtual else "this process"
        yield problem(
            f"built, but {where} sees no GPU that PyTorch can use",
            "Virtual machines and sandboxes often hide the GPU.",
            "run Python in a terminal on the Mac itself, outside of any of these",
        )


def check_computation(m: Machine) -> Iterator[Result]:
    """Check that a small forward and backward pass on the best device agrees with the CPU."""
    if "error" in m.probe.get("torch", {"error": "not tried"}):
        return
    step = m.probe.get("computation", {"error": "an earlier step ended the process"})
    if "error" in step:
        yield problem(
            f"did not finish: {step['error']}",
            "Training would stop in the same way.",
            "fix the other problems first",
        )
        return
    found = (
        f"a small network's gradients on {step['device']} differ by {step['difference']:.1e} "
        f"from float64 on the CPU (allowed: {TOLERANCE:.0e})"
    )
    if step["difference"] <= TOLERANCE:  # false for NaN, too
        yield ok(found)
    else:
        yield problem(
            found,
            "This device computes wrong values: do not trust what it trains.",
            f"use the CPU, and update: {install_command(m)}",
        )


def check_memory(m: Machine) -> Iterator[Result]:
    """Show the memory limits; 0 <= low <= high <= 2 must hold for the two watermark variables."""
    given = {name: m.env[name] for name in (HIGH, LOW) if name in m.env}
    try:
        high, low = float(given.get(HIGH, 1.7)), float(given.get(LOW, 1.4))  # PyTorch's defaults
    except ValueError:
        high = low = -1.0
    memory = m.probe.get("computation", {}).get("memory")
    if memory:
        limit = f"{high * memory['recommended'] / 2**30:.1f} GiB" if high > 0 else "gone"
        yield ok(
            f"{m.ram / 2**30:.1f} GiB; Metal recommends up to "
            f"{memory['recommended'] / 2**30:.1f} GiB for the GPU; PyTorch's limit is "
            f"{limit}; in use: {memory['driver'] / 2**20:.0f} MiB, of which tensors "
            f"{memory['current'] / 2**20:.0f} MiB"
        )
    if not given or m.system != "Darwin":
        return
    found = " ".join(f"{name}={value}" for name, value in given.items())
    fix = f"unset {' '.join(given)}"
    if not (0 <= high <= 2 and 0 <= low <= 2):
        yield problem(found, "Both must be numbers from 0 to 2.", fix)
    elif low > (high or 2):
        yield problem(
            f"{found}; the low limit is {low:g}",
            "PyTorch fails at the first allocation when the low limit is above the high one.",
            f"{fix}, or: export {HIGH}={high:g} {LOW}={high * 0.9:.2g}",
        )
    elif high == 0:
        yield problem(
            found,
            "Without a limit, a job that is too large makes the Mac swap or freeze, not stop.",
            f"{fix}; reduce the batch size",
        )
    else:
        yield ok(found)


def check_variables(m: Machine) -> Iterator[Result]:
    """Find variables that do harm, or the opposite of what their value suggests."""
    mac, off = m.system == "Darwin", ("", "0", "false", "no", "off", "f", "n")
    found = []

    def add(status: Callable[..., Result], name: str, why: str) -> None:
        found.append(status(f"{name}={m.env[name]}", why, f"unset {name}"))

    for name in (FALLBACK, HIGH, LOW):
        if name in m.env and not mac:
            add(note, name, "It has no effect on this system.")
    value, new = m.env.get(FALLBACK, "0"), (numbers(m.torch) or (99,)) >= (2, 8)
    if mac and value != "0" and (new or numbers(value) > (0,)):  # up to 2.7 it is read as a number
        if value.lower() in off:
            add(problem, FALLBACK, "Any value except 0 turns it on, even false or nothing.")
        else:
            add(note, FALLBACK, "Missing operators run on the CPU; one warning names the first of them.")
    if m.env.get("KMP_DUPLICATE_LIB_OK", "").lower() not in off:
        why = "It hides a clash of two OpenMP libraries, which may crash or silently give wrong results."
        add(problem, "KMP_DUPLICATE_LIB_OK", why)
    if "MKL_NUM_THREADS" in m.env and (mac or "OMP_NUM_THREADS" in m.env):
        why = "It sets the threads of the CPU and overrides OMP_NUM_THREADS, on a Mac as well."
        add(note, "MKL_NUM_THREADS", why)
    value = m.env.get("TORCHDYNAMO_SUPPRESS_ERRORS", "")
    if value:
        why = "Any value, even 0, hides failures of torch.compile; the code then runs uncompiled."
        add(problem if value.lower() in off else note, "TORCHDYNAMO_SUPPRESS_ERRORS", why)
    if mac and m.env.get("DISABLE_MPS") == "1":
        add(note, "DISABLE_MPS", "Lightning then reports that there is no MPS.")
    yield from found or [ok("none that does harm is set")]


def check_openmp(m: Machine) -> Iterator[Result]:
    """Check for two OpenMP libraries in one process, which may abort it with "OMP: Error #15"."""
    step = m.probe.get("openmp", {})
    alone, loaded = step.get("with_torch", []), step.get("loaded", [])
    names = " and ".join(["torch", *step.get("imported", [])])
    families = {match[1] for p in loaded if (match := OPENMP_FILE.fullmatch(Path(p).name))}
    fix = f"run one of {names} in a process of its own, or install all from conda-forge in a new environment"
    if "error" in step:
        yield problem(
            f"{names} in one process: {step['error']}",
            "Two OpenMP libraries in one process are the usual cause.",
            fix,
        )
    elif m.system == "Darwin" and len(alone) > 1:
        yield problem(
            f"PyTorch alone loads {len(alone)}: {', '.join(alone)}",
            "Two OpenMP libraries may crash or silently give wrong results.",
            fix,
        )
    elif len(loaded) > 1 and families != {"gomp"}:
        yield note(
            f"{len(loaded)} in a process with {names}: {', '.join(loaded)}",
            'They start together here; suspect them first when a run hangs or ends with "OMP: Error #15".',
            f"nothing now; then: {fix}",
        )
    elif loaded or m.openmp_files:
        yield ok(f"no clash; found {', '.join(loaded or m.openmp_files)}")


CHECKS: dict[str, Check] = {
    "Python": check_python,
    "macOS": check_macos,
    "PyTorch": check_torch,
    "torchvision": check_torchvision,
    "NumPy": check_numpy,
    "MPS": check_mps,
    "Computation": check_computation,
    "Memory": check_memory,
    "Variables": check_variables,
    "OpenMP": check_openmp,
}


def run_checks(m: Machine, checks: dict[str, Check] = CHECKS) -> list[Result]:
    """Run every check. A check that raises, and each value that is unknown, becomes a problem."""
    results: list[Result] = []
    failures = dict(m.failed)
    for name, check in checks.items():
        try:
            results += [dataclasses.replace(result, name=name) for result in check(m)]
        except Exception as error:  # never leave the user with a traceback
            failures[name] = one_line(error)
    for name, reason in failures.items():
        found, why = f"this check failed itself: {reason}", "So nothing is known about its subject."
        results.append(Result("problem", found, why, "report it with the output of --json", name))
    return results


# PyTorch runs in a child process, step by step, so that a crash does not end the report.


def ask_torch() -> dict[str, Any]:
    """Import PyTorch; return version, devices, and why tensors cannot become NumPy arrays."""
    import torch

    if not hasattr(torch, "Tensor"):
        raise ImportError(f"another torch is in the way: {list(torch.__path__)}")
    mps = getattr(torch.backends, "mps", None)  # since 1.12
    available = bool(mps and mps.is_available())
    device = "mps" if available else "cuda" if torch.cuda.is_available() else "cpu"
    answer = {
        "version": str(torch.__version__),
        "device": device,
        "mps_available": available,
        "mps_built": bool(mps and mps.is_built()),
    }
    try:
        torch.ones(1).numpy()
    except Exception as error:  # NumPy may be absent, too new or damaged
        answer["numpy_error"] = one_line(error)
    return answer


def ask_torchvision() -> dict[str, Any]:
    """Call one of torchvision's compiled operators."""
    import torch
    from torchvision.ops import nms

    return {"kept": nms(torch.tensor([[0.0, 0.0, 1.0, 1.0]]), torch.tensor([1.0]), 0.5).tolist()}


def compare_with_cpu(device: str) -> float:
    """Return the largest relative difference between `device` (float32) and CPU (float64).

    Compared are the loss and all gradients of a small network; about 1e-6 is rounding.
    """
    import torch
    from torch import nn

    def loss_and_gradients(device: str, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Tanh(), nn.Flatten(), nn.Linear(288, 10))
        images = torch.randn(4, 3, 8, 8)
        network.to(device, dtype)
        loss = network(images.to(device, dtype)).square().mean()
        loss.backward()
        results = {name: weight.grad for name, weight in network.named_parameters()}
        results["loss"] = loss.detach()
        # First to the CPU, then to float64, which MPS does not have.
        return {name: result.cpu().double() for name, result in results.items()}

    have, want = loss_and_gradients(device, torch.float32), loss_and_gradients("cpu", torch.float64)
    differences = [(have[name] - want[name]).abs().max() / want[name].abs().max() for name in want]
    return float(torch.stack(differences).max())  # unlike Python's max, this keeps NaN


def ask_computation() -> dict[str, Any]:
    """Compare the best device with the CPU; with MPS also return its memory in bytes."""
    import torch

    device, memory = ask_torch()["device"], {}
    difference = compare_with_cpu(device)
    if device == "mps" and hasattr(torch.mps, "recommended_max_memory"):  # since 2.5
        memory = {
            "recommended": torch.mps.recommended_max_memory(),
            "driver": torch.mps.driver_allocated_memory(),
            "current": torch.mps.current_allocated_memory(),
        }
    return {"device": device, "difference": difference, "memory": memory}


def loaded_openmp() -> list[str]:
    """Return the OpenMP libraries that this process has loaded."""
    if sys.platform == "darwin":
        dyld = ctypes.CDLL(None)
        dyld._dyld_get_image_name.restype = ctypes.c_char_p
        names = [os.fsdecode(dyld._dyld_get_image_name(i)) for i in range(dyld._dyld_image_count())]
    else:
        maps = Path("/proc/self/maps")
        lines = maps.read_text().splitlines() if maps.exists() else []
        names = [f"/{line.partition('/')[2]}" for line in lines]
    return sorted({os.path.realpath(n) for n in names if OPENMP_FILE.fullmatch(Path(n).name)})


def ask_openmp() -> dict[str, Any]:
    """Import what brings an OpenMP beside PyTorch's; return which copies were loaded when."""
    answer: dict[str, Any] = {"with_torch": loaded_openmp(), "imported": []}
    for name in filter(importlib.util.find_spec, BRING_OPENMP):
        answer["imported"].append(name)
        print(MARK + json.dumps(["openmp", answer]), flush=True)  # before an import that may crash
        with contextlib.suppress(Exception):  # other failures of a package are not checked here
            importlib.import_module(name)
    return {**answer, "loaded": loaded_openmp()}


def answer_steps() -> None:
    """In the child process: print each step's name when it starts and its answer when it ends."""
    for ask in (ask_torch, ask_torchvision, ask_computation, ask_openmp):
        name = ask.__name__[len("ask_") :]
        print(MARK + json.dumps([name, {}]), flush=True)
        try:
            answer = ask()
        except (Exception, SystemExit) as error:  # a library may fail in any way
            answer = {"error": one_line(error)}
        print(MARK + json.dumps([name, answer]), flush=True)
        if name == "torch" and "error" in answer:
            return


def probe() -> dict[str, dict[str, Any]]:
    """Return the answers of PyTorch from a child process. A step that ended the child gets an error."""
    command = [sys.executable, str(Path(__file__).resolve()), "--answer-steps"]
    try:
        child = subprocess.run(command, capture_output=True, timeout=PROBE_SECONDS, check=False)
        output, code = child.stdout, child.returncode
        last = (os.fsdecode(child.stderr).strip().splitlines() or ["no message"])[-1][:300]
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        ending = f"the process ended with {how}: {last}" if code else ""
    except subprocess.TimeoutExpired as error:
        output, ending = error.stdout or b"", f"no answer within {PROBE_SECONDS} seconds"
    answers: dict[str, dict[str, Any]] = {}
    name = "torch"
    for line in output.decode("utf-8", "replace").splitlines():
        if MARK in line:
            name, answer = json.loads(line.partition(MARK)[2])
            answers.setdefault(name, {}).update(answer)
    if ending:
        answers.setdefault(name, {})["error"] = ending
    return answers


def openmp_files() -> list[str]:
    """Return the OpenMP libraries in installed packages, and in the environment (conda)."""
    files = list(Path(sys.prefix, "lib").glob("lib*omp*"))
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for pattern in ("*/lib*omp*", "*/lib/lib*omp*", "*/.dylibs/lib*omp*", "*.libs/lib*omp*"):
            files += Path(folder).glob(pattern)
    return sorted({str(f.resolve()) for f in files if OPENMP_FILE.fullmatch(f.name)})


def packages() -> dict[str, Any]:
    """Return versions and copies of the installed packages, by the field names of Machine."""
    found = {
        name: list(importlib.metadata.distributions(name=name)) for name in ("torch", "torchvision", "numpy")
    }
    version = {name: copies[0].version if copies else "" for name, copies in found.items()}
    lines = [line for copy in found["torchvision"][:1] for line in copy.requires or []]
    needs = [re.sub(r"^torch\s*|[()\s]|;.*", "", line) for line in lines if re.match(r"torch\b", line)]
    copies = {f"{copy.version} in {copy.locate_file('')}" for copy in found["torch"]}
    copies |= {str(folder) for folder in Path(sysconfig.get_path("platlib")).glob("~orch*")}
    return {**version, "torchvision_needs": (needs or [""])[0], "torch_copies": sorted(copies)}


def command_output(*command: str) -> str:
    """Return the output of a macOS command; "" on other systems."""
    if sys.platform != "darwin":
        return ""
    environment = {**os.environ, "SYSTEM_VERSION_COMPAT": "0"}  # the true version of macOS
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.stdout.strip()


def gather() -> Machine:
    """Describe this machine. A value that cannot be found stays empty and is listed in `failed`."""
    failed: dict[str, str] = {}

    def attempt(what: str, find: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return find()
        except Exception as error:  # a damaged installation may fail anywhere
            failed[what] = one_line(error)
            return otherwise

    def mac(*command: str) -> str:
        return attempt(command[-1], lambda: command_output(*command), "")

    nothing = {"torch": "", "torchvision": "", "torchvision_needs": "", "numpy": "", "torch_copies": []}
    installed, answers = attempt("packages", packages, nothing), attempt("PyTorch", probe, {})
    if "version" in answers.get("torch", {}):
        installed["torch"] = answers["torch"]["version"]  # the version that is imported
    return Machine(
        system=platform.system(),
        arch=platform.machine(),
        translated=mac("sysctl", "-n", "sysctl.proc_translated") == "1",
        virtual=mac("sysctl", "-n", "kern.hv_vmm_present") == "1",
        chip=mac("sysctl", "-n", "machdep.cpu.brand_string"),
        ram=int(mac("sysctl", "-n", "hw.memsize") or 0),
        macos=mac("sw_vers", "-productVersion"),
        python=platform.python_version(),
        executable=sys.executable,
        env={name: os.environ[name] for name in VARIABLES if name in os.environ},
        openmp_files=attempt("OpenMP", openmp_files, []),
        probe=answers,
        failed=failed,
        **installed,
    )


def as_text(m: Machine, results: list[Result]) -> str:
    """Return the report as text for the terminal."""
    lines = [f"{m.chip or m.system}, Python {m.python}", ""]
    for result in results:
        lines.append(f"{'[' + result.status + ']':10}{result.name}: {result.found}")
        if result.status != "ok":
            lines += [f"{'':10}why: {result.why}", f"{'':10}fix: {result.fix}"]
    problems = sum(result.status == "problem" for result in results)
    advice = f"Problems: {problems}. Fix them from top to bottom, then run this again."
    lines += ["", advice if problems else "Nothing is wrong."]
    return "\n".join(lines).replace(f"{sysconfig.get_path('purelib')}/", "")


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that reports an error in one line."""

    def print_usage(self, file: object = None) -> None:
        """Print nothing, so that only the line with the error remains."""


def main(arguments: list[str] | None = None) -> int:
    """Check this machine and print the report; return the exit code."""
    parser = Parser(allow_abbrev=False, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument("--answer-steps", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.answer_steps:
        answer_steps()
        return 0
    machine = gather()
    results = run_checks(machine)
    ready = all(result.status != "problem" for result in results)
    if options.json:
        listed = [{"name": result.name, **dataclasses.asdict(result)} for result in results]
        report = {"ready": ready, "results": listed, "machine": dataclasses.asdict(machine)}
        text = json.dumps(report, indent=2)
    else:
        text = as_text(machine, results)
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        if isinstance(error, BrokenPipeError):  # a reader such as `head` has exited
            return 128 + signal.SIGPIPE
        sys.exit(f"error: cannot write the output: {error.strerror}")
    return 0 if ready else 1


if __name__ == "__main__":
    sys.exit(main())
