"""What this system does on MPS beyond the promise of every program, on the simulated device."""

import pytest
import simulated_mps

from examples.cifar_optimizers import compare_devices
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from snippets.errors import exit_with_one_line

cifar = pytest.mark.parametrize("program_name", ["cifar_optimizers"], indirect=True)


@cifar
def test_the_digits_are_learned(run_train):
    """The device draws its own random crops, so the losses are not those of the CPU."""
    run = run_train(device="mps", epochs=3)
    assert run.json("summary.json")["test_accuracy"] > 0.9
    assert "aten::_mps_convolution" in simulated_mps.report().with_kernel


@cifar
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_continues_bit_equal(run_train, stop, tiny, undisturbed, optimizer):
    settings = {"optimizer": optimizer, "max_steps": 6}
    stop(3, **settings)
    run_train(resume="run").assert_same_as(undisturbed(tiny(**settings)))


def test_the_comparison_of_devices_passes(capsys):
    assert exit_with_one_line(compare_devices.main, ["--device", "mps", "--data", "synthetic"]) == 0, (
        capsys.readouterr()
    )
