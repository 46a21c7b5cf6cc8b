"""Training of both stages: what is learned, from which batches, and what a step computes."""

import copy
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F

from examples.floorplan_diffusion import train_edges, train_nodes
from examples.floorplan_diffusion.alignment import alignment_loss
from examples.floorplan_diffusion.diffusion import cosine_betas
from examples.floorplan_diffusion.edge_network import all_pairs
from examples.floorplan_diffusion.generated_plans import generate_plans, generate_splits
from examples.floorplan_diffusion.plan_files import write_splits
from examples.floorplan_diffusion.plans import Plan, PlanSet, Splits
from examples.floorplan_diffusion.training_data import describe_data
from snippets import training_loop

nodes = pytest.mark.parametrize("program_name", ["floorplan_diffusion/train_nodes"], indirect=True)
edges = pytest.mark.parametrize("program_name", ["floorplan_diffusion/train_edges"], indirect=True)
SMALL = {"device": "cpu", "size": "small", "width": 32, "layers": 2}


@pytest.fixture
def task_of(system, tiny, one_thread):
    """Return a function that gives a task of the program under test with other settings."""
    return lambda **settings: system.PROGRAM.prepare(system.PROGRAM.read_command_line(tiny(**settings)))


@pytest.mark.long
@pytest.mark.unmeasured
@edges
def test_walls_are_learned(run_train, without_curves):
    run = run_train(**SMALL, plans=640, epochs=4, batch_size=8, lr=5e-3)
    epochs = [line for line in run.metrics if "val_f1" in line]
    assert run.json("summary.json")["val_f1"] > 0.8
    assert epochs[-1]["val_f1"] > epochs[0]["val_f1"] + 0.03
    assert epochs[-1]["wall_loss"] < 0.6 * epochs[0]["wall_loss"]
    assert epochs[-1]["val_accuracy"] > 0.9


@nodes
def test_noise_is_seen(run_train, without_curves):
    """A network that always returns 0 has a loss of 10, and of 2 for x and y."""
    run = run_train(**SMALL, plans=800, max_steps=100, epochs=9)
    summary = run.json("summary.json")
    assert summary["untrained"] == 10
    assert summary["val_loss"] < 5
    assert summary["val_place_loss"] < 1


@pytest.mark.long
@pytest.mark.unmeasured
@edges
def test_eight_plans_are_learned_by_heart(run_train, without_curves, tmp_path):
    """Of others, so few tell next to nothing: 0.74 after as many steps."""
    few = generate_plans(8, 0)
    write_splits(tmp_path / "few", Splits(few, few, few))
    run = run_train(data="few", **SMALL, batch_size=8, epochs=150, lr=5e-3)
    assert run.metrics[-1]["val_f1"] > 0.9


# ---- Batches ----


@pytest.mark.program
@edges
def test_workers_bring_the_same_batches(task_of):
    tasks = [task_of(workers=workers) for workers in (0, 1)]
    for epoch, first in ((0, 3), (1, 0)):
        both = [list(task.batches(epoch, first)) for task in tasks]
        assert len(both[0]) == 7 - first
        for one, other in zip(*both, strict=True):
            assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@edges
def test_each_batch_is_as_wide_as_its_largest_plan(task_of):
    """In fours, and never wider than the places that there are."""
    task = task_of(batch_size=1, accumulate=2)
    seen = set()
    for epoch in (0, 1):
        task.begin_epoch(epoch)
        assert len(task.largest) == task.steps_per_epoch == 14
        for batch, corners in zip(task.batches(epoch, 0), task.largest, strict=True):
            counts = batch[2]
            assert counts.max() <= corners <= task.places
            assert corners < counts.max() + 4 and (corners % 4 == 0 or corners == task.places)
            seen.add(corners)
    assert len(seen) > 1


# ---- Steps ----


@pytest.fixture
def same_noise(monkeypatch):
    """Let random numbers depend on nothing but the place in a tensor, or on what is disturbed."""
    monkeypatch.setattr(
        torch,
        "rand",
        lambda shape, device=None: torch.full((shape,) if isinstance(shape, int) else shape, 0.4),
    )
    monkeypatch.setattr(torch, "rand_like", torch.ones_like)
    monkeypatch.setattr(torch, "randn_like", lambda values: (17 * values).sin())


