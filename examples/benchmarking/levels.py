"""What a benchmark compares: a device, a precision, compiled or not. Written `mps+bf16+compile`."""

import platform
from dataclasses import dataclass

from snippets.device import why_not_cuda, why_not_mps
from snippets.errors import UsageError

DEVICES = ("cpu", "mps", "cuda")
PRECISIONS = ("fp32", "bf16", "fp16")
OBSTACLES = {"cpu": lambda: None, "mps": why_not_mps, "cuda": why_not_cuda}


@dataclass(frozen=True)
class Level:
    """One way to train: its name is the device, then what is not the default."""

    device: str
    precision: str = "fp32"
    compiled: bool = False

    @property
    def name(self) -> str:
        """The level as the user writes it."""
        precision = "" if self.precision == "fp32" else f"+{self.precision}"
        return self.device + precision + ("+compile" if self.compiled else "")

    @property
    def obstacle(self) -> str | None:
        """Why this machine does not have the device, or None when it does."""
        return OBSTACLES[self.device]()

    def options(self) -> dict[str, object]:
        """Return the level as options of a training script."""
        return {"device": self.device, "precision": self.precision} | (
            {"compile": True} if self.compiled else {}
        )


def parse_level(text: str) -> Level:
    """Return the level called `text`. Raises UsageError for a word that no level has, or has twice."""
    device, *words = text.split("+")
    precision = [word for word in words if word in PRECISIONS]
    compiled = words.count("compile")
    known = len(precision) + compiled == len(words)
    if device not in DEVICES or not known or len(precision) > 1 or compiled > 1:
        raise UsageError(
            f"--levels: unknown level {text!r}; write a device ({', '.join(DEVICES)}), "
            "then +bf16 or +fp16, then +compile: mps+bf16+compile"
        )
    return Level(device, precision[0] if precision else "fp32", bool(compiled))


def parse_levels(text: str) -> list[Level]:
    """Return the levels of a list with commas, in its order. Raises UsageError, also for a level twice."""
    levels = [parse_level(word.strip()) for word in text.split(",")]
    if len(set(levels)) < len(levels):
        raise UsageError(f"--levels {text}: a level is there twice")
    return levels


def default_levels() -> list[Level]:
    """Return the CPU and three steps on this machine's GPU, each adding one thing to the one before.

    Without a GPU: what a CPU can do, and the GPUs that are missing, whose rows say why. There, compiling is
    measured on its own: bf16 makes a CPU without instructions for it slower.
    """
    for device in ("cuda", "mps"):
        if OBSTACLES[device]() is None:
            return [Level("cpu"), Level(device), Level(device, "bf16"), Level(device, "bf16", True)]
    missing = [Level("mps")] if platform.system() == "Darwin" else [Level("mps"), Level("cuda")]
    return [Level("cpu"), Level("cpu", "bf16"), Level("cpu", compiled=True), *missing]
