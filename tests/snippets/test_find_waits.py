"""Finding the calls in which the CPU waits: each kind is found, with its line, and nothing else."""

import inspect

import pytest
import torch

from snippets.find_waits import WaitFinder

CPU, META = torch.device("cpu"), torch.device("meta")
VALUES = torch.arange(4.0)


def waits_of(work, device=CPU):
    with WaitFinder(device) as finder:
        work()
    return [(reason, count) for (reason, _), count in finder.waits.items()]


@pytest.mark.parametrize(
    "work",
    [
        lambda: VALUES.sum().item(),
        lambda: float(VALUES[0]),
        lambda: "large" if VALUES.max() > 2 else "small",
        lambda: VALUES[: int(VALUES[1])],
        lambda: torch.equal(VALUES, VALUES),
    ],
)
def test_a_number_for_python_is_a_wait(work):
    assert waits_of(work) == [("a number for Python", 1)]


@pytest.mark.parametrize(
    ("work", "name"),
    [
        (lambda: VALUES.nonzero(), "aten.nonzero"),
        (lambda: VALUES[VALUES > 1], "aten.index"),
        (lambda: VALUES.unique(), "aten._unique2"),
        (lambda: VALUES.masked_select(VALUES > 1), "aten.masked_select"),
    ],
)
def test_a_size_that_depends_on_values_is_a_wait(work, name):
    assert waits_of(work) == [(f"a result whose size depends on values: {name}", 1)]


@pytest.mark.parametrize(
    "work",
    [
        lambda: VALUES[torch.tensor([0, 2])],
        lambda: torch.where(VALUES > 1, VALUES, 0.0),
        lambda: (VALUES * 2).softmax(0),
        lambda: VALUES.to(torch.float16),
        lambda: torch.nn.utils.clip_grad_norm_([torch.nn.Parameter(VALUES.clone())], 1.0),
    ],
)
def test_everything_else_is_not(work):
    assert waits_of(work) == []


def test_copies_between_devices_wait_unless_they_may_overlap():
    target = torch.empty(4, device=META)
    assert waits_of(lambda: VALUES.to(META), META) == [("copy from cpu to meta", 1)]
    assert waits_of(lambda: target.copy_(VALUES), META) == [("copy from cpu to meta", 1)]
    assert waits_of(lambda: VALUES.to(META, non_blocking=True), META) == []
    assert waits_of(lambda: target.copy_(VALUES, non_blocking=True), META) == []
    assert waits_of(lambda: target.to(META), META) == []


def test_a_tensor_made_from_numbers_is_copied():
    assert waits_of(lambda: torch.tensor([1.0, 2.0], device=META), META) == [
        ("copy from cpu to meta by torch.tensor()", 1)
    ]
    assert waits_of(lambda: torch.tensor([1.0, 2.0]), META) == []
    assert waits_of(lambda: torch.tensor([1.0, 2.0]), CPU) == []
    assert waits_of(lambda: torch.ones(2, device=META), META) == []


def test_a_copy_back_is_noted_before_it_happens():
    def fetch():
        with pytest.raises(NotImplementedError):  # meta tensors hold no numbers
            torch.empty(4, device=META).cpu()

    assert waits_of(fetch, META) == [("copy from meta to cpu", 1)]


def test_tensors_on_another_device_make_nobody_wait():
    assert waits_of(lambda: VALUES.sum().item(), META) == []


def test_the_line_is_that_of_the_program():
    model, losses = torch.nn.Linear(4, 1), []
    with WaitFinder(CPU) as finder:
        for _ in range(3):
            loss = model(VALUES).square().sum()
            loss.backward()
            losses.append(loss.item())
    _, first_line = inspect.getsourcelines(test_the_line_is_that_of_the_program)
    assert finder.waits == {("a number for Python", f"test_find_waits.py:{first_line + 6}"): 3}
    assert losses[0] == pytest.approx(model(VALUES).square().sum().item())  # nothing was changed
