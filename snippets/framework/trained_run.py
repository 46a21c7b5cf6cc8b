"""The network that a run left behind, for the programs that use it."""

from pathlib import Path
from typing import Any

from snippets.checkpoints import DamagedCheckpoint, load_checkpoint, load_newest
from snippets.framework.errors import UsageError
from snippets.framework.resume import newest_first


def newest_trained(runs: Path, what: str, first: str) -> Path:
    """Return the folder in `runs` that began last and has a checkpoint.

    Raises UsageError without one: there is no `what` then, and the command `first` makes one.
    """
    for folder in newest_first(runs):
        if any((folder / "checkpoints").glob("*.pt")):
            return folder
    raise UsageError(f"there is no {what} in {runs}; make one: {first}")


def load_best(path: Path, system: str) -> tuple[dict[str, Any], Path, str | None]:
    """Return content and path of the checkpoint that `path` means, and a note for the user.

    Of a run folder that is best.pt, or the newest one when that is missing or damaged. Raises UsageError.
    """
    if not path.exists():
        raise UsageError(f"there is no run folder or checkpoint {path}")
    if not path.is_dir():
        return load_checkpoint(path, system), path, None
    folder = path / "checkpoints"
    if not folder.is_dir():
        raise UsageError(f"{path} holds no run (no folder checkpoints); name a run folder or a checkpoint")
    best = folder / "best.pt"
    try:
        return load_checkpoint(best, system), best, None
    except DamagedCheckpoint as damage:
        content, newest, _ = load_newest(folder, system)
        return content, newest, f"{damage}; taking {newest} instead"


def folder_of(checkpoint: Path) -> Path:
    """Return the run folder of a checkpoint, or, elsewhere, the folder in which it lies."""
    folder = checkpoint.parent
    return folder.parent if folder.name == "checkpoints" else folder
