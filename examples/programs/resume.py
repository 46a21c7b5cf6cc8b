"""Decide whether to start a new run or continue one, by `--out` and `--resume {auto,PATH}`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from examples.programs.command_line import expanded
from examples.programs.run_folder import check_new_folder, read_json
from snippets.errors import Option, UsageError
from snippets.foreign_files import open_regular


@dataclass(frozen=True)
class RunChoice:
    """A run to continue (`folder` and its saved `config`), or a new one (`config` is None)."""

    folder: Path | None  # None: a new folder named after the time
    config: dict[str, Any] | None = None
    checkpoint: Path | None = None  # chosen by the user; None: the newest, if there is one
    note: str | None = None  # for the user

    @property
    def finished(self) -> bool:
        """Return whether the run has finished."""
        return self.folder is not None and status_of(self.folder) == "finished"


def status_of(folder: Path) -> str | None:
    """Return the status in the folder's heartbeat.json, or None when there is none."""
    return (read_json(folder / "heartbeat.json") or {}).get("status")


def choose_run(
    system: str, out: Path | None, resume: str | None, matches: Callable[[dict[str, Any]], bool]
) -> RunChoice:
    """Return the run that `--out` and `--resume` select.

    "auto" continues the run in `out`, or else the newest unfinished run of `system` whose config `matches`;
    if there is none, it starts a new run with a note. A path (of a run folder or a checkpoint in it) must
    exist. Raises UsageError.
    """
    if resume is None:
        if out is not None:
            check_new_folder(out)
        return RunChoice(out)
    if resume != "auto":
        return named_run(expanded(resume), out, system)
    if out is not None:
        if (out / "config.json").exists():
            return existing_run(out, system)
        check_new_folder(out)
        return RunChoice(out, note=f"nothing to resume in {out}: starting anew")
    for folder in newest_first((Path("runs") / system).glob("*/config.json")):
        config = read_json(folder / "config.json")
        if config is not None and status_of(folder) != "finished" and matches(config):
            return existing_run(folder, system)
    return RunChoice(None, note="no unfinished run with these options: starting anew")


def newest_first(configs: Iterable[Path]) -> list[Path]:
    """Return the folders of these config.json files, the run that started last first."""
    return sorted((path.parent for path in configs), key=began, reverse=True)


def began(folder: Path) -> tuple[bool, float, float]:
    """Return a key that sorts runs by the start time in config.json, which copying does not change.

    The modification time of the file decides when that is missing or equal. A start time in the future comes
    from a wrong clock and counts as the oldest.
    """
    path = folder / "config.json"
    config, written = read_json(path) or {}, path.stat().st_mtime
    try:
        time = datetime.fromisoformat(config["provenance"]["started_at"]).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError):
        time = written
    return time <= datetime.now().timestamp(), time, written


def existing_run(folder: Path, system: str) -> RunChoice:
    """Return the run in `folder`. Raises UsageError when config.json is damaged or of another system."""
    path = folder / "config.json"
    try:
        open_regular(path).close()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    config = read_json(path)
    if config is None or not isinstance(config.get("options"), dict):
        raise UsageError(f"{path} is damaged; start a new run with another ", Option("out"))
    made_by = config.get("system", system)
    if made_by != system:
        raise UsageError(f"{folder} holds a run of {made_by}, not of {system}; continue it with that program")
    return RunChoice(folder, config)


def named_run(path: Path, out: Path | None, system: str) -> RunChoice:
    """Return the run of `--resume PATH`. Raises UsageError."""
    folder = path.parent.parent if path.suffix == ".pt" else path
    if not path.exists():
        raise UsageError(Option("resume", path), ": there is no such file or folder")
    if not (folder / "config.json").exists():
        raise UsageError(Option("resume", path), f": {folder} holds no run (no config.json)")
    if out is not None and out.resolve() != folder.resolve():
        reason = " continues in its own folder; leave out "
        raise UsageError(Option("resume", path), reason, Option("out", out))
    run = existing_run(folder, system)
    return RunChoice(folder, run.config, path) if path.suffix == ".pt" else run
