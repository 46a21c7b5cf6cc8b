"""What a Mac may do and the simulation cannot: an error of one line, and no finding that fails a gate."""

from collections.abc import Callable
from typing import Any, NoReturn

from simulated_mps import findings

EVENT = "limit"


def out_of_reach(function: str, does: str) -> Callable[..., NoReturn]:
    """Return what stands in for `function`, which `does` something that needs a GPU of Apple."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        findings.note(EVENT, function)
        raise RuntimeError(f"simulated_mps: the simulated device cannot {does}, a Mac can ({function})")

    return refuse


# By their names in torch._C. Without the first three, PyTorch's error is that MPS is not available.
FUNCTIONS = {
    "_mps_compileShader": out_of_reach("torch.mps.compile_shader", "compile Metal shaders"),
    "_mps_loadMetalllib": out_of_reach("torch.mps.load_metallib", "load Metal libraries"),
    "_mps_loadMetallibFromPath": out_of_reach("torch.mps.load_metallib", "load Metal libraries"),
    "_mps_startCapture": out_of_reach("torch.mps.profiler.metal_capture", "capture Metal's commands"),
}
