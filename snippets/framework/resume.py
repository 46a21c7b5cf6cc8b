"""Decide whether a run begins anew or continues an earlier one: `--out` and `--resume {auto,PATH}`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snippets.framework.errors import UsageError
from snippets.framework.run_folder import check_new_folder, read_json
from snippets.framework.user_paths import expanded


@dataclass(frozen=True)
class RunChoice:
    """A run to continue (`folder` and its saved `config`), or a new one (`config` is None)."""

    folder: Path | None  # None: a new folder named after the time
    config: dict[str, Any] | None = None
    checkpoint: Path | None = None  # the one that the user named; None: the newest, if there is any
    note: str | None = None  # to be told to the user

    @property
    def finished(self) -> bool:
        """Return whether the run has nothing left to do."""
        return self.folder is not None and status_of(self.folder) == "finished"


def status_of(folder: Path) -> str | None:
    """Return the status in the folder's heartbeat.json, None when there is none."""
    return (read_json(folder / "heartbeat.json") or {}).get("status")


def choose_run(
    system: str, out: Path | None, resume: str | None, matches: Callable[[dict[str, Any]], bool]
) -> RunChoice:
    """Return the run that `--out` and `--resume` mean.

    "auto" continues the run in `out`, or else the newest unfinished run of `system` whose config `matches`;
    with none it begins anew and says so. A path (of a run folder or a checkpoint in it) must exist.
    Raises UsageError.
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
    for folder in newest_first(Path("runs") / system):
        config = read_json(folder / "config.json")
        if config is not None and status_of(folder) != "finished" and matches(config):
            return existing_run(folder, system)
    return RunChoice(None, note="no unfinished run with these options: starting anew")


def newest_first(folder: Path) -> list[Path]:
    """Return the run folders in `folder`, the one that began last first."""
    configs = folder.glob("*/config.json")
    return [path.parent for path in sorted(configs, key=lambda path: path.stat().st_mtime, reverse=True)]


def existing_run(folder: Path, system: str) -> RunChoice:
    """Return the run in `folder`. Raises UsageError when its config.json is damaged or of another system."""
    path = folder / "config.json"
    try:
        path.open("rb").close()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    config = read_json(path)
    if config is None or not isinstance(config.get("options"), dict):
        raise UsageError(f"{path} is damaged; start a new run with another --out")
    made_by = config.get("system", system)
    if made_by != system:
        raise UsageError(f"{folder} holds a run of {made_by}, not of {system}; continue it with that program")
    return RunChoice(folder, config)


def named_run(path: Path, out: Path | None, system: str) -> RunChoice:
    """Return the run that `--resume PATH` names. Raises UsageError."""
    folder = path.parent.parent if path.suffix == ".pt" else path
    if not path.exists():
        raise UsageError(f"--resume {path}: there is no such file or folder")
    if not (folder / "config.json").exists():
        raise UsageError(f"--resume {path}: {folder} holds no run (no config.json)")
    if out is not None and out.resolve() != folder.resolve():
        raise UsageError(f"--resume {path} continues in its own folder; leave out --out {out}")
    run = existing_run(folder, system)
    return RunChoice(folder, run.config, path) if path.suffix == ".pt" else run


def check_same_options(saved: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    """Raise UsageError naming the first option in `wanted` whose value differs from the saved run's."""
    for name, value in wanted.items():
        if name in saved and saved[name] != value:
            # data_name is what --data turned out to be
            flag = "--" + name.removesuffix("_name").replace("_", "-")
            raise UsageError(
                f"{flag} is {value} here but {saved[name]} in the run in {folder}; "
                f"leave it out to continue that run, or start a new one with another --out"
            )
