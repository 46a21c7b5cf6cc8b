"""Checkpoints: everything that a run needs to continue as if it had never stopped."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from snippets.atomic_write import replace_file
from snippets.errors import RunError, UsageError
from snippets.seeds import random_states, restore_random_states


# --8<-- [start:training_state]
@dataclass
class TrainingState:
    """What changes while a network trains. `step`, the finished steps, fixes the place in the data order."""

    model: nn.Module
    optimizers: list[torch.optim.Optimizer]
    schedulers: list[torch.optim.lr_scheduler.LRScheduler]
    device: torch.device
    step: int = 0
    progress: dict[str, Any] = field(default_factory=dict)  # plain numbers: sums so far, best result, seconds

    def capture(self) -> dict[str, Any]:
        """Return the state as tensors and plain types."""
        return {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "schedulers": [scheduler.state_dict() for scheduler in self.schedulers],
            "random_states": random_states(self.device),
            "step": self.step,
            "progress": self.progress,
        }

    def restore(self, captured: dict[str, Any]) -> None:
        """Go back to what `capture` returned, whichever device that was on."""
        self.model.load_state_dict(captured["model"])
        for optimizer, saved in zip(self.optimizers, captured["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        for scheduler, saved in zip(self.schedulers, captured["schedulers"], strict=True):
            scheduler.load_state_dict(saved)
        restore_random_states(captured["random_states"], self.device)
        self.step = captured["step"]
        self.progress = captured["progress"]


# --8<-- [end:training_state]
# --8<-- [start:save_checkpoint]
def save_checkpoint(path: Path, state: TrainingState, config: dict[str, Any]) -> None:
    """Replace the checkpoint at `path`; if that fails, the previous one is intact. Raises RunError."""
    content = state.capture() | {"config": config}
    try:
        replace_file(path, lambda file: torch.save(content, file))
    except (OSError, RuntimeError) as error:  # torch.save turns some failed writes into RuntimeError
        raise RunError(f"cannot write {path}: {error}; the checkpoint before it is untouched") from error


# --8<-- [end:save_checkpoint]
# --8<-- [start:load_checkpoint]
def load_checkpoint(path: Path) -> dict[str, Any]:
    """Return what `save_checkpoint` wrote, with all tensors on the CPU.

    `map_location` makes a checkpoint of any device readable on any other; `weights_only` refuses to execute
    code hidden in the file. Raises UsageError when there is no such file, or it is not a whole checkpoint.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise UsageError(f"there is no checkpoint {path}") from None
    except Exception as error:  # a damaged file can raise almost anything
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"cannot read checkpoint {path}: {reason}") from error
    if not isinstance(content, dict) or not {"model", "optimizers", "step", "config"} <= content.keys():
        raise UsageError(f"{path} is not a checkpoint of a run in this project")
    return content


# --8<-- [end:load_checkpoint]


def all_finite(model: nn.Module) -> bool:
    """Return whether every parameter is a finite number; one transfer from the device."""
    return bool(torch.stack([parameter.isfinite().all() for parameter in model.parameters()]).all())
