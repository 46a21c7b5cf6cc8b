"""Gradients that operators lack on MPS only: PyTorch's autograd raises the errors, this tells of them."""

import functools
import re
from typing import Any

import torch

from simulated_mps import findings

EVENT = "no gradient"
# Texts of derivatives.yaml and of torch/csrc/autograd, about operators that only MPS has as one.
ERRORS = (
    (re.compile(r"max_pool2d with `return_indices=False` is not infinitely differentiable"), "max_pool2d"),
    (re.compile(r"derivative for \S*?(\w*mps\w*|linear_backward) is not implemented"), None),
    (
        re.compile(r"Trying to use forward AD with (linear|max_pool2d|\w*mps\w*) that does not"),
        None,
    ),
)


def operator_in(text: str) -> str | None:
    """Return the operator of which MPS lacks the gradient, by an error's text; None for another error."""
    for pattern, operator in ERRORS:
        if match := pattern.search(text):
            return f"aten::{operator or match[1]}"
    return None


def note_if_missing(error: BaseException, *, ended: bool = True) -> None:
    """Count an error once if it tells of such a gradient, where it came from or, not `ended`, where it is."""
    operator = operator_in(str(error))
    if operator is None or getattr(error, "is_noted", False):
        return
    error.is_noted = True  # type: ignore[attr-defined]
    if ended:
        findings.note_error(EVENT, operator, error.__traceback__)
    else:
        findings.note(EVENT, operator)


def listen_to_backward() -> None:
    """Hear of errors in backward passes, also of those that the program catches."""
    run = torch.autograd.graph._engine_run_backward

    @functools.wraps(run)
    def _engine_run_backward(*arguments: Any, **options: Any) -> Any:
        try:
            return run(*arguments, **options)
        except (RuntimeError, NotImplementedError) as error:
            note_if_missing(error, ended=False)
            raise

    for module in (torch.autograd, torch.autograd.graph):
        module._engine_run_backward = _engine_run_backward
