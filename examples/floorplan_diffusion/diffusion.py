"""Denoising diffusion: noise is added in steps, and removed again by a network that predicts it.

Ho, Jain and Abbeel, Denoising Diffusion Probabilistic Models, 2020; the cosine schedule is from Nichol and
Dhariwal, 2021, sampling in fewer steps (DDIM) from Song, Meng and Ermon, 2020.
"""

import math
from collections.abc import Callable, Iterator

import torch

STEPS = 1000
Predict = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # noisy samples, steps (batch,) → noise


# --8<-- [start:schedule]
def cosine_betas(steps: int = STEPS) -> torch.Tensor:
    """Return the share of noise that each step adds, float64 (steps,), from almost none to 0.999."""
    at = torch.arange(steps + 1, dtype=torch.float64) / steps
    kept = torch.cos((at + 0.008) / 1.008 * math.pi / 2) ** 2
    return (1 - kept[1:] / kept[:-1]).clamp(max=0.999)


class Schedule:
    """The share of signal and noise at each step, on a device, in float32, since MPS has no float64."""

    def __init__(self, device: torch.device, steps: int = STEPS) -> None:
        betas = cosine_betas(steps)
        kept = (1 - betas).cumprod(0)
        self.steps, self.device = steps, device
        self.betas = betas.float().to(device)
        self.signal = kept.sqrt().float().to(device)
        self.noise = (1 - kept).sqrt().float().to(device)
        self.kept = kept.tolist()  # for the scalar arithmetic of sampling

    def add_noise(self, clean: torch.Tensor, noise: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        """Return samples (batch, …) with the noise of `steps` (batch,), from 0 to the last."""
        return each(self.signal[steps], clean) * clean + each(self.noise[steps], clean) * noise

    def clean(self, noisy: torch.Tensor, noise: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        """Return the samples without the predicted noise, clipped to -1 … 1."""
        clean = (noisy - each(self.noise[steps], noisy) * noise) / each(self.signal[steps], noisy)
        return clean.clamp(-1, 1)


def each(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return one value per sample, (batch,), in a shape that multiplies samples (batch, …)."""
    return values.view(-1, *[1] * (like.dim() - 1))


# --8<-- [end:schedule]
# --8<-- [start:sample]
def chosen_steps(total: int, count: int) -> list[int]:
    """Return `count` equally spaced steps from 0 to total - 1, in descending order."""
    return torch.linspace(total - 1, 0, count).round().int().tolist()


def sample(
    predict: Predict,
    schedule: Schedule,
    shape: tuple[int, ...],
    generator: torch.Generator,
    *,
    steps: int = STEPS,
    eta: float = 1.0,
) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield each step and the noisy sample after it, from pure noise to the clean sample at step -1.

    With all steps and `eta` 1 this is DDPM sampling, with fewer steps and `eta` 0 it is DDIM. Random numbers
    are drawn on the CPU, so that they are equal on every device.
    """
    device = schedule.device
    x = torch.randn(shape, generator=generator).to(device)
    times = chosen_steps(schedule.steps, steps)
    yield times[0], x
    for now, then in zip(times, [*times[1:], -1], strict=True):
        at = torch.full((shape[0],), now, device=device)
        clean = schedule.clean(x, predict(x, at), at)
        x = step_back(clean, x, schedule, now, then, eta)
        if then >= 0 and eta:
            spread = eta * deviation(schedule, now, then)
            x = x + spread * torch.randn(shape, generator=generator).to(device)
        yield then, x


def deviation(schedule: Schedule, now: int, then: int) -> float:
    """Return the standard deviation of the noise that DDPM adds between two steps."""
    kept, before = schedule.kept[now], schedule.kept[then]
    return math.sqrt((1 - before) / (1 - kept) * (1 - kept / before))


def step_back(
    clean: torch.Tensor, x: torch.Tensor, schedule: Schedule, now: int, then: int, eta: float
) -> torch.Tensor:
    """Return the sample at step `then`, before new noise, from the predicted clean sample."""
    if then < 0:
        return clean
    kept, before = schedule.kept[now], schedule.kept[then]
    noise = (x - math.sqrt(kept) * clean) / math.sqrt(1 - kept)
    left = math.sqrt(max(0.0, 1 - before - (eta * deviation(schedule, now, then)) ** 2))
    return math.sqrt(before) * clean + left * noise


# --8<-- [end:sample]
