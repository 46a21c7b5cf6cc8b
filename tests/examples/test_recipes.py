"""What belongs to a recipe takes part in the training: every option, the schedule, the limit of gradients."""

import math

import pytest
import torch

from tests.examples.program_runs import assert_same

SIZES = {
    "bars",
    "corners",
    "data_fraction",
    "image_size",
    "indicators",
    "length",
    "plans",
    "rows",
    "sequences",
}
SIZES |= {"conv", "expand", "heads", "layers", "size", "state", "width"}
SIZES |= {"accumulate", "batch_size", "epochs", "max_steps"}
FILES = {"data_name", "intervals", "near_misses", "p_cache", "pretrained", "start_from"}  # their own tests
# One format, one machine, what is refused, other draws of the same kind, another order of the same sums, and
# an average in the evaluation that changes nothing for a network that sees both strands.
NO_RECIPE = {
    "precision",
    "devices",
    "deterministic",
    "drop_last",
    "workers_name",
    "stack_strands",
    "conjoin_test",
}
OTHER = {  # than in the tiny training of every program that has the option
    "alignment": 0,
    "clip": 1e-3,
    "dropout": 0.5,
    "ema": 0,
    "focus": 1,
    "horizon": 10,
    "label_noise": 0.5,
    "learn_temperature": True,
    "lr": 5e-4,
    "mlm_probability": 0.5,
    "near_miss_k": 3,
    "noise": 0.1,
    "optimizer": "adamw",
    "place_weight": 1,
    "rc_aug": True,
    "rcps": False,
    "same_article_k": 1,
    "schedule": "constant",
    "seed": 1,
    "stride": 7,
    "temperature": 0.2,
    "tower": "gru",
    "val_split": 0.4,
    "warmup": 0.9,
    "weight_decay": 1,
}


def learned(outcome):
    """Return the weights of a run and what it measured."""
    speed = {"seconds", "samples_per_s"}
    metrics = [{name: line[name] for name in line.keys() - speed} for line in outcome.metrics]
    return [outcome.last["model"], metrics]


def same(first, second):
    """Return whether two nested states are equal bit by bit."""
    try:
        assert_same(first, second)
    except AssertionError:
        return False
    return True


def test_every_option_of_a_recipe_changes_what_is_learned(undisturbed, tiny, system, without_curves):
    few, spelt = tiny(max_steps=3), system.PROGRAM.spelling.words
    options = system.PROGRAM.resolve(system.PROGRAM.read_command_line(few))
    recipe = options.decisive().keys() - SIZES - FILES - NO_RECIPE
    assert recipe <= OTHER.keys() and len(recipe) >= 3, recipe - OTHER.keys()
    usual = learned(undisturbed(few))
    others = {name: learned(undisturbed([*few, *spelt({name: OTHER[name]})])) for name in sorted(recipe)}
    assert [name for name, found in others.items() if same(usual, found)] == []


# ---- Schedules and limits ----


def cosine(share):
    return (1 + math.cos(math.pi * share)) / 2


def to_zero(step, total):
    return cosine(step / total)


def rising_to_zero(step, total):
    """Stage 1 of the floor plans: 50 steps, or half of all, of rising."""
    return min(1, (step + 1) / (min(50, total // 2) + 1)) * cosine(step / total)


def rising_to_a_tenth(step, total):
    """Genomics: 1 % of the steps, at least one, of rising."""
    rising = max(1, round(0.01 * total))
    falling = 0.1 + 0.9 * cosine((step - rising) / (total - rising))
    return (step + 1) / (rising + 1) if step < rising else falling


RATES = {"floorplan_diffusion/train_nodes": rising_to_zero}
RATES |= dict.fromkeys(("genomic_caduceus/pretrain", "genomic_caduceus/train"), rising_to_a_tenth)


@pytest.mark.parametrize("epochs", [3, 200])
def test_the_rate_of_every_step_follows_its_formula(system, tiny, one_thread, epochs):
    task = system.PROGRAM.prepare(system.PROGRAM.read_command_line(tiny(epochs=epochs)))
    total, rate = task.total_steps, RATES.get(system.PROGRAM.system, to_zero)
    for optimizer, scheduler in zip(task.state.optimizers, task.state.schedulers, strict=True):
        found, highest = [], optimizer.param_groups[0]["initial_lr"]
        for _ in range(total):
            found.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        assert highest == task.options.lr
        assert found == pytest.approx([highest * rate(step, total) for step in range(total)], abs=1e-9)


def test_gradients_are_clipped_where_the_recipe_says_so(run_train, system, tiny, without_curves, monkeypatch):
    limits, clip = [], torch.nn.utils.clip_grad_norm_
    monkeypatch.setattr(
        torch.nn.utils,
        "clip_grad_norm_",
        lambda weights, limit, *others, **more: limits.append(limit) or clip(weights, limit, *others, **more),
    )
    assert run_train(*tiny(max_steps=3)).code == 0
    assert limits == ([] if system.PROGRAM.system == "cifar_optimizers" else [1.0] * 3)
