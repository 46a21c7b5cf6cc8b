"""Labels: the usefulness of each indicator, and its expected value."""

from dataclasses import dataclass

import torch


# --8<-- [start:usefulness]
def usefulness(calls: torch.Tensor, future_return: torch.Tensor) -> torch.Tensor:
    """Return the usefulness of each indicator (n, indicators), from 0 to 1: the label of the network.

    An indicator whose call (n, indicators; -1 to 1) has the direction of `future_return` (n, 1) scores the
    strength of its call, the others 0. Each row is divided by its largest score, unless that is 0.
    """
    scores = (calls * future_return.sign()).clamp(min=0)
    return scores / scores.amax(1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


def expected_usefulness(calls: torch.Tensor, chance_of_rise: torch.Tensor) -> torch.Tensor:
    """Return the label's mean (n, indicators) when prices rise with probability `chance_of_rise` (n, 1)."""
    up = torch.ones_like(chance_of_rise)
    return chance_of_rise * usefulness(calls, up) + (1 - chance_of_rise) * usefulness(calls, -up)


# --8<-- [end:usefulness]
# --8<-- [start:optimum]
@dataclass(frozen=True)
class Optimum:
    """The mean scores of ideal forecasters on samples: cross-entropies in nats, accuracy from 0 to 1."""

    best_bce: float  # knowing the probability of a rise
    blind_bce: float | None  # knowing the calls, but with equal probabilities of rise and fall
    best_accuracy: float  # of the direction


def known_optimum(calls: torch.Tensor, chance_of_rise: torch.Tensor) -> Optimum:
    """Return the optimum on samples with these calls (n, indicators) and probabilities of a rise (n, 1).

    Cross-entropy is linear in the label, so in expectation the best prediction is the label's mean m, and its
    loss is the entropy -m·log m - (1-m)·log(1-m).
    """
    calls, chance = calls.double(), chance_of_rise.double()
    best, blind = (
        binary_entropy(expected_usefulness(calls, known)).mean().item()
        for known in (chance, torch.full_like(chance, 0.5))
    )
    return Optimum(best, blind, torch.maximum(chance, 1 - chance).mean().item())


def binary_entropy(p: torch.Tensor) -> torch.Tensor:
    """Return the entropy in nats of events with the probabilities `p`."""
    return torch.special.entr(p) + torch.special.entr(1 - p)


# --8<-- [end:optimum]
