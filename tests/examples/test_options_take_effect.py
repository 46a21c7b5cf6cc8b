"""What belongs to a recipe takes part in the training: every option, the schedule, the limit of gradients."""

import math

import pytest
import torch

from tests.examples.every_program import CASES
from tests.examples.program_runs import assert_same

# Sizes, one format, files and what computes the same; others are those of a system (its cases.py).
NO_RECIPE = {"accumulate", "batch_size", "data_name", "epochs", "max_steps", "precision"}
OTHER = {"lr": 5e-4, "seed": 1, "weight_decay": 1}  # than in the tiny trainings


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


def cases_of(program):
    """Return what the system of a program says of its recipe."""
    return CASES[program.system.partition("/")[0]]


@pytest.mark.two_for_all
def test_every_option_of_a_recipe_changes_what_is_learned(undisturbed, tiny, system, without_curves):
    few, spelt, cases = tiny(max_steps=3), system.PROGRAM.spelling.words, cases_of(system.PROGRAM)
    options = system.PROGRAM.resolve(system.PROGRAM.read_command_line(few))
    recipe = options.decisive().keys() - NO_RECIPE - cases.no_recipe
    values = OTHER | dict(cases.recipe)
    assert recipe <= values.keys() and len(recipe) >= 3, (
        f"{recipe - values.keys()}: give another value than the tiny training has in `recipe` of "
        "the system's cases.py, or name what is no part of the recipe in `no_recipe`"
    )
    usual = learned(undisturbed(few))
    others = {name: learned(undisturbed([*few, *spelt({name: values[name]})])) for name in sorted(recipe)}
    assert [name for name, found in others.items() if same(usual, found)] == []


# ---- Schedules and limits ----


def to_zero(step, total):
    return (1 + math.cos(math.pi * step / total)) / 2


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [3, 200])
def test_the_rate_of_every_step_follows_its_formula(system, tiny, one_thread, epochs):
    task = system.PROGRAM.prepare(system.PROGRAM.read_command_line(tiny(epochs=epochs)))
    total, rate = task.total_steps, cases_of(system.PROGRAM).rates.get(system.PROGRAM.system, to_zero)
    for optimizer, scheduler in zip(task.state.optimizers, task.state.schedulers, strict=True):
        found, highest = [], optimizer.param_groups[0]["initial_lr"]
        for _ in range(total):
            found.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        assert highest == task.options.lr
        assert found == pytest.approx([highest * rate(step, total) for step in range(total)], abs=1e-9)


def test_gradients_are_clipped_where_the_recipe_says_so(run_train, system, tiny, without_curves, monkeypatch):
    limits, usual = [], torch.nn.utils.clip_grad_norm_
    monkeypatch.setattr(
        torch.nn.utils,
        "clip_grad_norm_",
        lambda weights, limit, *others, **more: (
            limits.append(limit) or usual(weights, limit, *others, **more)
        ),
    )
    assert run_train(*tiny(max_steps=3)).code == 0
    clip = cases_of(system.PROGRAM).clip
    assert limits == ([] if clip is None else [clip] * 3)
