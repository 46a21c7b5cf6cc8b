"""The waits that `WaitFinder` names are those that the simulated device counts by itself, below PyTorch."""

from collections import Counter

import pytest
import simulated_mps
import torch

from examples.cifar_optimizers.optimizers import OPTIMIZERS
from examples.cifar_optimizers.train import PROGRAM
from examples.indicator_transformer.train import PROGRAM as INDICATORS
from snippets.find_waits import WaitFinder

MPS = torch.device("mps")
TINY = "--device mps --data synthetic --image-size 8 --width 2 --data-fraction 0.05 --batch-size 16"


def waits_of(work):
    """Return what the finder and the device count during `work`."""
    before = Counter(simulated_mps.report().events)
    with WaitFinder(MPS) as finder:
        work()
    counted = Counter(simulated_mps.report().events)
    counted.subtract(before)
    return finder.waits.total(), sum(counted[name] for name in ("item", "cpu to mps", "mps to cpu"))


CASES = {
    "item": lambda x: x.sum().item(),
    "float": lambda x: float(x[0]),
    "if": lambda x: 1 if x.max() > 2 else 0,
    "slice": lambda x: x[: int(x[1])],
    "cpu": lambda x: x.cpu(),
    "tolist": lambda x: x.tolist(),
    "to mps": lambda x: torch.ones(4).to(MPS),
    "copy_": lambda x: x.copy_(torch.ones(4)),
    "torch.tensor": lambda x: torch.tensor([1.0, 2.0], device=MPS),
}


@pytest.mark.parametrize("name", CASES)
def test_each_wait_is_found_once(name):
    x = torch.arange(4.0, device=MPS)
    assert waits_of(lambda: CASES[name](x)) == (1, 1)


@pytest.mark.parametrize(
    "work",
    [
        lambda x: torch.zeros(3, device=MPS),
        lambda x: torch.arange(3, device=MPS),
        lambda x: torch.where(x > 1, x, 0.0).softmax(0),
        lambda x: x.to(torch.float16),
        lambda x: torch.nn.utils.clip_grad_norm_([torch.nn.Parameter(x)], 1.0),
    ],
)
def test_nobody_waits(work):
    x = torch.arange(4.0, device=MPS)
    assert waits_of(lambda: work(x)) == (0, 0)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_training_step_of_the_cifar_example_has_no_wait(optimizer, precision):
    assert waits_of_a_step(PROGRAM, f"{TINY} --optimizer {optimizer} --precision {precision}") == (0, 0)


@pytest.mark.parametrize("words", ["--precision fp32", "--precision bf16", "--accumulate 4"])
def test_a_training_step_of_the_indicator_transformer_has_no_wait(words):
    words = f"--device mps --bars 2000 --stride 10 --batch-size 8 {words}"
    assert waits_of_a_step(INDICATORS, words) == (0, 0)


def waits_of_a_step(program, words):
    task = program.build(program.resolve(program.read_command_line(words.split())))
    batches = task.batches(0, 0)
    task.learn(next(batches))
    batch = next(batches)
    return waits_of(lambda: task.learn(batch))
