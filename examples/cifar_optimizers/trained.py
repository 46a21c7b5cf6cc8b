"""Load the trained network of a run, with all that prediction and export need."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from examples.cifar_optimizers.cifar import CIFAR
from examples.cifar_optimizers.data_sources import load_digits
from examples.cifar_optimizers.model import ResNet18
from examples.cifar_optimizers.options import Options, read_command_line
from examples.programs.options import check_saved, of_this_version
from examples.programs.trained import filled, load_best
from snippets.errors import UsageError


@dataclass(frozen=True)
class Trained:
    """A trained network on the CPU, in evaluation mode, and how its pictures are prepared."""

    network: ResNet18
    options: Options
    step: int
    checkpoint: Path
    note: str | None  # for the user
    names: tuple[str, ...]  # of the classes; numbers where the run has none
    mean: torch.Tensor  # (3, 1, 1)
    std: torch.Tensor  # (3, 1, 1)


def load_trained(path: Path) -> Trained:
    """Return the best network of a run folder, or that of a checkpoint. Raises UsageError."""
    content, checkpoint, note = load_best(path, "cifar_optimizers")
    config = content["config"]
    saved = config.get("options")
    if not of_this_version(saved, Options):
        raise UsageError(f"{checkpoint} was made by another version of this program; train again")
    check_saved({"options": saved}, read_command_line, Options, checkpoint)
    options = Options(**saved)
    head = content["model"].get("head.weight")
    if head is None or head.ndim != 2:
        raise UsageError(f"{checkpoint} is of another network: it has no last layer")
    network = filled(lambda: ResNet18(len(head), options.width), content["model"])
    names, (mean, std) = class_names(config, len(head)), statistics(config, options)
    return Trained(network, options, content["step"], checkpoint, note, names, mean, std)


def class_names(config: dict[str, Any], classes: int) -> tuple[str, ...]:
    """Return the names of the classes in a configuration, which may have been edited, or their numbers."""
    names = config.get("class_names")
    if isinstance(names, list) and len(names) == classes and all(isinstance(name, str) for name in names):
        return tuple(names)
    return tuple(map(str, range(classes)))


def statistics(config: dict[str, Any], options: Options) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and deviation of the training images, each (3, 1, 1); runs of older versions lack them."""
    found = [config.get(name) for name in ("mean", "std")]
    if all(is_triple(values) for values in found) and min(found[1]) > 0:  # type: ignore[type-var, arg-type]
        mean, std = (torch.tensor(values, dtype=torch.float32).view(3, 1, 1) for values in found)
        return mean, std
    if options.data_name in CIFAR:
        cifar = CIFAR[options.data_name]
        return torch.tensor(cifar.mean).view(3, 1, 1), torch.tensor(cifar.std).view(3, 1, 1)
    if options.data_name == "digits":
        data = load_digits(options.image_size)
        return data.mean, data.std
    return torch.zeros(3, 1, 1), torch.ones(3, 1, 1)  # of generated images


def is_triple(values: Any) -> bool:
    """Return whether `values` are three finite numbers."""
    return (
        isinstance(values, list)
        and len(values) == 3
        and all(isinstance(value, float) and math.isfinite(value) for value in values)
    )
