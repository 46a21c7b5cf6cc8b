"""Read the state of a run from its folder, and detect whether its process is alive."""

import contextlib
import fcntl
import json
import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from examples.monitoring.loss_history import finite, whole
from examples.programs.identity import is_this_machine
from snippets.errors import printable
from snippets.foreign_files import RUN_FILE, open_regular, read_bytes

# A training writes a heartbeat when a step ends more than 5 s after the last one. The pause is longer while
# it evaluates, compiles or writes a checkpoint, but rarely 3 minutes or the time of 20 slow steps.
PATIENCE = 180.0  # seconds
PATIENT_STEPS = 20
CLOCKS_DIFFER = 5.0  # seconds that a heartbeat may come from the future

OVER = {"finished", "interrupted", "failed", "died"}  # final until a new command
FINE = {"starting", "running", "finished"}


@dataclass
class RunState:
    """The state of a run at one moment; None for values that are not in its files."""

    folder: Path
    status: str  # starting, running, silent, finished, interrupted, failed, died or unreadable
    system: str | None = None
    device: str | None = None
    precision: str | None = None
    pid: int | None = None
    step: int | None = None
    total_steps: int | None = None
    loss: float | None = None
    samples_per_s: float | None = None
    memory_mb: float | None = None
    eta_s: float | None = None
    age_s: float | None = None  # of the heartbeat; before the first one, since the start
    why: str | None = None  # the reason for the status died or silent
    notes: list[str] = field(default_factory=list)  # what is wrong, and what to do

    @property
    def over(self) -> bool:
        """Return whether the run has ended."""
        return self.status in OVER or self.status == "unreadable"

    @property
    def fine(self) -> bool:
        """Return whether the run needs no attention."""
        return self.status in FINE


class Unreadable(Exception):
    """A file of a run exists but cannot be used. The message names the file and the reason."""


def read_object(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in `path`, or None when the file is missing. Raises Unreadable."""
    try:
        value = json.loads(read_bytes(path, RUN_FILE))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"cannot read {path.name}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path.name} is damaged: it holds no JSON") from error
    if not isinstance(value, dict):
        raise Unreadable(f"{path.name} is damaged: it holds no JSON object")
    return value


def read_run(folder: Path, now: datetime | None = None) -> RunState:
    """Return the state of the run in `folder` at the time `now`."""
    try:
        config = read_object(folder / "config.json")
        beat = read_object(folder / "heartbeat.json")
        if config is None and beat is None:
            raise Unreadable("no run is here: it has neither config.json nor heartbeat.json")
        config, beat = config or {}, beat or {}
        run = facts(folder, config, beat, now or datetime.now(UTC))
        if run.status in ("starting", "running"):
            judge_life(run, config)
    except Unreadable as error:
        return RunState(folder, "unreadable", notes=[str(error)])
    if run.status in ("interrupted", "failed", "died"):
        run.notes.append(f"continue with: {command_to_continue(folder, config)}")
    return run


def facts(folder: Path, config: dict[str, Any], beat: dict[str, Any], now: datetime) -> RunState:
    """Return the state in the two files, without checking the status. Values of a wrong type are None."""
    status = text(beat.get("status")) or "starting"
    run = RunState(folder, status, text(config.get("system")))
    run.device, run.precision = text(beat.get("device")), text(beat.get("precision"))
    run.pid, run.step, run.total_steps = (whole(beat.get(name)) for name in ("pid", "step", "total_steps"))
    run.loss, run.samples_per_s = finite(beat.get("loss")), finite(beat.get("samples_per_s"))
    run.memory_mb, run.eta_s = finite(beat.get("memory_mb")), finite(beat.get("eta_s"))
    run.age_s = age(beat.get("updated_at") if beat else provenance(config).get("started_at"), now)
    if status not in ("starting", "running", *OVER):
        run.status = "unreadable"
        run.notes.append(f"unknown status {status!r}: another version of the program wrote heartbeat.json")
    if status in ("interrupted", "failed") and (error := text(beat.get("error"))):
        run.notes.append(error)
    if run.age_s is not None and run.age_s < -CLOCKS_DIFFER and not run.over:
        run.notes.append(f"the clocks differ: this heartbeat is {-run.age_s:.0f} s in the future")
    return run


def text(value: Any) -> str | None:
    """Return `value` with control characters escaped if it is text, else None."""
    return printable(value) if isinstance(value, str) else None


def age(updated_at: Any, now: datetime) -> float | None:
    """Return the seconds from the time `updated_at` to `now`; None unless it is a time with its zone."""
    try:
        return (now - datetime.fromisoformat(updated_at)).total_seconds()
    except (ValueError, TypeError):
        return None


def command_to_continue(folder: Path, config: dict[str, Any]) -> str:
    """Return the command that continues the run in `folder`."""
    typed: list[str] = []
    with contextlib.suppress(ValueError):  # unbalanced quotes, which our programs never write
        typed = shlex.split(text(provenance(config).get("command")) or "")
    system = text(config.get("system")) or "SYSTEM"  # or system/program, where it has several
    usual = f"examples/{system if '/' in system else f'{system}/train'}.py"
    script = next((word for word in typed if word.endswith(".py")), usual)
    return shlex.join(["python", script, "--resume", str(folder)])


def provenance(config: dict[str, Any]) -> dict[str, Any]:
    """Return the machine, versions and command that a run recorded."""
    found = config.get("provenance")
    return found if isinstance(found, dict) else {}


# --8<-- [start:judge_life]
def judge_life(run: RunState, config: dict[str, Any]) -> None:
    """Correct the status of a run whose heartbeat says running, but which is dead or silent."""
    patience = PATIENCE
    if run.eta_s is not None and run.total_steps is not None and run.step is not None:
        patience = max(patience, PATIENT_STEPS * run.eta_s / max(run.total_steps - run.step, 1))
    here = is_this_machine(provenance(config))  # a shared disk also has runs of other machines
    if here and not is_locked(run.folder / "train.log"):
        latest = read_object(run.folder / "heartbeat.json") or {}
        if text(latest.get("status")) in OVER:
            run.status = latest["status"]  # it ended normally in the meantime
        else:
            run.status = "died"
            run.why = f"process {run.pid} is gone" if run.pid else "no process trains here"
    elif run.age_s is None or run.age_s > patience:
        run.status, run.why = "silent", "a process holds the run; it evaluates, compiles or hangs"
        if not here:
            run.why = "it ran on another machine, or before an update of this one"


def is_locked(log: Path) -> bool:
    """Return whether a process trains in the folder of `log`: the system releases its lock when it ends.

    Testing the lock takes it for some microseconds if it is free; a training that starts at that moment fails
    and must be started again.
    """
    try:
        with open_regular(log) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:  # locked or not readable
        return True
    return False


# --8<-- [end:judge_life]
