"""What is compared when the training loop is measured: two loops that learn the same."""

import importlib

import pytest
import torch

from examples.systems import find, measured_trainings, modules
from snippets.stop_signals import StopSignals
from snippets.training_loop import EpochResult
from tools.measuring import training_loop as tool


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


MEASURED = [name for name in modules() if measured_trainings(name)]


@pytest.fixture(params=MEASURED)
def name(request):
    """Return the name of a measured program."""
    return request.param


@pytest.fixture
def program(name):
    """Return a measured program."""
    return importlib.import_module(modules()[name]).PROGRAM


@pytest.fixture
def make_task(name, program):
    """Return a function that gives a tiny task of a measured program; equal ones are equally seeded.

    It learns from the usual data, of which some are augmented at random.
    """
    _, (known,) = find(name)
    settings = {name: value for name, value in known.tiny.items() if name != "data"}

    def make():
        typed = program.read_command_line(known.words(settings | {"device": "cpu", "epochs": 100}))
        task = program.prepare(typed)
        task.evaluate = lambda epoch, measures, speed: EpochResult({}, 0.0, "")
        return task

    return make


def weights(task):
    return torch.cat([weight.detach().flatten() for weight in task.state.model.parameters()])


@pytest.mark.program
def test_both_loops_learn_the_same(make_task, program):
    """Otherwise their times could not be compared. All draw at random from equally seeded generators."""
    steps = make_task()
    before = weights(steps)
    tool.steps_only(steps, 0)
    real = make_task()
    with tool.opened(program, real) as (training, bar):
        training.save = lambda: None
        real.total_steps = real.steps_per_epoch
        training.train(StopSignals(), bar)
        assert not training.run.last_checkpoint.exists()
    assert not torch.equal(before, weights(steps))
    assert torch.equal(weights(steps), weights(real))


@pytest.mark.program
def test_saves_are_timed(make_task, program):
    task = make_task()
    with tool.opened(program, task) as (training, bar), tool.timed_saves(training) as saves:
        task.total_steps = 3
        training.train(StopSignals(), bar)
        assert training.run.last_checkpoint.exists()
    assert len(saves) == 1 and saves[0] > 0


def test_measured_program_has_cases_for_each_device(name):
    assert {case.gpu for case in measured_trainings(name)} == {False, True}
