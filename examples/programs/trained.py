"""Load the trained network of a run, for programs that use it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from examples.programs.resume import newest_first
from examples.programs.run_folder import read_json
from snippets.checkpoints import DamagedCheckpoint, check_weights, load_checkpoint, load_newest
from snippets.errors import UsageError

Network = TypeVar("Network", bound=nn.Module)


def newest_trained(runs: Path, what: str, first: str) -> Path:
    """Return the newest run folder in `runs` that has a checkpoint.

    Raises UsageError when there is none, which names the missing `what` and the command `first` for it.
    """
    for folder in newest_first(runs.glob("*/config.json")):
        if any((folder / "checkpoints").glob("*.pt")):
            return folder
    raise UsageError(f"there is no {what} in {runs}; make one: {first}")


def load_best(path: Path, system: str) -> tuple[dict[str, Any], Path, str | None]:
    """Return content and path of a checkpoint, and a note for the user or None.

    For a run folder it is best.pt, or the newest one when best.pt is missing or damaged. Raises UsageError.
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


def filled(build: Callable[[], Network], weights: dict[str, torch.Tensor]) -> Network:
    """Return a new network with these weights, in evaluation mode. Raises UsageError if they do not fit.

    The file also sets the options of `build`. Therefore the shapes are checked first on the device "meta",
    where a network takes no memory, however large it is.
    """
    with torch.device("meta"):
        check_weights(build(), weights)
    network = build()
    network.load_state_dict(weights)
    return network.eval()


def check_computed(network: nn.Module, given: Any, found: Any) -> None:
    """Raise UsageError when a network outputs NaN or infinity, as huge finite weights do. A forward hook."""
    if not all(values.isfinite().all() for values in (found if isinstance(found, tuple) else [found])):
        raise UsageError("the network computes NaN or infinity, its weights are too large; name another one")


def folder_of(checkpoint: Path) -> Path:
    """Return the run folder of a checkpoint, or its own folder when it is in no run folder."""
    folder = checkpoint.parent
    return folder.parent if folder.name == "checkpoints" else folder


def report_on(run: Path, *fields: str) -> Callable[[Path], bool]:
    """Return a function that returns whether a file is a JSON report on `run` with these fields.

    Its field "checkpoint" names the run. In the run's own folder, which may have been moved, any report
    counts.
    """

    def is_such(file: Path) -> bool:
        report = read_json(file) or {}
        if not report.keys() >= {"checkpoint", *fields}:
            return False
        return run.resolve() in (file.parent.resolve(), folder_of(Path(str(report["checkpoint"]))).resolve())

    return is_such
