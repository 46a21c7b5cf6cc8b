"""What is compared when the training loop is measured: three loops that learn the same."""

import pytest
import torch
import yaml

from examples.cifar_optimizers.train import prepare, read_command_line
from snippets.stop_signals import StopSignals
from snippets.training_loop import EpochResult
from tools import measure_training_loop as tool


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def make_task():
    typed = read_command_line(["--device", "cpu", "--data-fraction", "0.2", "--width", "2"])
    task = prepare(typed | {"epochs": 100})
    task.evaluate = lambda epoch, measures, speed: EpochResult({}, 0.0, "")
    return task


def weights(task):
    return torch.cat([weight.detach().flatten() for weight in task.state.model.parameters()])


def test_the_three_loops_learn_the_same():
    """Otherwise their times could not be compared. All draw their crops from equally seeded generators."""
    bare = make_task()
    before = weights(bare)
    tool.bare_epoch(bare, 0)
    steps = make_task()
    tool.steps_only(steps, 0)
    real = make_task()
    with tool.opened(tool.WithoutSaving, real) as (training, bar):
        real.total_steps = real.steps_per_epoch
        training.train(StopSignals(), bar)
        assert not training.run.last_checkpoint.exists()
    assert not torch.equal(before, weights(bare))
    assert torch.equal(weights(bare), weights(steps))
    assert torch.equal(weights(bare), weights(real))


def test_saves_are_timed():
    task = make_task()
    with tool.opened(tool.TimedSaving, task) as (training, bar):
        task.total_steps = 3
        training.train(StopSignals(), bar)
        assert training.run.last_checkpoint.exists()
    assert len(training.saves) == 1 and training.saves[0] > 0


def test_an_entry_replaces_the_one_of_its_machine_and_device(tmp_path):
    path = tmp_path / "results.yaml"
    for device, value in (("cpu", 1), ("cuda", 2), ("cpu", 3)):
        tool.store({"device": device, "machine": {"chip": "x"}, "value": value}, path)
    assert [(e["device"], e["value"]) for e in yaml.safe_load(path.read_text())] == [("cuda", 2), ("cpu", 3)]
    assert path.read_text().startswith("# Measured by tools/measure_training_loop.py")


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_every_case_has_a_length(kind):
    assert tool.CASES[kind].keys() == tool.SAVING_EPOCHS[kind].keys()