def gradients_of(task, monkeypatch):
    """Return the measures of a task's first step, and the gradients before the weights change."""
    found = []
    step = training_loop.optimizer_step

    def noted(state, max_norm):
        found.extend(copy.deepcopy([w.grad for w in state.model.parameters() if w.grad is not None]))
        step(state, max_norm)

    monkeypatch.setattr(training_loop, "optimizer_step", noted)
    task.begin_epoch(0)
    measures = task.learn(next(task.batches(0, 0)))
    return [measures, *found]


def test_accumulated_parts_have_the_gradient_of_the_large_batch(task_of, same_noise, monkeypatch):
    """Also when their plans have different numbers of corners."""
    whole, parts = (
        gradients_of(task_of(batch_size=size, accumulate=12 // size), monkeypatch) for size in (12, 3)
    )
    assert len(whole) > 10
    for one, other in zip(whole, parts, strict=True):
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-6)


@edges
def test_the_losses_of_a_step_against_loops(task_of):
    task = task_of()
    batch = next(task.batches(0, 0))
    torch.manual_seed(5)
    loss, of_walls, of_fractions, right = task.measures(batch, task.state.model).tolist()
    assert loss == pytest.approx(of_walls + of_fractions)
    torch.manual_seed(5)
    corners, bits = train_edges.disturbed(*batch[:2])
    pairs = all_pairs(task.places, corners.device)
    real = torch.tensor([[b < count for b in pairs[1]] for count in batch[2]])
    fractions = torch.rand(real.shape)
    scores, guessed = task.state.model(corners, bits, pairs, real, fractions)
    walls, apart, hits = 0.0, 0.0, 0
    for plan, count in enumerate(batch[2].tolist()):
        for k, (a, b) in enumerate(pairs.T.tolist()):
            if a < count and b < count:
                wanted = int(batch[3][plan, a, b])
                walls += F.cross_entropy(scores[plan, k], torch.tensor(wanted)).item()
                apart += abs(
                    guessed[plan, k].item() - min(fractions[plan, k].item(), 1 - fractions[plan, k].item())
                )
                hits += int(scores[plan, k].argmax()) == wanted
    count = sum(n * (n - 1) // 2 for n in batch[2].tolist())
    assert train_edges.pair_count(batch[2]) == count
    sums = [count * mean for mean in (of_walls, of_fractions, right)]
    assert sums == pytest.approx([walls, apart, hits], rel=1e-4)


@nodes
def test_the_noise_losses_of_a_step_against_their_formulas(task_of):
    """Steps are drawn as 1000·u², x and y weigh 20, and alignment weighs less the more noise there is."""
    task = task_of(alignment=3, place_weight=20, focus=2)
    (clean,) = next(task.batches(0, 0))
    torch.manual_seed(5)
    loss, of_noise, of_places, alignment = task.measures([clean], task.model).tolist()
    torch.manual_seed(5)
    clean = train_nodes.shuffled(clean)
    steps = (1000 * torch.rand(len(clean)) ** 2).long()
    noise = torch.randn_like(clean)
    kept = (1 - cosine_betas()).cumprod(0)[steps].float().view(-1, 1, 1)
    noisy = kept.sqrt() * clean + (1 - kept).sqrt() * noise
    predicted = task.model(noisy, steps)
    channels = (predicted - noise).square().mean((0, 1)).tolist()
    assert of_places == pytest.approx(sum(channels[:2]), rel=1e-4)
    assert of_noise == pytest.approx(sum(channels), rel=1e-4)
    places = ((noisy - (1 - kept).sqrt() * predicted) / kept.sqrt()).clamp(-1, 1)[..., :2]
    apart = alignment_loss(places, clean[..., -1] < 0).mean(
        1
    )  # the last channel says that no corner is there
    expected = (apart * cosine_betas()[999 - steps].float()).mean().item()
    assert alignment == pytest.approx(expected, rel=1e-3)
    assert loss == pytest.approx(20 * of_places + sum(channels[2:]) + 3 * alignment, rel=1e-4)


def test_disturbed_moves_corners_slightly_and_flips_few_kinds():
    torch.manual_seed(0)
    corners, bits = torch.full((200, 50, 2), 100.0), (torch.rand(200, 50, 7) < 0.3).float()
    moved, flipped = train_edges.disturbed(corners, bits)
    apart = moved - corners
    assert 2.9 < apart.abs().max() <= 3
    assert apart.mean().item() == pytest.approx(0, abs=0.03)
    assert apart.std().item() == pytest.approx(1, abs=0.02)
    assert set(flipped.unique().tolist()) == {0, 1}
    assert (flipped != bits).float().mean().item() == pytest.approx(0.01, abs=0.002)


@edges
def test_one_corner_plans_have_no_pair_and_train(task_of, tmp_path):
    plan = next(iter(generate_plans(1, 0)))
    dot = Plan(plan.corners[:1], plan.kinds[:1], plan.walls[:0])
    few = PlanSet.of("", "", [dot, dot, plan])
    write_splits(tmp_path / "plans", Splits(few, few, few))
    task, losses = task_of(data=tmp_path / "plans", batch_size=1), []
    task.begin_epoch(0)
    for batch in task.batches(0, 0):
        losses.append((batch[2].item(), task.learn(batch)[0].item()))
    assert sorted(losses)[:2] == [(1, 0), (1, 0)] and sorted(losses)[2][1] > 0.5
    assert all(weights.isfinite().all() for weights in task.state.model.parameters())
    assert 0 <= task.evaluate(1, [0.0] * 4, 1.0).score <= 1


@nodes
def test_average_follows_quickly_at_first_then_slowly(task_of):
    task = task_of(ema=0.9)
    own, average = next(task.model.parameters()), next(task.average.parameters())
    before = average.detach().clone()
    with torch.no_grad():
        own += 1
    task.follow()
    assert torch.allclose(average, before + 0.9)  # 1/10 of the old ones stays
    task.state.step = 10**6
    with torch.no_grad():
        average.copy_(before)
    task.follow()
    assert torch.allclose(average, before + 0.1, atol=1e-6)


@nodes
def test_the_averaged_network_is_what_is_measured(task_of):
    task = task_of()
    before = task.held_out_loss()
    with torch.no_grad():
        for weights in task.model.parameters():
            weights += 1
    assert task.held_out_loss() == before
    with torch.no_grad():
        for weights in task.average.parameters():
            weights += 1
    assert task.held_out_loss() != before


@nodes
def test_the_rate_rises_and_falls_to_zero(task_of):
    task = task_of(max_steps=20, epochs=9, optimizer="adamw", lr=0.5)
    (scheduler,), rates = task.state.schedulers, []
    for _ in range(20):
        rates.append(task.state.optimizers[0].param_groups[0]["lr"])
        task.state.optimizers[0].step()
        scheduler.step()
    assert rates[0] == pytest.approx(0.5 / 11)
    assert 0.2 < max(rates) < 0.5 and 8 <= rates.index(max(rates)) <= 10
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert task.state.optimizers[0].param_groups[0]["lr"] == pytest.approx(0)


def test_corners_are_shuffled_within_their_plan():
    torch.manual_seed(0)
    plans = torch.arange(60.0).view(3, 10, 2)
    found = train_nodes.shuffled(plans)
    assert not torch.equal(found, plans)
    assert torch.equal(found.sort(1).values, plans)  # both channels of a corner stay together
    assert torch.equal(found[..., 1], found[..., 0] + 1)


def test_emptying_the_cache_changes_no_result(run_train, system, tiny, without_curves, monkeypatch):
    plain = run_train(*tiny(max_steps=5), out="plain")
    release, released = system.release_unused, []
    monkeypatch.setattr(system, "release_unused", lambda device: released.append(device) or release(device))
    given = run_train(*tiny(max_steps=5, empty_cache=2), out="given")
    assert released == [torch.device("cpu")] * 2
    given.assert_same_as(plain)


def test_any_change_of_a_plan_changes_the_checksum():
    def checksum(plans):
        splits = SimpleNamespace(train=plans, val=plans, test=plans)
        return describe_data(splits, 0, torch.nn.Identity())["data_crc32"]

    plans = generate_splits(16, 0).train
    found = {checksum(plans)}
    for name in ("corners", "kinds", "counts", "walls"):
        changed = getattr(plans, name).clone()
        changed.view(-1)[3] = 1 - changed.view(-1)[3].long()
        found.add(checksum(replace(plans, **{name: changed})))
    assert len(found) == 5
    assert checksum(PlanSet.of("", "", list(plans))) in found
