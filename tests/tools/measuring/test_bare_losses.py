"""A bare step, which computes its loss by itself, has the loss and the gradients of the program's."""

import pytest
import torch

from examples.floorplan_diffusion import train_edges, train_nodes
from tools.measuring.bare_losses import after_step, bare_loss, cosine_schedule

TINY = ["--device", "cpu", "--plans", "40", "--width", "16", "--layers", "2", "--batch-size", "8"]
HEAVY = ["--alignment", "1000", "--place-weight", "3", "--focus", "1.5"]  # every term shows in the gradients


def tiny_task(program, words):
    """Return a task at its second batch, whose weights are no longer those of the start."""
    task = program.prepare(program.read_command_line([*TINY, *words]))
    task.begin_epoch(0)
    first, second, *_ = task.batches(0, 0)
    task.learn(first)
    return task, second


def program_step(task, batch):
    """Let the program learn from a batch; return its loss, and the gradients before they are clipped."""
    task.max_norm, found = None, {}
    names = {parameter: name for name, parameter in task.state.model.named_parameters()}

    def note_down(optimizer, *_):
        for group in optimizer.param_groups:
            found.update({names[parameter]: parameter.grad.clone() for parameter in group["params"]})

    for optimizer in task.state.optimizers:
        optimizer.register_step_pre_hook(note_down)
    return task.learn(batch)[0], found


@pytest.mark.parametrize(
    ("program", "words"),
    [(train_nodes.PROGRAM, HEAVY), (train_edges.PROGRAM, [])],
    ids=["train_nodes", "train_edges"],
)
def test_loss_and_gradients_are_those_of_the_program(program, words):
    task, batch = tiny_task(program, words)
    torch.manual_seed(1)
    loss = bare_loss(task, batch)
    loss.backward()
    learning = {name: weight for name, weight in task.state.model.named_parameters() if weight.requires_grad}
    gradients = {name: weight.grad.clone() for name, weight in learning.items()}
    task.state.model.zero_grad()
    torch.manual_seed(1)
    wanted_loss, wanted = program_step(task, batch)
    torch.testing.assert_close(loss, wanted_loss)
    assert len(wanted) > 20 and all(gradient.abs().max() > 0 for gradient in wanted.values())
    torch.testing.assert_close(gradients, wanted, rtol=1e-4, atol=1e-6)


def test_averaged_weights_follow_as_in_the_program():
    task, batch = tiny_task(train_nodes.PROGRAM, [])
    before = [weight.clone() for weight in task.average.parameters()]
    task.learn(batch)
    wanted = [weight.clone() for weight in task.average.parameters()]
    for weight, old in zip(task.average.parameters(), before, strict=True):
        weight.copy_(old)
    after_step(task)
    torch.testing.assert_close(list(task.average.parameters()), wanted, check_stride=False)
    assert any(not torch.equal(new, old) for new, old in zip(wanted, before, strict=True))


def test_the_schedule_is_the_published_one():
    """After half of the steps, cos²(π/4 · 1.016/1.008) / cos²(π/2 · 0.008/1.008) of the variance is left."""
    signal, spread, line_weight = cosine_schedule(torch.device("cpu"))
    assert len(signal) == 1000
    torch.testing.assert_close(signal.square() + spread.square(), torch.ones(1000))
    assert signal[499].square().item() == pytest.approx(0.49384, abs=1e-4)
    assert (line_weight[0].item(), line_weight[-1].item()) == pytest.approx((0.999, 4.1e-5), rel=0.02)
