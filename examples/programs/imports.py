"""The first import of a program: its own modules and no others, and errors of imports in one line.

Only the standard library, so that it works where everything else is missing.
"""

import os
import signal
import sys
from pathlib import Path
from types import TracebackType

from snippets.errors import end_at_once

HOME = Path(__file__).resolve().parents[2]
# Modules whose package has another name.
PACKAGES = {
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "talib": "TA-Lib",
    "hydra": "hydra-core",
    "omegaconf": "hydra-core",
    "yaml": "hydra-core",
}


def prepare(program: str) -> None:
    """Exit with code 2 if `program` (its __file__) would run another copy's modules; explain import errors.

    A copied folder would otherwise train with the code of the original if that is installed.
    """
    sys.excepthook = explain
    accept_any_output()
    started = getattr(sys.modules["__main__"], "__file__", None) == program
    if started and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_at_once)
    if HOME not in Path(program).resolve().parents:
        print(
            f"error: {program} would run the modules in {HOME}; copy examples/ and snippets/ along with it, "
            "or change the original",
            file=sys.stderr,
        )
        sys.exit(2)


def accept_any_output() -> None:
    """Make printing work when an output is closed (`>&-`), or cannot encode characters such as ×."""
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:  # or the next file would be standard error
        os.set_inheritable(free, True)
    os.close(free)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the program ends
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a missing package, too little memory and Ctrl-C in one line, other uncaught errors as usual."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = PACKAGES.get(error.name, error.name).partition(".")[0]
        print(
            f"error: this Python has no module {error.name!r}; enter the environment that has it "
            f"(source .venv/bin/activate), or install it: {sys.executable} -m pip install {package} "
            f"(uv: uv pip install {package})",
            file=sys.stderr,
        )
        raise SystemExit(2)
    if isinstance(error, MemoryError) or "failed to map segment" in str(error):  # when loading PyTorch
        print("error: out of memory: end other programs, or allow more (ulimit -v)", file=sys.stderr)
        raise SystemExit(1)
    if isinstance(error, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        raise SystemExit(128 + signal.SIGINT)
    sys.__excepthook__(kind, error, trace)
