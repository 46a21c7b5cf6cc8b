"""Find the calls in which the CPU waits for the GPU, and their lines in the program."""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

NOT_THE_PROGRAM = (str(Path(torch.__file__).parent), __file__)
COPIES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


# --8<-- [start:wait_finder]
class WaitFinder(TorchDispatchMode):
    """While entered, counts the calls in which the CPU has to wait for `device`, by reason and line.

    It waits when Python reads a number from the device (`.item()`, `float()`, `if`), when the size of a
    result depends on values (`nonzero`, `unique`, a mask as index), and in a copy to or from the CPU that is
    not `non_blocking`. Calls are neither timed nor changed.
    """

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.device = device
        self.waits: Counter[tuple[str, str]] = Counter()

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Count the call if the CPU waits in it, then run it."""
        if reason := self.why(call, args, kwargs or {}):
            self.waits[reason, calling_line()] += 1
        return call(*args, **(kwargs or {}))

    def why(self, call: Any, args: Any, kwargs: dict[str, Any]) -> str | None:
        """Return why the CPU waits in `call`, or None."""
        if call in COPIES:
            source, target, overlaps = ends_of_copy(call, args, kwargs)
            waits = source != target and self.device.type in (source, target) and not overlaps
            return f"copy from {source} to {target}" if waits else None
        if not any(is_on(value, self.device) for value in args):
            return None
        if call == torch.ops.aten.lift_fresh.default and self.device.type != "cpu":
            return f"copy from cpu to {self.device.type} by torch.tensor()"
        if torch.Tag.data_dependent_output in call.tags:
            return "a number for Python"
        if torch.Tag.dynamic_output_shape in call.tags and not has_plain_indices(call, args):
            return f"a result whose size depends on values: {call.overloadpacket}"
        return None


# --8<-- [end:wait_finder]
def is_on(value: Any, device: torch.device) -> bool:
    """Return whether `value` is a tensor on a device of that type."""
    return isinstance(value, torch.Tensor) and value.device.type == device.type


def ends_of_copy(call: Any, args: Any, kwargs: dict[str, Any]) -> tuple[str, str, bool]:
    """Return the device types that `call` copies from and to, and whether it is non_blocking."""
    if call == torch.ops.aten.copy_.default:
        return args[1].device.type, args[0].device.type, args[2:3] == (True,)
    target = torch.device(kwargs.get("device") or args[0].device)
    return args[0].device.type, target.type, bool(kwargs.get("non_blocking"))


def has_plain_indices(call: Any, args: Any) -> bool:
    """Return whether `call` indexes with integers, so that the result's size depends on no values."""
    masks = (torch.bool, torch.uint8)
    return call == torch.ops.aten.index.Tensor and not any(
        index is not None and index.dtype in masks for index in args[1]
    )


def calling_line() -> str:
    """Return `file:line` of the innermost frame that belongs neither to PyTorch nor to this file."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(NOT_THE_PROGRAM):
        frame = frame.f_back
    if frame is None:  # on a GPU, the backward pass runs in another thread
        return "in the backward pass"
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
