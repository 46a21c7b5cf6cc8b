"""The folder of a run: its configuration, its progress and its results.

config.json · metrics.jsonl (one JSON object per logged step) · heartbeat.json (replaced atomically) ·
checkpoints/last.pt, previous.pt and best.pt · curves.png · summary.json · train.log ·
train.pid while it runs
"""

import contextlib
import errno
import fcntl
import itertools
import json
import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO, Self

from tqdm import tqdm

from snippets.atomic_write import remove_leftovers, replace_file, replace_json
from snippets.errors import Option, RunError, UsageError, printable
from snippets.foreign_files import LONGEST_LINE, RUN_FILE, open_regular, read_bytes
from snippets.stop_signals import terminate_like_ctrl_c

PULSE = ("step", "total_steps", "device", "precision", "loss", "samples_per_s", "eta_s", "memory_mb")
LARGEST_NUMBER = 1e300  # of a metric: Matplotlib cannot draw an axis up to the largest float
HEARTBEAT_INTERVAL = 1.0  # seconds, to spare the disk


def check_new_folder(path: Path) -> None:
    """Raise UsageError when `path` cannot become the folder of a new run because of its content."""
    if path.exists() and not path.is_dir():
        raise UsageError(Option("out", path), " is a file; name a folder")
    if (path / "config.json").exists():
        raise UsageError(
            Option("out", path),
            " already holds a run; continue it with ",
            Option("resume", "auto"),
            ", or choose another folder",
        )
    if path.is_dir() and not all(is_from_unstarted_run(entry) for entry in path.iterdir()):
        raise UsageError(Option("out", path), " is not empty; choose another folder")


def is_from_unstarted_run(path: Path) -> bool:
    """Return whether `path` can come from a run that was killed before it wrote config.json."""
    if path.name == "checkpoints":
        return path.is_dir() and not any(path.iterdir())
    if path.name == "train.log":
        return path.stat().st_size == 0
    return path.match(".config.json.*.tmp")


def new_folder(out: Path | None, system: str) -> Path:
    """Make and return the folder `out`, or runs/<system>/<time> when it is None.

    The caller checks the content of `out` before, and again when it has the lock. Raises UsageError.
    """
    if out is not None:
        candidates = [out]
    else:
        stamp = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
        base = Path("runs") / system
        candidates = [base / stamp, *(base / f"{stamp}_{number}" for number in range(2, 100))]
    for path in candidates:
        try:
            path.mkdir(parents=True, exist_ok=out is not None)
            return path
        except FileExistsError:  # another run started in the same second
            if out is not None:
                check_new_folder(out)
        except OSError as error:
            reason = f"cannot make the run folder {path}: {error.strerror}; use "
            raise UsageError(reason, Option("out")) from error
    raise UsageError(
        "too many runs begin in this second; use ", Option("out"), f" instead of {candidates[0]}"
    )


