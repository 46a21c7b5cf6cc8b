"""Checkpoints: everything that a run needs to continue as if it had never stopped."""

import pickle
import warnings
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from snippets.atomic_write import replace_file
from snippets.errors import Option, RunError, UsageError
from snippets.foreign_files import open_regular, size_of
from snippets.memory import is_out_of_memory
from snippets.seeds import random_states, restore_random_states
from snippets.untrusted_checkpoints import MOST, check_names, check_plain

FORMAT = 1  # increase it when the content of a checkpoint changes


def no_scaler() -> torch.amp.GradScaler:
    """Return a gradient scaler that does nothing: only training in fp16 needs one."""
    return torch.amp.GradScaler("cpu", enabled=False)


# --8<-- [start:training_state]
@dataclass
class TrainingState:
    """All that training changes. `step` counts finished steps, from which the data order continues."""

    model: nn.Module
    optimizers: list[torch.optim.Optimizer]
    schedulers: list[torch.optim.lr_scheduler.LRScheduler]
    device: torch.device
    step: int = 0
    progress: dict[str, Any] = field(default_factory=dict)  # sums so far, best result, seconds; plain types
    scaler: torch.amp.GradScaler = field(default_factory=no_scaler)

    def capture(self) -> dict[str, Any]:
        """Return the state as tensors and plain types."""
        return {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "schedulers": [scheduler.state_dict() for scheduler in self.schedulers],
            "scaler": self.scaler.state_dict(),  # {} when it is not enabled
            "random_states": random_states(self.device),
            "step": self.step,
            "progress": self.progress,
        }

    def restore(self, captured: dict[str, Any]) -> None:
        """Restore a state that `capture` returned, on whatever device it was captured.

        Raises UsageError, and changes nothing, when the state is of another network, optimizer or precision.
        """
        self.check(captured)
        self.model.load_state_dict(captured["model"])
        for optimizer, saved in zip(self.optimizers, captured["optimizers"], strict=True):
            restore_optimizer(optimizer, saved)
        for scheduler, saved in zip(self.schedulers, captured["schedulers"], strict=True):
            scheduler.load_state_dict(saved)
        if self.scaler.is_enabled():
            self.scaler.load_state_dict(captured["scaler"])
        restore_random_states(captured["random_states"], self.device)
        self.step = captured["step"]
        self.progress = captured["progress"]

    # --8<-- [end:training_state]
    def check(self, captured: dict[str, Any]) -> None:
        """Raise UsageError, with the remedy, when `captured` does not belong to this training."""
        check_weights(self.model, captured["model"])
        if self.scaler.is_enabled() != bool(captured["scaler"]):
            other = "in fp16" if captured["scaler"] else "without fp16"
            reason = f"the checkpoint is of a run {other}, this one is not; use the same "
            raise UsageError(reason, Option("precision"))
        own = self.capture()
        settings = [
            [without_switch(part["param_groups"]) for part in state["optimizers"]]
            for state in (own, captured)
        ]
        weights = [[[group["params"] for group in groups] for groups in both] for both in settings]
        if weights[0] != weights[1]:
            raise UsageError("the checkpoint is of a run with another optimizer; use the same one")
        settings_alike = alike(*settings) and alike(own["schedulers"], captured["schedulers"])
        if not (settings_alike and alike(own["scaler"], captured["scaler"])):
            raise UsageError(
                "settings of optimizer or schedule in the checkpoint are none that training could have made; "
                "name another checkpoint"
            )
        moments = [part for state in captured["optimizers"] for part in state["state"].values()]
        if broken := [name for part in moments for name, value in part.items() if has_nan(value)]:
            raise UsageError(f"the state of the optimizer ({broken[0]}) holds NaN; name another checkpoint")


# --8<-- [start:restore_optimizer]
def restore_optimizer(optimizer: torch.optim.Optimizer, saved: dict[str, Any]) -> None:
    """Restore the state of an optimizer that keeps its own `fused` switch.

    A fused step reads weight and moments as flat memory, so with another memory format it would learn wrong
    weights on a CPU and raise an error on a GPU: each moment gets the format of its weight.
    """
    groups = [
        {**theirs, "fused": own["fused"]} if "fused" in own else theirs
        for own, theirs in zip(optimizer.param_groups, saved["param_groups"], strict=True)
    ]
    optimizer.load_state_dict({**saved, "param_groups": groups})
    for weight, state in optimizer.state.items():
        for name, value in state.items():
            if torch.is_tensor(value) and value.shape == weight.shape:
                state[name] = torch.empty_like(weight, dtype=value.dtype).copy_(value)


