"""The schedule against its published formula, and sampling against distributions that are known."""

import math
from itertools import pairwise

import numpy
import pytest
import torch

from examples.floorplan_diffusion.diffusion import (
    STEPS,
    Schedule,
    chosen_steps,
    cosine_betas,
    deviation,
    sample,
    step_back,
)
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.node_network import CHANNELS, node_tensor
from examples.floorplan_diffusion.sampled_corners import corners_of

CPU = torch.device("cpu")
SCHEDULE = Schedule(CPU)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def last_of(predict, shape, seed=0, **settings):
    """Return what sampling ends with; nothing may follow it."""
    found = list(sample(predict, SCHEDULE, shape, seeded(seed), **settings))
    assert [step for step, _ in found[-2:]] == [0, -1]
    return found[-1][1]


# ---- The schedule ----


def kept_by_formula(step):
    """Nichol and Dhariwal, equation 17: f(t) / f(0) after `step` steps, s being 0.008."""
    f = [math.cos((t / 1000 + 0.008) / 1.008 * math.pi / 2) ** 2 for t in (step, 0)]
    return f[0] / f[1]


def test_betas_are_those_of_the_paper():
    betas = cosine_betas()
    assert betas.shape == (1000,) and betas.dtype == torch.float64
    # With a pocket calculator: 1 - cos²(0.0140249) / cos²(0.0124666), and with the slope of ln cos² in the
    # middle of the step 1 - exp(-2·tan(0.790853) · 0.00155833).
    assert betas[0].item() == pytest.approx(4.128e-5, rel=1e-3)
    assert betas[499].item() == pytest.approx(3.1459e-3, rel=1e-4)
    assert betas[999].item() == 0.999
    assert (betas > 0).all() and (betas.diff() >= 0).all()
    by_hand = [1 - kept_by_formula(t + 1) / kept_by_formula(t) for t in range(999)]
    assert betas[:999].tolist() == pytest.approx(by_hand, rel=1e-9)


def test_kept_share_falls_from_one_to_zero():
    kept = SCHEDULE.kept
    assert all(before > after > 0 for before, after in pairwise(kept))
    assert kept[:999] == pytest.approx([kept_by_formula(t) for t in range(1, 1000)], rel=1e-9)
    assert kept[499] == pytest.approx(0.4938, abs=1e-4)  # half of the variance after half of the steps
    assert kept[0] > 0.9999 and kept[-1] < 1e-8
    assert (SCHEDULE.signal**2 + SCHEDULE.noise**2).sub(1).abs().max() < 1e-6
    for values in (SCHEDULE.betas, SCHEDULE.signal, SCHEDULE.noise):
        assert values.dtype == torch.float32 and values.isfinite().all() and values.shape == (STEPS,)


@pytest.mark.parametrize("step", [0, 250, 700, 999])
def test_added_noise_has_the_variance_that_is_not_kept(step):
    noise = torch.randn(200_000, 1, generator=seeded())
    steps = torch.full((len(noise),), step)
    noisy = SCHEDULE.add_noise(torch.full_like(noise, 0.5), noise, steps)
    kept = kept_by_formula(step + 1)
    assert noisy.mean().item() == pytest.approx(
        0.5 * math.sqrt(kept), abs=4 * math.sqrt((1 - kept) / 200_000)
    )
    assert noisy.var().item() == pytest.approx(1 - kept, rel=0.015)


def test_noise_is_added_and_removed_per_sample_step():
    clean = torch.rand(4, 3, 2, generator=seeded()) * 1.8 - 0.9
    noise, steps = torch.randn(clean.shape, generator=seeded(1)), torch.tensor([0, 300, 600, 900])
    noisy = SCHEDULE.add_noise(clean, noise, steps)
    for index, step in enumerate(steps.tolist()):
        kept = kept_by_formula(step + 1)
        expected = math.sqrt(kept) * clean[index] + math.sqrt(1 - kept) * noise[index]
        torch.testing.assert_close(noisy[index], expected)
    torch.testing.assert_close(SCHEDULE.clean(noisy, noise, steps), clean, atol=1e-5, rtol=1e-5)


def test_what_seems_clean_stays_on_the_canvas():
    noisy, steps = torch.tensor([[3.0], [-3.0]]), torch.tensor([10, 10])
    assert SCHEDULE.clean(noisy, torch.zeros_like(noisy), steps).tolist() == [[1], [-1]]


# ---- Sampling ----


def test_steps_are_chosen_at_equal_distances():
    assert chosen_steps(1000, 1000) == list(range(999, -1, -1))
    assert chosen_steps(1000, 5) == [999, 749, 500, 250, 0]
    assert chosen_steps(1000, 2) == [999, 0]


def gaussian_noise(mean, deviation):
    """Return the perfect predictor for clean values from a normal distribution: the noise on average."""

    def predict(noisy, steps):
        signal, noise = SCHEDULE.signal[steps, None], SCHEDULE.noise[steps, None]
        variance = signal**2 * deviation**2 + noise**2
        return noise * (noisy - signal * mean) / variance

    return predict


