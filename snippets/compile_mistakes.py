"""A try block around torch.compile that looks right and catches nothing."""

from collections.abc import Callable

import torch
from torch import nn


# --8<-- [start:try_around_compile]
def compile_and_catch(module: nn.Module, backend: str | Callable) -> Callable:
    """Return what torch.compile returns. A mistake: nothing has been compiled yet when it returns."""
    try:
        return torch.compile(module, backend=backend)
    except Exception:
        return module


# --8<-- [end:try_around_compile]
