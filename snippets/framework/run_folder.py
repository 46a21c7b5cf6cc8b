"""The folder of a run: what it was told to do, what it is doing, what came out.

config.json · metrics.jsonl (one JSON object per logged step) · heartbeat.json (replaced atomically) ·
checkpoints/last.pt, previous.pt and best.pt · curves.png · summary.json · train.log ·
train.pid, as long as it runs
"""

import contextlib
import errno
import fcntl
import itertools
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Self

from tqdm import tqdm

from snippets.atomic_write import replace_file, replace_json
from snippets.framework.errors import RunError, UsageError

PULSE = ("step", "total_steps", "device", "precision", "loss", "samples_per_s", "eta_s", "memory_mb")
HEARTBEAT_INTERVAL = 1.0  # seconds; more often would only wear out the disk


def check_new_folder(path: Path) -> None:
    """Raise UsageError when `path` cannot become a new run's folder without touching what is there."""
    if path.exists() and not path.is_dir():
        raise UsageError(f"--out {path} is a file; name a folder")
    if (path / "config.json").exists():
        raise UsageError(
            f"--out {path} already holds a run; continue it with --resume auto, or choose another folder"
        )
    if path.is_dir() and not all(left_by_a_beginning(entry) for entry in path.iterdir()):
        raise UsageError(f"--out {path} is not empty; choose another folder")


def left_by_a_beginning(path: Path) -> bool:
    """Return whether a run leaves `path` in its folder if it is killed before its config.json is written."""
    if path.name == "checkpoints":
        return path.is_dir() and not any(path.iterdir())
    if path.name == "train.log":
        return path.stat().st_size == 0
    return path.match(".config.json.*.tmp")


def new_folder(out: Path | None, system: str) -> Path:
    """Make and return the folder `out`, or runs/<system>/<time> when it is None."""
    if out is not None:
        check_new_folder(out)
        candidates = [out]
    else:
        stamp = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
        base = Path("runs") / system
        candidates = [base / stamp, *(base / f"{stamp}_{number}" for number in range(2, 100))]
    for path in candidates:
        try:
            path.mkdir(parents=True, exist_ok=out is not None)
            return path
        except FileExistsError:  # another run began in the same second
            continue
        except OSError as error:
            raise UsageError(f"cannot make the run folder {path}: {error.strerror}; use --out") from error
    raise UsageError(f"too many runs begin in this second; use --out instead of {candidates[0]}")


