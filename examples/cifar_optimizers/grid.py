"""Train with every combination of optimizer and seed, one after the other, and compare the results.

    python examples/cifar_optimizers/grid.py --optimizers sgd,adam --seeds 0,1,2 [options of train.py]

Each run has its own folder DIR/<optimizer>-seed<k>. Repeating the command skips finished runs and continues
the others. Exit code 0: all runs are finished; 1: some failed, as the table shows.
"""

import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

from tqdm import tqdm

from examples.cifar_optimizers.grid_report import draw_grid, table
from examples.cifar_optimizers.grid_run import Run, outcome, train_apart
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from examples.cifar_optimizers.options import read_command_line
from examples.programs.command_line import StrictParser, expanded
from examples.programs.report import provenance
from examples.programs.run_folder import check_target, json_with
from snippets.atomic_write import replace_json
from snippets.device import pick_device
from snippets.errors import UsageError, exit_with_one_line, tell
from snippets.stop_signals import StopSignals

OWN = ("optimizer", "seed", "resume")  # options of train.py that a grid sets itself


@dataclass(frozen=True)
class Grid:
    """All combinations to train, with the same `words` for train.py."""

    folder: Path
    optimizers: list[str]
    seeds: list[int]
    words: tuple[str, ...]

    def runs(self) -> list[Run]:
        """Return the runs, grouped by optimizer."""
        return [
            Run(optimizer, seed, self.folder / f"{optimizer}-seed{seed}", self.words)
            for optimizer in self.optimizers
            for seed in self.seeds
        ]


def grid_parser(prog: str, description: str, folder: str) -> StrictParser:
    """Return a parser for the options of a grid; `folder` is the default of --out, for --help."""
    parser = StrictParser(prog=prog, description=f"{description} All other options are those of train.py.")
    parser.add_argument("--optimizers", default=",".join(OPTIMIZERS), help="which, with commas; all six")
    parser.add_argument("--seeds", default="0,1,2", help="which, with commas; 0,1,2")
    parser.add_argument("--out", type=expanded, default=Path(folder), metavar="DIR", help=folder)
    return parser


def read_grid(options: Any, words: Sequence[str]) -> Grid:
    """Return the grid of the parsed `options` and the other `words`. Raises UsageError."""
    optimizers, seeds = options.optimizers.split(","), options.seeds.split(",")
    for name in optimizers:
        if name not in OPTIMIZERS:
            raise UsageError(f"--optimizers: {name!r} is none of {', '.join(OPTIMIZERS)}")
    for seed in seeds:
        if not (seed.isascii() and seed.isdigit() and len(seed) <= 10 and int(seed) < 2**32):
            raise UsageError(f"--seeds: {seed!r} is no whole number from 0 to 4294967295")
    typed = read_command_line(words)
    for name in OWN:
        if name in typed:
            raise UsageError(f"--{name} is no option of a grid; choose with --optimizers and --seeds")
    grid = Grid(
        options.out, list(dict.fromkeys(optimizers)), list(dict.fromkeys(map(int, seeds))), tuple(words)
    )
    pick_device(typed.get("device", "auto"))
    for run in grid.runs():
        run.check()
    return grid


def run_grid(grid: Grid, stop: StopSignals) -> list[dict[str, Any]]:
    """Train all unfinished runs until a stop signal; return the outcome of each run.

    A failed run does not stop the others.
    """
    runs, reasons = grid.runs(), {}
    on_terminal = {"disable": None, "leave": False, "file": sys.stdout}  # elsewhere, it prints no bar
    with tqdm(total=len(runs), unit="run", **on_terminal) as bar:
        for number, run in enumerate(runs, start=1):
            if not run.finished and stop.received is None:
                bar.set_description(run.folder.name)
                reason = train_apart(run, stop)
                if stop.received is None:
                    reasons[run] = reason
                    tqdm.write(f"{number:3d} of {len(runs)}  {in_words(outcome(run, reason))}")
                    sys.stdout.flush()
            bar.update()
            save(grid, [outcome(run, reasons.get(run)) for run in runs])
    return [outcome(run, reasons.get(run)) for run in runs]


def in_words(result: dict[str, Any]) -> str:
    """Return a line about the outcome of a run."""
    if result["status"] != "finished":
        return f"{result['name']:<16} {result['status']}: {result.get('reason')}"
    return f"{result['name']:<16} {result['test_accuracy']:7.2%}  {result['seconds']:8.1f} s"


def save(grid: Grid, results: list[dict[str, Any]]) -> None:
    """Replace grid.json with the options of the grid and the outcomes of its runs."""
    asked = {"optimizers": grid.optimizers, "seeds": grid.seeds, "options": list(grid.words)}
    replace_json(grid.folder / "grid.json", {**asked, "runs": results, "provenance": provenance()})


def make_folder(folder: Path) -> None:
    """Make the folder of a grid, or reuse it. Raises UsageError."""
    report = folder / "grid.json"
    check_target(report, json_with("optimizers", "seeds", "runs"))
    check_target(folder / "grid.png", lambda _: report.exists())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}; use --out") from error


def how_to_go_on(received: signal.Signals, results: list[dict[str, Any]]) -> str:
    """Return the message after a stop signal."""
    finished = sum(result["status"] == "finished" for result in results)
    again = shlex.join(["python", *sys.argv])
    return f"stopped by {received.name}; {finished} of {len(results)} runs are finished; to go on: {again}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the grid of the command line and return the exit code. Raises UsageError."""
    parser = grid_parser("grid.py", "Train with several optimizers and seeds.", "runs/cifar_grid")
    grid = read_grid(*parser.parse_known_args(argv))
    make_folder(grid.folder)
    with StopSignals() as stop:
        tell(f"grid       {len(grid.runs())} runs in {grid.folder}")
        results = run_grid(grid, stop)
        if stop.received:
            print(how_to_go_on(stop.received, results))
            return 128 + stop.received
    print("\n".join(table(results)))
    draw_grid(grid.folder, results, grid.folder / "grid.png")
    tell(f"picture    {grid.folder / 'grid.png'}\ndata       {grid.folder / 'grid.json'}")
    return int(any(result["status"] != "finished" for result in results))


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
