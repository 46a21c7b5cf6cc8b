"""Record which operators a piece of code calls, backward pass and optimizer included."""

from collections import Counter
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from snippets.operator_support import ALWAYS_ON_CPU, MISSING, Operator, plain_name, support


# --8<-- [start:recorder]
class OperatorRecorder(TorchDispatchMode):
    """Counts the operators that reach the device inside `with OperatorRecorder() as recorder:`.

    PyTorch has then split composite operators, so `recorder.counts` holds their parts. Use it for a step or
    two only, because it slows down every call.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Count the operator, then run it. PyTorch calls this once per operator."""
        self.counts[plain_name(str(operator))] += 1
        return operator(*args, **(kwargs or {}))


# --8<-- [end:recorder]
# --8<-- [start:missing]
def missing_on_mps(counts: Counter[str], operators: dict[str, Operator]) -> dict[str, int]:
    """Return the recorded operators without an MPS kernel, with their counts, recorded on any device.

    Operators that only the CPU uses are left out, because PyTorch calls others on MPS. Operators of other
    libraries (`torchvision::nms`) are not in PyTorch's list and are left out, too.
    """
    known = {name: count for name, count in counts.items() if name in operators}
    return {
        name: count
        for name, count in known.items()
        if name in ALWAYS_ON_CPU or support(name, operators) == MISSING
    }


# --8<-- [end:missing]
