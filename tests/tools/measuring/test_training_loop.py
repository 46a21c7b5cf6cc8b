"""What is compared when the training loop is measured: three loops that learn the same."""

import importlib

import pytest
import torch

from examples.systems import SYSTEMS, modules
from snippets.stop_signals import StopSignals
from snippets.training_loop import EpochResult
from tools.measuring import training_loop as tool


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


SMALL = {
    "cifar_optimizers": ["--data-fraction", "0.2", "--width", "2"],
    "indicator_transformer": ["--bars", "8000", "--batch-size", "16"],
}


@pytest.fixture(params=SMALL)
def program(request):
    return importlib.import_module(modules()[request.param]).PROGRAM


def make_task(program):
    typed = program.read_command_line(["--device", "cpu", *SMALL[program.system]])
    task = program.prepare(typed | {"epochs": 100})
    task.evaluate = lambda epoch, measures, speed: EpochResult({}, 0.0, "")
    return task


def weights(task):
    return torch.cat([weight.detach().flatten() for weight in task.state.model.parameters()])


def test_the_three_loops_learn_the_same(program):
    """Otherwise their times could not be compared. All draw at random from equally seeded generators."""
    bare = make_task(program)
    before = weights(bare)
    tool.bare_epoch(bare, 0)
    steps = make_task(program)
    tool.steps_only(steps, 0)
    real = make_task(program)
    with tool.opened(tool.WithoutSaving, real) as (training, bar):
        real.total_steps = real.steps_per_epoch
        training.train(StopSignals(), bar)
        assert not training.run.last_checkpoint.exists()
    assert not torch.equal(before, weights(bare))
    assert torch.equal(weights(bare), weights(steps))
    assert torch.equal(weights(bare), weights(real))


def test_saves_are_timed(program):
    task = make_task(program)
    with tool.opened(tool.TimedSaving, task) as (training, bar):
        task.total_steps = 3
        training.train(StopSignals(), bar)
        assert training.run.last_checkpoint.exists()
    assert len(training.saves) == 1 and training.saves[0] > 0


def test_every_measured_system_has_a_small_form_here_and_something_to_measure_on_each_device():
    measured = [system for system in SYSTEMS if system.cases]
    assert {system.name for system in measured} == SMALL.keys()
    for system in measured:
        assert {case.gpu for case in system.cases} == {False, True}
