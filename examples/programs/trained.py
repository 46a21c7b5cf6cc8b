"""The network that a run left behind, for the programs that use it."""

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
    """Return the folder in `runs` that began last and has a checkpoint.

    Raises UsageError without one: there is no `what` then, and the command `first` makes one.
    """
    for folder in newest_first(runs.glob("*/config.json")):
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


def filled(build: Callable[[], Network], weights: dict[str, torch.Tensor]) -> Network:
    """Return a new network with these weights, to be used and not trained. Raises UsageError if they differ.

    Whoever made the file chose the options by which `build` makes the network, too. On the device "meta" it
    takes no memory, however large they say that it is.
    """
    with torch.device("meta"):
        check_weights(build(), weights)
    network = build()
    network.load_state_dict(weights)
    return network.eval()


def check_computed(network: nn.Module, given: Any, found: Any) -> None:
    """Raise UsageError when a network computed NaN or infinity, as finite but huge weights do; a hook."""
    if not all(values.isfinite().all() for values in (found if isinstance(found, tuple) else [found])):
        raise UsageError("the network computes NaN or infinity, its weights are too large; name another one")


def folder_of(checkpoint: Path) -> Path:
    """Return the run folder of a checkpoint, or, elsewhere, the folder in which it lies."""
    folder = checkpoint.parent
    return folder.parent if folder.name == "checkpoints" else folder


def report_on(run: Path, *fields: str) -> Callable[[Path], bool]:
    """Return a function that says whether a file is a JSON report with these fields on a network of `run`.

    Its field "checkpoint" says so; in the run's own folder, which may have been moved, its place does.
    """

    def is_such(file: Path) -> bool:
        report = read_json(file) or {}
        if not report.keys() >= {"checkpoint", *fields}:
            return False
        return run.resolve() in (file.parent.resolve(), folder_of(Path(str(report["checkpoint"]))).resolve())

    return is_such