class RunFolder:
    """An open run folder. One process at a time: the open train.log carries a lock."""

    def __init__(self, path: Path) -> None:
        """Open `path`, which exists. Raises UsageError when another process trains in it."""
        self.path = path
        self.pulse: dict[str, Any] = {"pid": os.getpid(), "status": None} | dict.fromkeys(PULSE)
        self.last_beat = -math.inf
        try:
            (path / "checkpoints").mkdir(exist_ok=True)
            # names of files need not be UTF-8
            self.log_file = (path / "train.log").open("a", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageError(f"cannot write to the run folder {path}: {error.strerror}; use --out") from error
        self.lock()
        for leftover in [*path.glob(".*.tmp"), *path.glob("checkpoints/.*.tmp")]:
            if not leftover.is_dir():  # nothing of ours
                leftover.unlink()  # a process was killed while it wrote a file
        self.last_checkpoint = path / "checkpoints" / "last.pt"
        self.best_checkpoint = path / "checkpoints" / "best.pt"
        self.metrics_file = path / "metrics.jsonl"
        self.pid_file = path / "train.pid"

    def lock(self) -> None:
        """Keep other processes out. Raises UsageError when one trains here already.

        Some shared disks (SMB, NFS) have no locks. There a note is all that can be done.
        """
        try:
            fcntl.flock(self.log_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.log_file.close()
            raise UsageError(f"another process is training in {self.path}; use another --out") from None
        except OSError as error:
            reason = f"{self.path} cannot be locked ({error.strerror})"
            self.say(f"note: {reason}; see to it yourself that no second process trains in it")

    def __enter__(self) -> Self:
        with contextlib.suppress(OSError):  # with a full disk, the first heartbeat will tell
            replace_json(self.pid_file, os.getpid())  # whether a process trains is told by the lock alone
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        begun = self.pulse["status"] is not None
        if error is not None and (begun or not isinstance(error, UsageError)):
            self.fail(error)
        with contextlib.suppress(OSError):
            self.pid_file.unlink()
        with contextlib.suppress(OSError):  # with a full disk, what is not written yet
            self.log_file.close()  # and with it goes the lock
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            again = f"allow more (ulimit -n 4096) or lower --workers, then continue with --resume {self.path}"
            raise RunError(f"too many files are open in this process; {again}") from error
        if isinstance(error, OSError):
            cause = f"cannot write to the run folder {self.path}: {error.strerror or error}"
            raise RunError(f"{cause}; remove the cause, then continue with --resume {self.path}") from error

    def write_config(self, config: dict[str, Any]) -> None:
        """Write config.json. It makes the folder a run's folder, so it is written first and only once."""
        replace_json(self.path / "config.json", config)

    def say(self, line: str = "") -> None:
        """Print a line above the progress bar, and keep it in train.log."""
        with contextlib.suppress(BrokenPipeError):  # whoever read the output has gone; training goes on
            tqdm.write(line)
            sys.stdout.flush()  # otherwise a log that is piped stays empty for minutes
        self.log_file.write(line + "\n")
        self.log_file.flush()

    def log(self, **values: Any) -> None:
        """Append one line to metrics.jsonl. JSON has no NaN: such a value becomes null."""
        clean = {name: finite_or_none(value) for name, value in values.items()}
        with self.metrics_file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(clean) + "\n")

    def forget_metrics_after(self, step: int) -> None:
        """Drop the lines of steps that a resumed run will repeat, and, aloud, damaged ones."""
        if not self.metrics_file.exists():
            return
        damaged = 0

        def copy_kept(target: BinaryIO) -> None:
            nonlocal damaged
            with self.metrics_file.open("rb") as lines:
                for line in lines:
                    values = metrics_in(line)
                    damaged += values is None and line.endswith(b"\n")
                    if values is not None and values["step"] <= step:
                        target.write(line)

        replace_file(self.metrics_file, copy_kept)
        if damaged:
            self.say(f"note: {damaged} damaged line{'s' * (damaged > 1)} of metrics.jsonl left out")

    def set_aside_what_has_no_checkpoint(self) -> None:
        """Keep metrics and best network of a run that has to start anew, and say so."""
        kept = []
        for file in (self.metrics_file, self.best_checkpoint):
            if file.exists() and file.stat().st_size:
                number = next(n for n in itertools.count(1) if not numbered(file, n).exists())
                kept.append(file.rename(numbered(file, number)).name)
        if kept:
            self.say(
                f"note: {self.path} has no checkpoint to go on from: starting anew; {', '.join(kept)} kept"
            )

    def beat(self, status: str = "running", **values: Any) -> None:
        """Replace heartbeat.json: what the run is doing, for whoever watches it.

        `status` is running, finished, interrupted or failed. While it stays the same, the file is replaced at
        most once per HEARTBEAT_INTERVAL.
        """
        changed = status != self.pulse.get("status")
        self.pulse |= {name: finite_or_none(value) for name, value in values.items()} | {"status": status}
        if changed or time.monotonic() - self.last_beat >= HEARTBEAT_INTERVAL:
            self.pulse["updated_at"] = datetime.now(UTC).isoformat(timespec="seconds")
            replace_json(self.path / "heartbeat.json", self.pulse)
            self.last_beat = time.monotonic()

    def fail(self, error: BaseException) -> None:
        """Leave the reason in heartbeat.json and train.log; with a full disk, at least try."""
        status = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
        with without_child_signals(), contextlib.suppress(OSError):
            self.beat(status, error=f"{type(error).__name__}: {error}")
            self.log_file.write(f"{status}: {type(error).__name__}: {error}\n")


@contextlib.contextmanager
def without_child_signals() -> Iterator[None]:
    """Inside the block, let nothing happen when a child ends: PyTorch raises, wherever the program is."""
    try:
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    except RuntimeError:  # it has just done so; the signal that was waiting is gone
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, before)


def numbered(file: Path, number: int) -> Path:
    """Return the name under which a file of an earlier beginning is kept: metrics-1.jsonl."""
    return file.with_stem(f"{file.stem}-{number}")


def finite_or_none(value: Any) -> Any:
    """Return `value`, or None for a float that is NaN or infinite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in `path`; None when there is no such file or it holds something else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def metrics_in(line: bytes) -> dict[str, Any] | None:
    """Return what a line of metrics.jsonl says; None when it is damaged or was never finished."""
    try:
        values = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) and type(values.get("step")) is int else None


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a metrics.jsonl, without damaged ones and a last one that was never finished."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [values for line in lines if (values := metrics_in(line)) is not None]
