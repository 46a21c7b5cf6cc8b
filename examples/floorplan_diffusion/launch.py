"""Train a stage of the floor-plan system, or watch a training, from a menu or by --choice.

    python examples/floorplan_diffusion/launch.py                             shows the menu
    python examples/floorplan_diffusion/launch.py --choice 1 -- --epochs 5    options of the program after --
    python examples/floorplan_diffusion/launch.py --choice 1 --background     continues without the terminal
    python examples/floorplan_diffusion/launch.py --choice 3 [RUN]            watches the newest run or RUN

Exit code: that of the program that it starts.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import os
from datetime import datetime

from examples import monitor
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.resume import newest_first
from examples.programs.run_folder import read_json
from examples.systems import FOLDER, find, run
from snippets.errors import UsageError, exit_with_one_line, tell

SYSTEM, STAGES = find("floorplan_diffusion")
CHOICES = {1: "Stage 1: node generation", 2: "Stage 2: edge generation", 3: "Monitor training progress"}
MONITOR = 3
MENU = "\n".join(f"  {number}  {text}" for number, text in CHOICES.items())
STARTER = FOLDER / "start_run.sh"


def read_command_line(words: list[str]) -> Namespace:
    """Return the options of this program. Raises UsageError."""
    usage = "launch.py [-h] [--choice {1,2,3}] [--background] [RUN] [-- OPTION ...]"
    parser = StrictParser(usage=usage, description=first_line(__doc__))
    what = ", ".join(f"{number} {text}" for number, text in CHOICES.items())
    parser.add_argument("--choice", type=int, choices=CHOICES, help=f"instead of the menu: {what}")
    parser.add_argument("--background", action="store_true", help="the training outlives this terminal")
    parser.add_argument("run", nargs="?", type=expanded, metavar="RUN", help="to watch; the newest run")
    options, unknown = parser.parse_known_args(words)
    if unknown:
        raise UsageError(f"unknown option {unknown[0]!r}; options of the program that is started follow --")
    return options


def ask() -> int | None:
    """Return the choice of the user, or None for no choice. Raises UsageError without a terminal."""
    print("Floor plans", MENU, "  q  Quit", sep="\n")
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("there is no terminal on which to choose; use --choice 1, 2 or 3")
    while True:
        try:
            typed = input("Choice: ").strip()
        except EOFError:  # Ctrl-D
            print()
            return None
        except KeyboardInterrupt:
            print()
            raise
        if typed in ("", "q"):
            return None
        if typed in map(str, CHOICES):
            return int(typed)
        print(f"{typed!r} is none of 1, 2, 3 and q")


def train(stage: int, words: list[str]) -> int:
    """Train with the program of a stage, in this terminal; return its exit code."""
    print("log        train.log in the folder that the line `run` names", flush=True)
    return run([sys.executable, "-u", str(SYSTEM.script(STAGES[stage - 1])), *words])


def train_in_background(stage: int, words: list[str]) -> int:
    """Train with start_run.sh; return its exit code, which is 0 as soon as the training has started."""
    program = STAGES[stage - 1]
    parser = StrictParser(add_help=False)
    parser.add_argument("--out", type=expanded)
    parser.add_argument("--resume")
    given, others = parser.parse_known_args(words)
    if given.resume is not None:
        raise UsageError("--resume with --background: name the folder with --out, and its run goes on")
    stamp = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    folder = given.out or Path("runs") / SYSTEM.name / program.name / stamp
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    code = run(["bash", str(STARTER), str(folder), str(SYSTEM.script(program)), *others])
    if code == 0:
        tell(f"log:    {folder}/train.log")
    return code


def newest_run() -> Path:
    """Return the newest run folder of both stages under runs/, wherever --out put it. Raises UsageError."""
    ours = {f"{SYSTEM.name}/{stage.name}" for stage in STAGES}
    places = ("*", "*/*", "*/*/*")  # --out, runs of a system, runs of a stage
    configs = [path for place in places for path in Path("runs").glob(f"{place}/config.json")]
    for folder in newest_first(configs):
        if (read_json(folder / "config.json") or {}).get("system") in ours:
            return folder
    raise UsageError("there is no run of this system in runs; train one first, or name the folder of a run")


def watch(folder: Path | None, words: list[str]) -> int:
    """Show the progress of a run; return the exit code of the monitor. Raises UsageError."""
    folder = folder or newest_run()
    monitor.check_folder(folder)
    tell(f"log        {folder}/train.log")
    return monitor.main([str(folder), *words])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen program and return the exit code. Raises UsageError."""
    words = list(sys.argv[1:] if argv is None else argv)
    end = words.index("--") if "--" in words else len(words)
    options, others = read_command_line(words[:end]), words[end + 1 :]
    choice = options.choice or ask()
    if choice is None:
        return 0
    if choice == MONITOR:
        if options.background:
            raise UsageError("--background is for trainings, choices 1 and 2")
        return watch(options.run, others)
    if options.run is not None:
        raise UsageError(f"{options.run}: a run is for choice 3; options of the program stand after --")
    return (train_in_background if options.background else train)(choice, others)


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
