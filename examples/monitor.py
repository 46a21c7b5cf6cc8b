"""Watch trainings: status, loss curve, and whether their processes are alive.

    python examples/monitor.py                    # the runs under runs/ that are running, or the newest one
    python examples/monitor.py runs/night         # this one, until it is over; Ctrl-C leaves
    python examples/monitor.py runs/night --once  # print one view and exit

It only reads files, so it can be started and ended at any time, also over ssh. It does not need PyTorch.
Exit code 0: every run is finished or alive; 1: one failed, died, was interrupted, is silent or unreadable;
2: wrong usage; 130: ended with Ctrl-C.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

from examples.monitoring.loss_history import LossHistory, read_history
from examples.monitoring.run_state import RunState, read_run
from examples.monitoring.terminal import Screen, can_draw, size_of, wants_colour
from examples.monitoring.text_curve import ASCII, BRAILLE, Characters
from examples.monitoring.view import explain, paint, picture, rows
from examples.programs.command_line import StrictParser, expanded, number
from examples.programs.resume import newest_first
from snippets.errors import UsageError, exit_with_one_line, tell

RUNS = Path("runs")
LINE_WIDTH = 200  # of lines that are not printed to a terminal; longer folder names are cut


def read_options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return runs, once, json, interval and ascii. Raises UsageError."""
    parser = StrictParser(prog="monitor.py", description="Watch trainings.")
    add = parser.add_argument
    add("runs", nargs="*", type=expanded, metavar="RUN", help="run folders; none: what runs in runs/")
    add("--once", action="store_true", help="print one view and exit")
    add("--json", action="store_true", help="print one view as JSON and exit")
    add("--interval", type=number(0.1, 3600), default=2.0, metavar="SECONDS", help="between two looks; 2")
    add("--ascii", action="store_true", help="draw with plain characters")
    return parser.parse_args(argv)


def find_runs() -> list[Path]:
    """Return the runs under runs/ that have not ended, else the newest one. Raises UsageError."""
    places = ("*", "*/*", "*/*/*")  # --out, runs of a system, runs of one of its several programs
    configs = [path for place in places for path in RUNS.glob(f"{place}/config.json")]
    folders = newest_first(configs)
    if not folders:
        raise UsageError(f"there is no run in {RUNS}/; name the folder of a run, or start one")
    return [folder for folder in folders if not read_run(folder).over] or folders[:1]


def check_folder(folder: Path) -> None:
    """Raise UsageError when `folder` is not a run folder."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise UsageError(f"{folder} {what}; name the folder of a run")
    if not any((folder / name).exists() for name in ("config.json", "heartbeat.json")):
        inside = sorted(folder.glob("*/config.json"))
        hint = f"did you mean {inside[-1].parent}?" if inside else "name the folder of a run"
        raise UsageError(f"{folder} holds no run (no config.json); {hint}")


class Watch:
    """The watched runs. A metrics file is read again only when it has changed."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = list(folders)
        self.read: dict[Path, tuple[tuple[int, ...], LossHistory]] = {}
        self.runs: list[tuple[RunState, LossHistory]] = []

    def read_runs(self, places: int) -> None:
        """Read all runs again, with enough of their losses for a curve of `places` points."""
        self.runs = []
        for folder in self.folders:
            run = read_run(folder)
            try:
                history = self.history(folder / "metrics.jsonl", places)
            except OSError as error:
                history = LossHistory()
                run.notes.append(f"cannot read metrics.jsonl: {error.strerror}")
            self.runs.append((run, history))

    def history(self, path: Path, places: int) -> LossHistory:
        """Return the losses in `path`. Raises OSError."""
        try:
            found = path.stat()
        except FileNotFoundError:
            return LossHistory()
        version = (found.st_ino, found.st_size, found.st_mtime_ns, places)
        if self.read.get(path, ((), None))[0] != version:
            self.read[path] = (version, read_history(path, places))
        return self.read[path][1]

    @property
    def over(self) -> bool:
        """Return whether all runs have ended."""
        return all(run.over for run, _ in self.runs)

    @property
    def exit_code(self) -> int:
        """Return 0 when no run needs attention, else 1."""
        return 0 if all(run.fine for run, _ in self.runs) else 1


def lines_of(watch: Watch, width: int, height: int, characters: Characters, colour: bool) -> list[str]:
    """Read the runs and return the lines that show them."""
    watch.read_runs(places=width * characters.columns)
    lines = picture(watch.runs, width, height, characters)
    return [paint(line) for line in lines] if colour else lines


def watch_live(watch: Watch, interval: float, characters: Characters) -> None:
    """Redraw the terminal until all runs have ended or Ctrl-C is pressed, then print the last view."""
    lines: list[str] = []
    try:
        with Screen(sys.stdout) as screen:
            while True:
                lines = lines_of(watch, *size_of(sys.stdout), characters, wants_colour(sys.stdout))
                screen.show(lines)
                if watch.over:
                    return
                screen.wait(interval)
    finally:
        print("\n".join(lines))


def watch_in_lines(watch: Watch, interval: float, characters: Characters) -> None:
    """Print a line for every run that has changed, until all runs have ended."""
    printed: dict[Path, tuple[str, int | None]] = {}
    while True:
        watch.read_runs(places=1)
        runs = [run for run, _ in watch.runs]
        for run, line in zip(runs, rows(runs, LINE_WIDTH, characters is ASCII), strict=True):
            if printed.get(run.folder) != (run.status, run.step):
                printed[run.folder] = (run.status, run.step)
                print(line, flush=True)
        if watch.over:
            for run in runs:
                for note in explain(run):
                    tell(f"{run.folder}: {note}")
            return
        time.sleep(interval)


def as_json(run: RunState) -> dict[str, Any]:
    """Return the JSON object that `--json` prints for a run."""
    values = asdict(run) | {"folder": str(run.folder), "notes": explain(run)}
    return values | {"over": run.over, "fine": run.fine}


def main(argv: Sequence[str] | None = None) -> int:
    """Watch the runs on the command line; return the exit code. Raises UsageError."""
    options = read_options(argv)
    for folder in options.runs:
        check_folder(folder)
    watch = Watch(options.runs or find_runs())
    characters = BRAILLE if can_draw(sys.stdout) and not options.ascii else ASCII
    try:
        if options.json:
            watch.read_runs(places=1)
            print(json.dumps([as_json(run) for run, _ in watch.runs], indent=2, ensure_ascii=False))
        elif options.once:
            print("\n".join(lines_of(watch, *size_of(sys.stdout), characters, wants_colour(sys.stdout))))
        elif sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
            watch_live(watch, options.interval, characters)
        else:
            watch_in_lines(watch, options.interval, characters)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has exited, as in `monitor.py | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:  # the usual way to end it, so without a message
        return 128 + signal.SIGINT
    return watch.exit_code


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
