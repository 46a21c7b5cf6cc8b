"""Run a script or a module on the simulated MPS device.

    python -m simulated_mps [OPTIONS] script.py ARGUMENTS
    python -m simulated_mps [OPTIONS] -m package.module ARGUMENTS
    python -m simulated_mps --compile

It runs unchanged, and so do the processes that it starts; a report of what they did on the device follows.
`--compile` only compiles the device, which the first script would do otherwise, and prints where it is.

Exit code: the script's; 1 when it ended well and something of --fail-on was found, or no operator ran on the
device, unless --allow-no-operators is given; 2 when the device or the script cannot be used.
"""

import argparse
import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from simulated_mps import enable, report
from simulated_mps.build import compiled_device
from simulated_mps.errors import SimulationError
from simulated_mps.gate import Gate, add_options
from simulated_mps.gradients import note_if_missing
from simulated_mps.processes import LIKE_MACOS, MACOS
from simulated_mps.reports import NO_OPERATORS


def read_command_line(argv: Sequence[str]) -> argparse.Namespace:
    """Return the options, the script and its own arguments."""
    parser = argparse.ArgumentParser(prog="python -m simulated_mps", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--as-torch", metavar="RELEASE", help="use the operators of this release, such as 2.9"
    )
    parser.add_argument("--operators", action="store_true", help="list every operator in the report")
    parser.add_argument(
        "--allow-no-operators", action="store_true", help="do not fail when no operator ran on the device"
    )
    parser.add_argument("--like-macos", action="store_true", help="start worker processes as macOS does")
    parser.add_argument("--as-macos", metavar="VERSION", help="pretend this macOS, such as 14 or 15.1")
    add_options(parser.add_argument, "--")
    parser.add_argument("--compile", action="store_true", help="only compile the device, where that is due")
    parser.add_argument("-m", dest="is_module", action="store_true", help="the script is a module's name")
    parser.add_argument("script", nargs="?", help="a Python file, or after -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script is given")
    options = parser.parse_args(argv)
    if options.compile == bool(options.script):
        parser.error("name a script, or --compile and no script")
    return options


def check_script(script: str, is_module: bool) -> None:
    """Raise SimulationError when there is no such script or module."""
    if not is_module:
        if not Path(script).is_file():
            raise SimulationError(f"there is no script {script}")
        return
    try:
        found = importlib.util.find_spec(script)
    except ModuleNotFoundError:  # of the package that should hold it
        found = None
    if found is None:
        raise SimulationError(f"there is no module {script}")


def run_script(script: str, is_module: bool, arguments: Sequence[str]) -> int:
    """Run `script` as `python script` or `python -m script` would, and return its exit code."""
    sys.argv = [script, *arguments]
    try:
        if is_module:  # the first folder of sys.path is where we were started, as it should be
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(script).resolve().parent)
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:  # shown as Python would, but before the report
        error = error.with_traceback(of_script(error.__traceback__))
        note_if_missing(error)
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def of_script(traceback: TracebackType | None) -> TracebackType | None:
    """Return the traceback without the calls that only start the script."""
    ours = (globals(), vars(runpy))
    while traceback is not None and any(traceback.tb_frame.f_globals is names for names in ours):
        traceback = traceback.tb_next
    return traceback


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and print the report; return the exit code."""
    options = read_command_line(sys.argv[1:] if argv is None else argv)
    if options.like_macos:
        os.environ[LIKE_MACOS] = "1"
    if options.as_macos:
        os.environ[MACOS] = options.as_macos
    try:
        if options.compile:
            print(compiled_device())
            return 0
        gate = Gate(lambda name: getattr(options, name.replace("-", "_")), Path.cwd())
        check_script(options.script, options.is_module)
        enable(options.as_torch)
    except SimulationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    code = run_script(options.script, options.is_module, options.arguments)
    sys.stdout.flush()
    whole = report()
    lines = whole.lines(every_operator=options.operators, root=gate.root)
    annotations, notes, errors = gate.conclude(whole)
    if code == 0 and whole.is_empty and not options.allow_no_operators:
        errors.append(NO_OPERATORS)
    print("\n".join(["", *lines, *notes, *(f"error: {error}" for error in errors)]), file=sys.stderr)
    print("".join(f"{line}\n" for line in annotations), end="", flush=True)
    return 1 if code == 0 and errors else code


if __name__ == "__main__":
    sys.exit(main())