class RunFolder:
    """An open run folder, which a lock on train.log reserves for one process."""

    def __init__(self, path: Path) -> None:
        """Open `path`, which exists. Raises UsageError when another process trains in it."""
        self.path = path
        self.pulse: dict[str, Any] = {"pid": os.getpid(), "status": None} | dict.fromkeys(PULSE)
        self.last_beat = -math.inf
        for name in ("train.log", "metrics.jsonl"):  # opening a pipe for writing would wait for a reader
            if (path / name).exists() and not (path / name).is_file():
                raise UsageError(f"{path / name} is no file; remove it")
        try:
            (path / "checkpoints").mkdir(exist_ok=True)
            # file names need not be UTF-8
            self.log_file = (path / "train.log").open("a", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            reason = f"cannot write to the run folder {path}: {error.strerror}; use "
            raise UsageError(reason, Option("out")) from error
        self.lock()
        for folder in (path, path / "checkpoints"):
            remove_leftovers(folder)
        self.last_checkpoint = path / "checkpoints" / "last.pt"
        self.best_checkpoint = path / "checkpoints" / "best.pt"
        self.metrics_file = path / "metrics.jsonl"
        self.pid_file = path / "train.pid"

    def lock(self) -> None:
        """Lock the folder. Raises UsageError when another process trains in it."""
        try:
            note = lock(self.log_file.fileno(), self.path, "training")
        except UsageError:
            self.log_file.close()
            raise
        if note:
            self.say(f"note: {note}")

    def __enter__(self) -> Self:
        with contextlib.suppress(OSError):  # on a full disk, the first heartbeat raises an error
            replace_json(self.pid_file, os.getpid())  # only for users: programs test the lock
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        begun = self.pulse["status"] is not None
        if error is not None and (begun or not isinstance(error, UsageError)):
            self.fail(error)
        with contextlib.suppress(OSError):
            self.pid_file.unlink()
        with contextlib.suppress(OSError):  # on a full disk, unwritten lines are lost
            self.log_file.close()  # which releases the lock
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            reason = "too many files are open in this process; allow more (ulimit -n 4096) or lower "
            again = "then continue with ", Option("resume", self.path)
            raise RunError(reason, Option("workers"), ", ", *again) from error
        if isinstance(error, OSError):
            cause = f"cannot write to the run folder {self.path}: {error.strerror or error}"
            again = "; remove the cause, then continue with ", Option("resume", self.path)
            raise RunError(cause, *again) from error

    def write_config(self, config: dict[str, Any]) -> None:
        """Write config.json, which marks the folder as a run, so it is written first and only once.

        Raises UsageError when another process wrote it while this one waited for the lock.
        """
        if (self.path / "config.json").exists():
            self.log_file.close()
            reason = f"another process has just begun a run in {self.path}; continue it with "
            raise UsageError(reason, Option("resume", "auto"))
        replace_json(self.path / "config.json", config)

    def say(self, line: str = "") -> None:
        """Print a line above the progress bar and add it to train.log, with control characters escaped."""
        line = printable(line, kept="\t\n")
        with contextlib.suppress(BrokenPipeError):  # the reader of the output has exited; training continues
            tqdm.write(line)
            sys.stdout.flush()  # otherwise piped output is delayed by minutes
        self.log_file.write(line + "\n")
        self.log_file.flush()

    def log(self, **values: Any) -> None:
        """Append one line to metrics.jsonl. NaN, which JSON lacks, becomes null."""
        clean = {name: finite_or_none(value) for name, value in values.items()}
        with self.metrics_file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(clean) + "\n")

    def forget_metrics_after(self, step: int) -> None:
        """Remove the metrics of steps that a resumed run repeats; remove damaged lines with a note."""
        damaged = 0

        def copy_kept(target: BinaryIO) -> None:
            nonlocal damaged
            for line in lines_in(self.metrics_file):
                values = metrics_in(line)
                damaged += values is None and line.endswith(b"\n")
                if values is not None and values["step"] <= step:
                    target.write(line)

        if self.metrics_file.exists():
            replace_file(self.metrics_file, copy_kept)
        if damaged:
            self.say(f"note: {damaged} damaged line{'s' * (damaged > 1)} of metrics.jsonl left out")

    def archive_unsaved_run(self) -> None:
        """Rename metrics and best.pt of a run that starts again without a checkpoint, with a note."""
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
        """Replace heartbeat.json, which monitors read.

        `status` is running, finished, interrupted or failed. While it is unchanged, the file is replaced at
        most once per HEARTBEAT_INTERVAL.
        """
        changed = status != self.pulse.get("status")
        self.pulse |= {name: finite_or_none(value) for name, value in values.items()} | {"status": status}
        if changed or time.monotonic() - self.last_beat >= HEARTBEAT_INTERVAL:
            self.pulse["updated_at"] = datetime.now(UTC).isoformat(timespec="seconds")
            replace_json(self.path / "heartbeat.json", self.pulse)
            self.last_beat = time.monotonic()

    def fail(self, error: BaseException) -> None:
        """Write the reason of a failure to heartbeat.json and train.log, if the disk has space."""
        status = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
        with without_child_signals(), contextlib.suppress(OSError):
            self.beat(status, error=f"{type(error).__name__}: {error}")
            reason = printable(f"{type(error).__name__}: {error}", kept="\t\n")
            self.log_file.write(f"{status}: {reason}\n")


class UnwrittenRun:
    """The run as all processes but the first see it: they write nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last_checkpoint = path / "checkpoints" / "last.pt"
        self.best_checkpoint = path / "checkpoints" / "best.pt"

    def say(self, line: str = "") -> None:
        """Print nothing."""

    def log(self, **values: Any) -> None:
        """Store nothing."""

    def beat(self, status: str = "running", **values: Any) -> None:
        """Write no heartbeat."""


def lock(descriptor: int, folder: Path, doing: str) -> str | None:
    """Lock the open file `descriptor` until it is closed. Raises UsageError when another process holds it.

    Returns None, or a warning on shared disks (SMB, NFS) that have no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"another process is {doing} in {folder}; use another ", Option("out")) from None
    except OSError as error:
        reason = f"{folder} cannot be locked ({error.strerror})"
        return f"{reason}; see to it yourself that no second process is {doing} in it"
    return None


