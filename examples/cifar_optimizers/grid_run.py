"""One run of a grid: its process, and its outcome as its folder records it."""

import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.cifar_optimizers.options import read_command_line, resolve
from examples.programs.options import check_same_options, saved_options, with_precision
from examples.programs.resume import status_of
from examples.programs.run_folder import read_json
from snippets.errors import UsageError
from snippets.stop_signals import StopSignals

TRAIN = Path(__file__).with_name("train.py")


@dataclass(frozen=True)
class Run:
    """A combination of optimizer and seed; `words` are the options of train.py that all runs share."""

    optimizer: str
    seed: int
    folder: Path
    words: tuple[str, ...]

    @property
    def options(self) -> list[str]:
        """Return the options of train.py for this run."""
        return [*self.words, "--optimizer", self.optimizer, "--seed", str(self.seed)]

    @property
    def finished(self) -> bool:
        """Return whether the run has finished."""
        return status_of(self.folder) == "finished"

    def check(self) -> None:
        """Raise UsageError for wrong options, or when the folder holds a run with others."""
        wanted = resolve(read_command_line(self.options))
        config = read_json(self.folder / "config.json") or {}
        if isinstance(config.get("options"), dict):
            check_same_options(saved_options(config), with_precision(wanted).decisive(), self.folder)


def train_apart(run: Run, stop: StopSignals) -> str | None:
    """Train in a new process, from its last checkpoint if there is one; return why it failed, or None.

    In its own process, a crash ends only one run and all memory is released. The process has its own group:
    Ctrl-C does not reach it, so it receives one signal from here and stops after its step. Raises UsageError
    for wrong usage, which would also end every other run.
    """
    command = [sys.executable, str(TRAIN), *run.options, "--out", str(run.folder), "--resume", "auto"]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, process_group=0)
        try:
            while process.poll() is None and stop.received is None:
                time.sleep(0.05)
            if stop.received is not None:
                process.send_signal(stop.received)
            code = process.wait()
        finally:  # also after a second Ctrl-C
            process.kill()  # does nothing if the process has ended
        errors.seek(0)
        reason = None if code == 0 else why(code, errors.read())
    if code == UsageError.exit_code:
        raise UsageError(reason)
    return reason


def why(code: int, said: str) -> str:
    """Return the reason of a failure: the last line of output, or the signal that killed the process."""
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    lines = said.strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else f"exit code {code}"


def outcome(run: Run, reason: str | None = None) -> dict[str, Any]:
    """Return the outcome of a run for grid.json: its status, and its accuracies if it finished."""
    entry = {"name": run.folder.name, "optimizer": run.optimizer, "seed": run.seed}
    summary = read_json(run.folder / "summary.json") if run.finished else None
    results = {name: (summary or {}).get(name) for name in ("test_accuracy", "best_accuracy", "seconds")}
    if all(isinstance(value, float) for value in results.values()):
        return entry | {"status": "finished", **results}
    if summary is not None:
        reason = "its summary.json is damaged"
    if reason is not None:
        return entry | {"status": "failed", "reason": reason}
    return entry | {"status": "interrupted" if run.folder.exists() else "not begun"}