@pytest.mark.parametrize("now", [1, 17, 500, 998])
def test_one_step_is_the_posterior_of_ddpm(now):
    """Ho, Jain and Abbeel, equations 6 and 7, in their own letters."""
    beta = numpy.minimum(cosine_betas().numpy(), 0.999)
    alpha_bar = numpy.cumprod(1 - beta)
    x, clean = torch.randn(5, 3, generator=seeded()), torch.rand(5, 3, generator=seeded(1)) * 2 - 1
    before, after, rest = alpha_bar[now - 1], alpha_bar[now], 1 - alpha_bar[now]
    mean = math.sqrt(before) * beta[now] / rest * clean
    mean += math.sqrt(1 - beta[now]) * (1 - before) / rest * x
    torch.testing.assert_close(step_back(clean, x, SCHEDULE, now, now - 1, 1.0), mean, atol=1e-5, rtol=1e-4)
    variance = (1 - before) / (1 - after) * beta[now]
    assert deviation(SCHEDULE, now, now - 1) ** 2 == pytest.approx(variance, rel=1e-9)


def test_sampling_with_all_steps_equals_ddpm_posteriors():
    """A second implementation, by the formulas of the paper, must end with the same numbers."""
    beta = cosine_betas().numpy()
    alpha_bar = numpy.cumprod(1 - beta)
    predict, generator = gaussian_noise(0.2, 0.1), seeded(3)
    x = torch.randn(50, 1, generator=generator)
    for t in range(999, -1, -1):
        noise = predict(x, torch.full((50,), t))
        clean = ((x - math.sqrt(1 - alpha_bar[t]) * noise) / math.sqrt(alpha_bar[t])).clamp(-1, 1)
        if t == 0:
            x = clean
            break
        before, rest = alpha_bar[t - 1], 1 - alpha_bar[t]
        x = math.sqrt(before) * beta[t] / rest * clean + math.sqrt(1 - beta[t]) * (1 - before) / rest * x
        x = x + math.sqrt(beta[t] * (1 - before) / rest) * torch.randn(50, 1, generator=generator)
    torch.testing.assert_close(last_of(predict, (50, 1), seed=3), x, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(
    ("steps", "eta", "of_the_deviation"),
    [(1000, 1.0, 0.03), (1000, 0.0, 0.03), (200, 0.0, 0.06), (50, 0.0, 0.2)],
)
def test_perfect_predictor_samples_its_normal_distribution(steps, eta, of_the_deviation):
    found = last_of(gaussian_noise(0.2, 0.1), (5000, 1), steps=steps, eta=eta)
    assert found.mean().item() == pytest.approx(0.2, abs=0.005)
    assert found.std().item() == pytest.approx(0.1, rel=of_the_deviation)


@pytest.mark.parametrize(("steps", "eta"), [(1000, 1.0), (20, 0.0)])
def test_a_perfect_predictor_of_one_plan_draws_that_plan(steps, eta):
    plans = generate_plans(1, 0)
    known = node_tensor(plans.corners, plans.kinds, plans.real())

    def predict(noisy, at):
        return (noisy - SCHEDULE.signal[at, None, None] * known) / SCHEDULE.noise[at, None, None]

    found = last_of(predict, (3, *known.shape[1:]), steps=steps, eta=eta)
    assert found.shape[-1] == CHANNELS
    torch.testing.assert_close(found, known.expand_as(found), atol=0.002, rtol=0)
    (plan,) = plans
    for nodes in found.numpy():
        drawn = corners_of(nodes)
        order = numpy.lexsort(plan.corners.T[::-1])
        assert drawn.corners.tolist() == plan.corners[order].tolist()
        assert drawn.kinds.tolist() == plan.kinds[order].tolist()


def test_without_eta_only_the_beginning_is_random():
    predict = gaussian_noise(0.0, 0.3)
    for eta, draws in ((0.0, 1), (1.0, 10)):
        generator = seeded()
        list(sample(predict, SCHEDULE, (4, 2), generator, steps=10, eta=eta))
        counted = seeded()
        for _ in range(draws):
            torch.randn(4, 2, generator=counted)
        assert torch.equal(generator.get_state(), counted.get_state())


def test_equal_seeds_give_equal_samples():
    predict = gaussian_noise(0.0, 0.3)
    for eta in (0.0, 1.0):
        first, again, other = (last_of(predict, (4, 2), seed, steps=10, eta=eta) for seed in (0, 0, 1))
        assert torch.equal(first, again) and not torch.equal(first, other)


def test_every_device_gets_the_same_random_numbers():
    """On `meta`, nothing is computed: a generator that belonged to the device would not be drawn from."""
    there, here = seeded(), seeded()
    predict = torch.zeros_like
    list(sample(lambda x, _: predict(x), Schedule(torch.device("meta")), (3, 2), there, steps=7))
    list(sample(lambda x, _: predict(x), SCHEDULE, (3, 2), here, steps=7))
    assert torch.equal(there.get_state(), here.get_state())
    assert not torch.equal(here.get_state(), seeded().get_state())


def test_network_gets_one_step_for_each_sample():
    asked = []

    def predict(x, at):
        asked.append(at)
        return torch.zeros_like(x)

    moments = [step for step, _ in sample(predict, SCHEDULE, (3, 2), seeded(), steps=4, eta=0.0)]
    assert moments == [999, 666, 333, 0, -1]
    assert [at.tolist() for at in asked] == [[step] * 3 for step in moments[:-1]]
