"""The waits that `WaitFinder` names are those that the simulated device counts by itself, below PyTorch."""

from collections import Counter

import pytest
import simulated_mps
import torch

from examples.cifar_optimizers.optimizers import OPTIMIZERS
from snippets.find_waits import WaitFinder
from snippets.training_loop import endless_batches

MPS = torch.device("mps")


def waits_of(work):
    """Return what the finder and the device count during `work`."""
    before = Counter(simulated_mps.report().events)
    with WaitFinder(MPS) as finder:
        work()
    counted = Counter(simulated_mps.report().events)
    counted.subtract(before)
    return finder.waits.total(), sum(counted[name] for name in ("item", "cpu to mps", "mps to cpu"))


CASES = {
    "item": (1, lambda x: x.sum().item()),
    "float": (1, lambda x: float(x[0])),
    "if": (1, lambda x: 1 if x.max() > 2 else 0),
    "slice": (1, lambda x: x[: int(x[1])]),
    "cpu": (1, lambda x: x.cpu()),
    "tolist": (1, lambda x: x.tolist()),
    "to mps": (1, lambda x: torch.ones(4).to(MPS)),
    "copy_": (1, lambda x: x.copy_(torch.ones(4))),
    "torch.tensor": (1, lambda x: torch.tensor([1.0, 2.0], device=MPS)),
    "zeros": (0, lambda x: torch.zeros(3, device=MPS)),
    "arange": (0, lambda x: torch.arange(3, device=MPS)),
    "where": (0, lambda x: torch.where(x > 1, x, 0.0).softmax(0)),
    "to fp16": (0, lambda x: x.to(torch.float16)),
    "clip": (0, lambda x: torch.nn.utils.clip_grad_norm_([torch.nn.Parameter(x)], 1.0)),
}


@pytest.mark.parametrize("case", CASES)
def test_found_waits_are_those_of_the_device(case):
    waits, work = CASES[case]
    x = torch.arange(4.0, device=MPS)
    assert waits_of(lambda: work(x)) == (waits, waits)


def waits_of_a_step(program, words):
    task = program.prepare(program.read_command_line(words))
    batches = endless_batches(task)
    task.learn(next(batches))
    batch = next(batches)
    return waits_of(lambda: task.learn(batch))


@pytest.mark.parametrize("settings", [{}, {"precision": "bf16"}, {"accumulate": 2}], ids=str)
def test_a_training_step_has_no_wait(system, tiny, settings):
    assert waits_of_a_step(system.PROGRAM, tiny(**settings)) == (0, 0)


@pytest.mark.parametrize("program_name", ["cifar_optimizers"], indirect=True)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_no_optimizer_waits(system, tiny, optimizer):
    assert waits_of_a_step(system.PROGRAM, tiny(optimizer=optimizer)) == (0, 0)
