"""A table of six optimizers: SGD, Adam, AdamW, RAdam, Lion, Muon."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from snippets.errors import UsageError
from snippets.learning_rate import cosine


# --8<-- [start:lion]
class Lion(torch.optim.Optimizer):
    """Lion: a step of fixed size lr, in the direction of the sign of a mixed momentum.

    Formula: Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023, algorithm 2. It stores one
    number per weight, Adam stores two. Because every weight changes by lr, lr is 3 to 10 times smaller than
    for AdamW, and the weight decay larger by the same factor.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        lr: float,
        weight_decay: float = 0.0,
        betas: tuple[float, float] = (0.9, 0.99),
    ) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "betas": betas})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Update every parameter that has a gradient."""
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["momentum"] = torch.zeros_like(weight)
                momentum = state["momentum"]
                direction = (beta1 * momentum + (1 - beta1) * weight.grad).sign()
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(direction, alpha=-group["lr"])
                momentum.mul_(beta2).add_(weight.grad, alpha=1 - beta2)


# --8<-- [end:lion]
# --8<-- [start:muon]
def muon_for_filters(
    model: nn.Module, lr: float, weight_decay: float, fused: bool | None = None
) -> list[torch.optim.Optimizer]:
    """Return Muon for the convolution filters of `model` and AdamW (lr 1e-3) for all its other parameters.

    `torch.optim.Muon` supports only matrices. A filter (out, in, height, width) is viewed as a matrix
    (out, in·height·width), so that updates of the view change the filter.
    Raises UsageError when PyTorch has no Muon, and for channels-last filters, which have no such view.
    """
    if not hasattr(torch.optim, "Muon"):
        raise UsageError(f"--optimizer muon: PyTorch {torch.__version__} has no torch.optim.Muon; upgrade it")
    filters = [weight for weight in model.parameters() if weight.ndim == 4]
    others = [weight for weight in model.parameters() if weight.ndim != 4]
    if not all(weight.is_contiguous() for weight in filters):
        raise UsageError("--optimizer muon cannot train channels-last filters; leave --channels-last out")
    matrices = [weight.detach().flatten(1) for weight in filters]
    muon = torch.optim.Muon(matrices, lr=lr, weight_decay=weight_decay)

    def lend_gradients(*_: object) -> None:
        for weight, matrix in zip(filters, matrices, strict=True):
            matrix.grad = weight.grad.flatten(1)

    def return_gradients(*_: object) -> None:
        for weight, matrix in zip(filters, matrices, strict=True):
            weight.grad = matrix.grad = None  # no optimizer has the filters and would clear their gradients

    muon.register_step_pre_hook(lend_gradients)
    muon.register_step_post_hook(return_gradients)
    return [muon, torch.optim.AdamW(others, lr=1e-3, weight_decay=0.0, fused=fused or None)]


# --8<-- [end:muon]


def single(
    optimizer: Callable[..., torch.optim.Optimizer],
    model: nn.Module,
    lr: float,
    weight_decay: float,
    fused: bool | None = None,
) -> list[torch.optim.Optimizer]:
    """Return one optimizer for all parameters of `model`. Raises UsageError when it cannot be fused."""
    switch = {"fused": True} if fused else {}
    try:
        return [optimizer(model.parameters(), lr=lr, weight_decay=weight_decay, **switch)]
    except TypeError:
        raise UsageError("--fused is for --optimizer sgd, adam, adamw and muon; leave it out") from None


# --8<-- [start:optimizers]
@dataclass(frozen=True)
class Recipe:
    """Default learning rate and weight decay of an optimizer, and how to build it for a model."""

    lr: float
    weight_decay: float
    build: Callable[..., list[torch.optim.Optimizer]]  # network, rate, decay, fused


OPTIMIZERS = {
    "sgd": Recipe(0.1, 5e-4, partial(single, partial(torch.optim.SGD, momentum=0.9))),
    "adam": Recipe(1e-3, 0.0, partial(single, torch.optim.Adam)),  # its decay is an L2 term, so keep 0
    "adamw": Recipe(1e-3, 0.01, partial(single, torch.optim.AdamW)),
    "radam": Recipe(1e-3, 1e-3, partial(single, torch.optim.RAdam)),  # also L2: 0.01 would be far too much
    "lion": Recipe(1e-4, 0.01, partial(single, Lion)),
    "muon": Recipe(0.02, 0.0, muon_for_filters),
}
# --8<-- [end:optimizers]


def make_schedule(
    optimizer: torch.optim.Optimizer, name: str, total_steps: int
) -> torch.optim.lr_scheduler.LambdaLR:
    """Return a schedule to be stepped after each optimizer step: "cosine" falls to 0, "constant" stays."""

    def factor(step: int) -> float:
        return cosine(step, total_steps) if name == "cosine" else 1.0

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


SCHEDULES = ("cosine", "constant")
