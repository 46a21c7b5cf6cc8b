"""Choose the number format to compute in, and check that autocast uses it.

`python -m snippets.precision` prints the choice for this machine; `python -m snippets.precision bf16`
requires bf16.
"""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from snippets.device import macos_version, pick_device
from snippets.errors import Option, UsageError, exit_with_one_line

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
NAMES = ("auto", *DTYPES)


# --8<-- [start:precision]
@dataclass(frozen=True)
class Precision:
    """The format that matrix products and convolutions compute in. Parameters stay float32 in all of them."""

    device: torch.device
    dtype: torch.dtype
    name: str  # "fp32", "bf16" or "fp16"
    reason: str

    def autocast(self) -> contextlib.AbstractContextManager:
        """Return a new autocast context for the forward pass and the loss, but not the backward pass."""
        if self.dtype == torch.float32:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=self.dtype)  # without dtype, MPS uses float16

    def scaler(self) -> torch.amp.GradScaler:
        """Return a new gradient scaler, which is enabled only for fp16; a disabled one changes nothing."""
        return torch.amp.GradScaler(self.device.type, enabled=self.dtype == torch.float16)


# --8<-- [end:precision]
# --8<-- [start:mps_rules]
def why_not_on_mps(name: str) -> str | None:
    """Return why this PyTorch or macOS cannot train in format `name` on MPS, or None when it can."""
    if name == "fp32":
        return None
    if name == "fp16":  # autocast supports it since 2.5, but without a scaler small gradients become 0
        return None if torch.__version__ >= (2, 8) else "needs PyTorch 2.8 on MPS for the GradScaler"
    if torch.__version__ < (2, 6):  # 2.5 warns and computes in float32; 2.0 to 2.4 raise
        return "needs PyTorch 2.6 on MPS"
    macos = macos_version()  # empty on other systems
    if macos and int(macos.split(".")[0]) < 14:
        return "needs macOS 14 on MPS"
    return None


# --8<-- [end:mps_rules]
# --8<-- [start:proof]
def dtype_inside(precision: Precision) -> torch.dtype:
    """Return the dtype of a product of two float32 matrices inside `precision.autocast()`."""
    with precision.autocast():
        ones = torch.ones(8, 8, device=precision.device)
        return (ones @ ones).dtype


def prove(precision: Precision) -> None:
    """Raise UsageError unless `precision` takes effect; PyTorch may only warn of an unsupported format."""
    cure = "use fp32" if precision.name == "bf16" else "use bf16 or fp32"
    where = Option("precision", precision.name), f" cannot be used on {precision.device}: "
    try:
        found = dtype_inside(precision)
    except (RuntimeError, TypeError, AssertionError) as error:  # a build without CUDA raises AssertionError
        raise UsageError(*where, f"{error}; {cure}") from error
    if found != precision.dtype:
        raise UsageError(*where, f"inside autocast a product is {found}; {cure}")
    if precision.name == "fp16" and not precision.scaler().is_enabled():
        raise UsageError(*where, f"its gradients cannot be scaled; {cure}")


# --8<-- [end:proof]
# --8<-- [start:pick_precision]
def pick_precision(wanted: str, device: torch.device) -> Precision:
    """Return the format to train in on `device`, with the reason as text.

    `wanted` is one of NAMES. "auto" means bf16 on CUDA GPUs that have it, and fp32 everywhere else. Raises
    UsageError for any other word, and for a format that this machine cannot train in.
    """
    if wanted not in NAMES:
        raise UsageError(f"unknown precision {wanted!r}; choose {', '.join(NAMES)}")
    name, reason = choose_automatically(device) if wanted == "auto" else (wanted, "as requested")
    obstacle = why_not_on_mps(name) if device.type == "mps" else None
    if obstacle is not None:
        others = " or ".join(other for other in ("bf16", "fp32") if why_not_on_mps(other) is None)
        version = f"this is PyTorch {torch.__version__} on macOS {macos_version() or 'unknown'}"
        raise UsageError(Option("precision", name), f" {obstacle}, and {version}; use {others}")
    precision = Precision(device, DTYPES[name], name, reason)
    prove(precision)
    return precision


def choose_automatically(device: torch.device) -> tuple[str, str]:
    """Return the name of the format for `device`, and why."""
    if device.type != "cuda":
        return "fp32", f"automatic choice; measure whether bf16 is faster on {device.type.upper()}"
    if torch.cuda.is_bf16_supported(including_emulation=False):
        return "bf16", "automatic choice; this GPU computes in bfloat16"
    return "fp32", "automatic choice; this GPU can only emulate bfloat16"


# --8<-- [end:pick_precision]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the chosen precision, and the dtype of a matrix product inside it."""
    words = list(sys.argv[1:] if argv is None else argv)
    if len(words) > 2:
        raise UsageError(f"expected at most a precision and a device, got {' '.join(words)!r}")
    wanted, device = (words + ["auto", "auto"][len(words) :])[:2]
    precision = pick_precision(wanted, pick_device(device)[0])
    print(f"precision: {precision.name} on {precision.device} ({precision.reason})")
    print(f"a product of two float32 matrices inside autocast: {dtype_inside(precision)}")
    print(f"gradient scaler: {'on' if precision.scaler().is_enabled() else 'off'}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
