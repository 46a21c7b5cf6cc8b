"""torch.compile on the simulated device: Inductor would generate Metal programs, which nothing runs here."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import torch

WARNING = (
    "simulated_mps: torch.compile uses the backend aot_eager instead of inductor. The program is traced and "
    "differentiated, but no Metal code is generated: whether a Mac can compile it is not checked."
)


def replace_inductor() -> None:
    """Compile graphs on the device with aot_eager, and all others with Inductor as before."""
    inductor = torch._TorchCompileInductorWrapper.__call__

    def compile_graph(wrapper: object, graph: torch.fx.GraphModule, inputs: list, **options: Any) -> Callable:
        if not is_on_mps(graph):
            return inductor(wrapper, graph, inputs, **options)
        from torch._dynamo.backends.debugging import aot_eager

        warn_once()
        return aot_eager(graph, inputs)

    torch._TorchCompileInductorWrapper.__call__ = compile_graph


def is_on_mps(graph: torch.fx.GraphModule) -> bool:
    """Return whether any tensor of the graph, given or computed, is on the device."""
    values = (node.meta.get("example_value") for node in graph.graph.nodes)
    return any(isinstance(value, torch.Tensor) and value.device.type == "mps" for value in values)


@functools.cache
def warn_once() -> None:
    """Say once per process that Inductor was not used."""
    warnings.warn(WARNING, stacklevel=2)
