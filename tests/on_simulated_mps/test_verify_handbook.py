"""verify_handbook.py on the simulated device: the paths for MPS run, its messages are those of the page."""

import warnings
from dataclasses import replace

import pytest
import torch
from simulated_mps import device

from examples.verifying import levels, messages, plan, systems
from examples.verifying.messages import CAUSES
from tools import ranges
from tools.read_yaml import read_yaml

NOT_SIMULATED = {  # they come from the allocator, from Metal and from 2.15
    *("out-of-memory", "invalid-buffer-size", "invalid-low-watermark", "invalid-high-watermark"),
    *("metal-version-ignored", "fall-back-to-cpu", "logspace-integral", "lu-factor-dtype"),
}
KNOWN = {one["id"]: one for file in ranges.MESSAGES.glob("*.yaml") for one in read_yaml(file)["messages"]}
CASES = [
    (name, number)
    for name in CAUSES.keys() - NOT_SIMULATED
    for number in (13, 15)
    if CAUSES[name].since <= number <= CAUSES[name].until
]


@pytest.fixture
def as_release():
    """Return what chooses a release; the own one comes back afterwards."""
    yield device.enable
    device.enable(None)


def printed(code):
    """Return what a program with this code prints: warnings, and the error that ends it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lines = []
        try:
            exec(messages.IMPORTS + code, {})
        except Exception as error:
            lines.append(f"{type(error).__name__}: {error}")
    return "\n".join([*(f"{one.category.__name__}: {one.message}" for one in caught), *lines])


@pytest.mark.parametrize(("name", "number"), sorted(CASES))
def test_causes_print_what_the_page_says(as_release, name, number):
    if CAUSES[name].needs == "no cuda" and torch.version.cuda:
        pytest.skip("this PyTorch has CUDA")
    as_release(f"2.{number}")
    found = printed(CAUSES[name].code)
    wordings = messages.wordings(KNOWN[name], "2.13")  # Python's part is that of the PyTorch here
    assert any(messages.fits(wording, KNOWN[name], found) for wording in wordings), found


def test_everything_for_mps_is_planned():
    place = replace(plan.here("mps", full=False), release="2.15")
    assert all(not step.why for part in (systems, levels) for step in part.steps(place))


@pytest.mark.long
@pytest.mark.program
def test_losses_are_compared():
    tiny = systems.System(
        "indicator_transformer", ["--bars", "3000", "--stride", "8", "--batch-size", "16"], 6, 6
    )
    found = systems.run_devices(tiny, 200)
    assert found["outcome"] == "as said" and found["figures"]["steps"] == 6