# --8<-- [end:restore_optimizer]
def without_switch(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return parameter groups without `fused`, which decides the speed alone."""
    return [{name: value for name, value in group.items() if name != "fused"} for group in groups]


def check_weights(model: nn.Module, saved: dict[str, torch.Tensor]) -> None:
    """Raise UsageError when the weights `saved` have other names or shapes than those of `model`."""
    own = model.state_dict()
    if differing := sorted(own.keys() ^ saved.keys()):
        owner = "this network" if differing[0] in own else "the checkpoint"
        raise UsageError(
            f"the checkpoint is of another network: only {owner} has {differing[0]}; "
            "use the options that the checkpoint was made with"
        )
    for name, weights in own.items():
        if weights.dtype != saved[name].dtype:
            raise UsageError(
                f"the checkpoint is of another network: {name} is {saved[name].dtype} there and "
                f"{weights.dtype} here"
            )
        if weights.shape != saved[name].shape:
            raise UsageError(
                f"the checkpoint is of a network of another size: {name} is {tuple(saved[name].shape)} there "
                f"and {tuple(weights.shape)} here; use the options that the checkpoint was made with"
            )


def alike(own: Any, saved: Any) -> bool:
    """Return whether `saved` has the same structure and types as `own`. It may have been edited.

    Numbers may differ, and each dictionary may have keys of its own, as between versions of PyTorch. None in
    `own` matches anything; an empty container in `own` matches one that holds numbers.
    """
    if own is None:
        return True
    if isinstance(own, bool | str):  # a switch decides what else the state has to hold
        return type(saved) is type(own) and saved == own
    if isinstance(own, int | float):
        return is_number(saved)
    if isinstance(own, dict):
        if not isinstance(saved, dict) or "lr" in own.keys() - saved.keys():
            return False
        pairs = [(own[key], saved[key]) for key in own.keys() & saved.keys()]
        return all(alike(*pair) for pair in pairs) if own else all(map(is_number, saved.values()))
    if isinstance(own, list | tuple):
        if not isinstance(saved, list | tuple) or (own and len(own) != len(saved)):
            return False
        return all(map(alike, own, saved)) if own else all(map(is_number, saved))
    return isinstance(saved, type(own))


def is_number(value: Any) -> bool:
    """Return whether `value` is a plain number of moderate size."""
    return isinstance(value, float) or (type(value) is int and abs(value) < MOST)


# --8<-- [start:save_checkpoint]
def save_checkpoint(
    path: Path, captured: dict[str, Any], config: dict[str, Any], keep_previous: bool = False
) -> None:
    """Replace the checkpoint at `path` by a captured state; if writing fails, the old one is intact.

    With `keep_previous`, the old checkpoint is kept beside it as previous.pt. `config["system"]` names the
    program that can continue from it. Raises RunError when it cannot be written.
    """
    content = {"format": FORMAT, "config": config} | captured
    keep_as = path.with_name("previous.pt") if keep_previous and is_whole(path) else None
    try:
        replace_file(path, lambda file: torch.save(content, file), keep_as)
    except (OSError, RuntimeError) as error:
        # After a failed write torch.save raises another error; the one that names the cause is its context.
        cause = error.__context__ if isinstance(error.__context__, OSError) else error
        reason = getattr(cause, "strerror", None) or str(cause).partition("\n")[0] or type(cause).__name__
        raise RunError(
            f"cannot write {path}: {reason}; the checkpoint before it is untouched: "
            "remove the cause, then continue with ",
            Option("resume"),
        ) from error


# --8<-- [end:save_checkpoint]
class DamagedCheckpoint(UsageError):
    """A checkpoint is missing, truncated or altered; an older one may be usable."""


# --8<-- [start:is_whole]
def is_whole(path: Path) -> bool:
    """Return whether `path` is a zip archive as torch.save writes it, and each part matches its CRC-32.

    `torch.load` does not compare CRC-32 values: a flipped bit in a tensor loads as another number, without an
    error. It also skips parts whose attributes mark a folder. torch.save sets no attributes and does not
    compress, so both are rejected; a compressed part could unpack to terabytes.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            parts, size = archive.infolist(), size_of(file)
            stored = not any(part.external_attr or part.compress_type for part in parts)
            return stored and sum(part.file_size for part in parts) < size and archive.testzip() is None
    except Exception:  # a damaged archive can raise almost anything
        return False


# --8<-- [end:is_whole]
# --8<-- [start:load_checkpoint]
def load_checkpoint(path: Path, system: str | None = None) -> dict[str, Any]:
    """Return the checkpoint at `path`, with all tensors on the CPU.

    `map_location` makes a checkpoint of any device readable on any other; `weights_only` refuses to execute
    code in the file. Raises DamagedCheckpoint when the file is missing or damaged, and UsageError when it is
    not a checkpoint, has another format, belongs to another system than `system`, or has weights that are not
    finite.
    """
    content = read_archive(path)
    if not has_parts(content):
        raise UsageError(f"{path} is not a checkpoint of a run in this project")
    version = content.get("format", 0)  # early checkpoints have none
    if version != FORMAT:
        age = "a newer" if version > FORMAT else "an older"
        raise UsageError(f"{path} was made by {age} version of this project; use that, or start a new run")
    made_by = content["config"].get("system")
    if system is not None and made_by != system:
        raise UsageError(f"{path} is a checkpoint of {made_by}, not of {system}; name one of {system}")
    check_numbers(content["model"], path)
    return content | {"model": dict(content["model"])}  # without attributes, which load_state_dict would read


# --8<-- [end:load_checkpoint]
def has_parts(content: Any) -> bool:
    """Return whether `content` has all parts of a checkpoint, each of the right type."""
    kinds = {"model": dict, "optimizers": list, "step": int, "config": dict}
    if not isinstance(content, dict) or type(content.get("format", 0)) is not int:
        return False
    if not all(isinstance(content.get(name), kind) for name, kind in kinds.items()):
        return False
    names, weights = content["model"].keys(), content["model"].values()
    tensors = all(map(torch.is_tensor, weights)) and all(isinstance(name, str) for name in names)
    epoch = content["config"].get("steps_per_epoch", 1)
    return content["step"] >= 0 and tensors and type(epoch) is int and epoch > 0


def check_numbers(weights: dict[str, torch.Tensor], path: Path) -> None:
    """Raise UsageError, which names `path`, when a weight is NaN or infinite."""
    for name, values in weights.items():
        if not values.isfinite().all():
            raise UsageError(
                f"weights in {path} are not numbers: {name} holds NaN or infinity; name another checkpoint"
            )


def has_nan(value: Any) -> bool:
    """Return whether `value` is or holds NaN."""
    return (torch.is_tensor(value) or isinstance(value, float)) and bool(torch.as_tensor(value).isnan().any())


# --8<-- [start:read_archive]
def read_archive(path: Path) -> Any:
    """Return the content of a torch.save file, on the CPU. Raises DamagedCheckpoint and UsageError."""
    try:
        open_regular(path).close()  # torch.load would wait for a pipe
    except FileNotFoundError:
        raise DamagedCheckpoint(f"there is no checkpoint {path}") from None
    except OSError as error:
        raise UsageError(f"cannot read checkpoint {path}: {error.strerror}") from None
    if not is_whole(path):
        raise DamagedCheckpoint(f"cannot read checkpoint {path}: it is damaged or cut off")
    try:
        check_names(path)
        with warnings.catch_warnings(action="ignore"):  # strange content makes PyTorch print some
            content = torch.load(path, map_location="cpu", weights_only=True)
        check_plain(content)
        return content
    except pickle.UnpicklingError:
        raise UsageError(f"cannot read checkpoint {path}: it holds more than weights and numbers") from None
    except Exception as error:  # damage that zipfile does not notice
        if is_out_of_memory(error):
            raise
        raise DamagedCheckpoint(f"cannot read checkpoint {path}: it is damaged") from error


# --8<-- [end:read_archive]
def load_newest(folder: Path, system: str | None = None) -> tuple[dict[str, Any], Path, str | None]:
    """Return content and path of last.pt in `folder`, or of previous.pt when last.pt is unusable, and a note.

    The note is a warning for the user, or None when last.pt was read. Raises UsageError as `load_checkpoint`
    does, and when neither can be read.
    """
    last, previous = folder / "last.pt", folder / "previous.pt"
    try:
        return load_checkpoint(last, system), last, None
    except DamagedCheckpoint as damage:
        if not previous.exists():
            raise
        try:
            content = load_checkpoint(previous, system)
        except DamagedCheckpoint as second:
            raise UsageError(f"{damage}; {second}; start a new run") from None
        return content, previous, f"{damage}; taking {previous} instead"


# --8<-- [start:load_weights]
def load_weights(model: nn.Module, path: Path) -> None:
    """Load the weights of a checkpoint into `model`, on any device. Raises UsageError."""
    weights = load_checkpoint(path)["model"]
    check_weights(model, weights)
    model.load_state_dict(weights)


# --8<-- [end:load_weights]


def all_finite(model: nn.Module) -> bool:
    """Return whether all parameters are finite. Waits for the device once."""
    return bool(torch.stack([parameter.isfinite().all() for parameter in model.parameters()]).all())
