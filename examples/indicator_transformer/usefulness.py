"""Labels: how useful each indicator turned out to be, and how useful it can be expected to be."""

from dataclasses import dataclass

import torch


# --8<-- [start:usefulness]
def usefulness(calls: torch.Tensor, future_return: torch.Tensor) -> torch.Tensor:
    """Return how useful each indicator was (n, indicators), from 0 to 1: the label that the network learns.

    An indicator that called (n, indicators; -1 to 1) the direction of `future_return` (n, 1) scores the
    strength of its call, the others 0. Each row is divided by its largest score, if anybody was right.
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
    """What forecasters reach on average on given samples: cross-entropies in nats, accuracy from 0 to 1."""

    best_bce: float  # who knows the chance of a rise
    blind_bce: float | None  # who knows the calls, but takes rise and fall for equally likely
    best_accuracy: float  # of the direction


def known_optimum(calls: torch.Tensor, chance_of_rise: torch.Tensor) -> Optimum:
    """Return what can be reached on samples with these calls (n, indicators) and chances of a rise (n, 1).

    Cross-entropy is linear in the label, so on average over the future the best prediction is the label's
    mean m, and what remains is its entropy, -m·log m - (1-m)·log(1-m).
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
