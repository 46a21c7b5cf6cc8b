"""The levels that a benchmark compares: device, precision and switches, as in `mps+bf16+compile+fused`."""

import platform
from dataclasses import dataclass

from examples.programs.speed import MEASURED, why_off
from snippets.device import why_not_cuda, why_not_mps
from snippets.errors import UsageError

DEVICES = ("cpu", "mps", "cuda")
PRECISIONS = ("fp32", "bf16", "fp16")
SWITCHES = tuple(name.replace("_", "-") for name in MEASURED)
OBSTACLES = {"cpu": lambda: None, "mps": why_not_mps, "cuda": why_not_cuda}


@dataclass(frozen=True)
class Level:
    """A device, precision and switches that are on; the name lists the device and what is not the default."""

    device: str
    precision: str = "fp32"
    compiled: bool = False
    switches: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The level as the user writes it."""
        precision = () if self.precision == "fp32" else (self.precision,)
        return "+".join([self.device, *precision, *["compile"] * self.compiled, *self.switches])

    @property
    def switch_options(self) -> list[str]:
        """The names that the training programs have for the switches."""
        return [word.replace("-", "_") for word in self.switches]

    @property
    def obstacle(self) -> str | None:
        """The reason why this machine lacks the device or the device a switch, or None when it can run."""
        if missing := OBSTACLES[self.device]():
            return missing
        reasons = (why_off(name, self.device) for name in self.switch_options)
        return next((f"{word}: {why}" for word, why in zip(self.switches, reasons, strict=True) if why), None)

    def options(self) -> dict[str, object]:
        """Return the options of a training program for this level."""
        on = [*self.switch_options, *["compile"] * self.compiled]
        return {"device": self.device, "precision": self.precision, **dict.fromkeys(on, True)}


def parse_level(text: str) -> Level:
    """Return the level named `text`. Raises UsageError for an unknown or repeated word."""
    device, *words = text.split("+")
    precision = [word for word in words if word in PRECISIONS]
    known = set(words) <= {*PRECISIONS, "compile", *SWITCHES} and len(set(words)) == len(words)
    if device not in DEVICES or not known or len(precision) > 1:
        raise UsageError(
            f"--levels: unknown level {text!r}; write a device ({', '.join(DEVICES)}), then +bf16 or +fp16, "
            f"then +compile: mps+bf16+compile, then others of +{', +'.join(SWITCHES)}"
        )
    switches = tuple(word for word in SWITCHES if word in words)
    return Level(device, precision[0] if precision else "fp32", "compile" in words, switches)


def parse_levels(text: str) -> list[Level]:
    """Return the levels of a comma-separated list. Raises UsageError, also for a repeated level."""
    levels = [parse_level(word.strip()) for word in text.split(",")]
    if len(set(levels)) < len(levels):
        raise UsageError(f"--levels {text}: a level is there twice")
    return levels


def default_levels() -> list[Level]:
    """Return the CPU and three steps on this machine's GPU, each adding one thing to the one before.

    Without a GPU: the CPU, the CPU with compilation, and the missing GPUs, whose rows give the reason. bf16
    is left out, because it slows down a CPU without instructions for it.
    """
    for device in ("cuda", "mps"):
        if OBSTACLES[device]() is None:
            return [Level("cpu"), Level(device), Level(device, "bf16"), Level(device, "bf16", True)]
    missing = [Level("mps")] if platform.system() == "Darwin" else [Level("mps"), Level("cuda")]
    return [Level("cpu"), Level("cpu", "bf16"), Level("cpu", compiled=True), *missing]
