"""The first import of a program: its own modules and no others, and errors of the start in one line.

Only the standard library, so that it works where everything else is missing.
"""

import os
import signal
import sys
from pathlib import Path
from types import TracebackType

HOME = Path(__file__).resolve().parents[2]
# Modules that are called otherwise than the package that brings them.
PACKAGES = {"sklearn": "scikit-learn", "talib": "TA-Lib", "hydra": "hydra-core", "omegaconf": "hydra-core"}


def prepare(program: str) -> None:
    """Refuse to run `program` (its __file__) with the modules of another copy; explain a failing import.

    A copied folder would otherwise train with the original's code, which is found where it is installed.
    """
    sys.excepthook = explain
    accept_any_output()
    if HOME not in Path(program).resolve().parents:
        print(
            f"error: {program} would run the modules in {HOME}; copy examples/ and snippets/ along with it, "
            "or change the original",
            file=sys.stderr,
        )
        sys.exit(2)


def accept_any_output() -> None:
    """Let programs print where nobody listens (`>&-`), and signs such as × where only ASCII is known."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the program ends
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def explain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an uncaught error: a missing package and Ctrl-C in one line, everything else as usual."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = PACKAGES.get(error.name, error.name).partition(".")[0]
        print(
            f"error: this Python has no module {error.name!r}; enter the environment that has it "
            f"(source .venv/bin/activate), or install it: {sys.executable} -m pip install {package} "
            f"(uv: uv pip install {package})",
            file=sys.stderr,
        )
        raise SystemExit(2)
    if isinstance(error, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        raise SystemExit(128 + signal.SIGINT)
    sys.__excepthook__(kind, error, trace)
