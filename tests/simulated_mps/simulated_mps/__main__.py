"""Run a script on the simulated MPS device.

    python -m simulated_mps [--as-torch 2.9] [--operators] script.py ARGUMENTS
    python -m simulated_mps --compile

The script runs unchanged; a report of what it did on the device follows. Exit code: the script's, or 2 when
the device or the script cannot be used. `--compile` only compiles the device, which the first script would do
otherwise, and prints where it is.
"""

import argparse
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from simulated_mps.errors import SimulationError


def read_command_line(argv: Sequence[str]) -> argparse.Namespace:
    """Return the options, the script and its own arguments."""
    parser = argparse.ArgumentParser(prog="python -m simulated_mps", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--as-torch", metavar="RELEASE", help="use the operators of this release, such as 2.9"
    )
    parser.add_argument("--operators", action="store_true", help="list every operator in the report")
    parser.add_argument("--compile", action="store_true", help="only compile the device, where that is due")
    parser.add_argument("script", nargs="?", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script is given")
    options = parser.parse_args(argv)
    if options.compile == bool(options.script):
        parser.error("name a script, or --compile and no script")
    return options


def run_script(script: Path, arguments: Sequence[str]) -> int:
    """Run `script` as `python script ARGUMENTS` would, and return its exit code."""
    sys.argv = [str(script), *arguments]
    sys.path[0] = str(script.resolve().parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and print the report; return the exit code."""
    options = read_command_line(sys.argv[1:] if argv is None else argv)
    try:
        if options.compile:
            from simulated_mps.build import compiled_device

            print(compiled_device())
            return 0
        if not Path(options.script).is_file():
            raise SimulationError(f"there is no script {options.script}")
        from simulated_mps import enable, report  # PyTorch is loaded only for a script that exists

        enable(options.as_torch)
    except SimulationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        return run_script(Path(options.script), options.arguments)
    finally:
        sys.stdout.flush()
        print("\n".join(["", *report().lines(every_operator=options.operators)]), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