@contextlib.contextmanager
def only_process(folder: Path, doing: str) -> Iterator[str | None]:
    """Hold the lock of `folder` inside the block; yield the note of `lock`. Raises UsageError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield lock(descriptor, folder, doing)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def without_child_signals() -> Iterator[None]:
    """Inside the block, ignore SIGCHLD, whose handler in PyTorch raises at any point of the program."""
    try:
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    except RuntimeError:  # raised for a pending signal, which is now handled
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, before)


def numbered(file: Path, number: int) -> Path:
    """Return the name for a file of an earlier start, such as metrics-1.jsonl."""
    return file.with_stem(f"{file.stem}-{number}")


def finite_or_none(value: Any) -> Any:
    """Return `value`, or None for a float that is NaN or infinite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in `path`, or None when the file is missing or has other content."""
    try:
        value = json.loads(read_bytes(path, RUN_FILE))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def lines_in(path: Path) -> Iterator[bytes]:
    """Yield the lines of a metrics.jsonl, if it exists; too long lines come in parts. Raises OSError."""
    if path.exists():
        with open_regular(path) as file:
            yield from iter(lambda: file.readline(LONGEST_LINE), b"")


def metrics_in(line: bytes) -> dict[str, Any] | None:
    """Return the values in a line of metrics.jsonl by name: numbers, or None for NaN.

    Returns None for a damaged or incomplete line, or one without step and epoch.
    """
    try:
        values = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or type(values.get("step")) is not int or values.get("epoch") is None:
        return None
    return values if all(value is None or is_number(value) for value in values.values()) else None


def is_number(value: Any) -> bool:
    """Return whether `value` is a number that can be drawn."""
    return type(value) in (int, float) and abs(value) < LARGEST_NUMBER


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the values in a metrics.jsonl by line, without damaged and incomplete lines."""
    return [values for line in lines_in(path) if (values := metrics_in(line)) is not None]


@contextlib.contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Yield a new temporary folder beside `path`, and remove it at the end if it was not renamed.

    Also removes such folders of killed processes.
    """
    remove_leftovers(path.parent, escape(path.name))
    new = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with terminate_like_ctrl_c():
        try:
            new.mkdir()
            yield new
        finally:
            shutil.rmtree(new, ignore_errors=True)  # it exists only after a failure, or when parts were moved


def write_whole(folder: Path, write: Callable[[Path], None]) -> None:
    """Call `write` with a new folder whose content appears at once. Raises UsageError and RunError."""
    folder = folder.resolve()
    check_empty(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(folder) as new:
            write(new)
            new.replace(folder)
    except OSError as error:
        reason = f"cannot write {folder}: {error.strerror}; choose another "
        raise RunError(reason, Option("out")) from None


def check_empty(folder: Path) -> None:
    """Raise UsageError unless `folder` is missing or empty."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; choose another ", Option("out"), ", or remove it first")


def check_target(
    file: Path, ours: Callable[[Path], bool], suffixes: Sequence[str] = (), option: str = "--out"
) -> None:
    """Remove temporary files of `file` from killed processes. Raises UsageError if it must not be written.

    It must have one of the suffixes, if any are given, and either be missing or be `ours`: a file that the
    program writes, of the same run.
    """
    if suffixes and file.suffix.lower() not in suffixes:
        raise UsageError(f"{option} {file}: the name must end in {' or '.join(suffixes)}")
    if (file.exists() or file.is_symlink()) and not ours(file):
        raise UsageError(
            f"{file} is there already and is no file that this command made; choose another {option}, or "
            "remove it yourself"
        )
    remove_leftovers(file.parent, escape(file.name))


def begins_with(beginning: bytes) -> Callable[[Path], bool]:
    """Return a function that returns whether a file begins with these bytes."""

    def is_such(file: Path) -> bool:
        try:
            with open_regular(file) as content:
                return content.read(len(beginning)) == beginning
        except OSError:
            return False

    return is_such


def json_with(*fields: str) -> Callable[[Path], bool]:
    """Return a function that returns whether a file is a JSON object with these fields."""
    return lambda file: (read_json(file) or {}).keys() >= set(fields)
