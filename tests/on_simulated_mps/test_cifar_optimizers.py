"""What this system does on MPS beyond the promise of every program, on the simulated device."""

from pathlib import Path

import pytest
import simulated_mps

from examples.cifar_optimizers import compare_devices, predict
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from snippets.errors import exit_with_one_line
from tests.examples.cifar_optimizers.data_forms import write_pictures

cifar = pytest.mark.parametrize("program_name", ["cifar_optimizers"], indirect=True)


@cifar
def test_the_digits_are_learned(run_train):
    """The device draws its own random crops, so the losses are not those of the CPU."""
    run = run_train(device="mps", epochs=3)
    assert run.json("summary.json")["test_accuracy"] > 0.9
    assert "aten::_mps_convolution" in simulated_mps.report().with_kernel


@cifar
@pytest.mark.parametrize(
    "optimizer",
    [pytest.param(name, marks=[] if name in ("sgd", "muon") else pytest.mark.long) for name in OPTIMIZERS],
)
def test_every_optimizer_continues_bit_equal(run_train, stop, tiny, undisturbed, optimizer):
    settings = {"optimizer": optimizer, "max_steps": 6}
    stop(3, **settings)
    run_train(resume="run").assert_same_as(undisturbed(tiny(**settings)))


@cifar
def test_pictures_are_predicted_as_on_the_cpu(run_train, tiny, tmp_path):
    write_pictures(tmp_path / "pictures", {"cat": 3, "dog": 3})
    assert run_train(*tiny(epochs=1), out="run").code == 0
    for device in ("mps", "cpu"):
        words = ["run", "pictures", "--device", device, "--out", f"{device}.csv"]
        assert exit_with_one_line(predict.main, words) == 0
    rows = [
        [line.split(",") for line in Path(f"{device}.csv").read_text().split()] for device in ("mps", "cpu")
    ]
    assert len(rows[0]) == 7 and [row[:2] for row in rows[0]] == [row[:2] for row in rows[1]]
    shares = [[float(row[2]) for row in part[1:]] for part in rows]
    assert shares[0] == pytest.approx(shares[1], abs=1e-4)


def test_the_comparison_of_devices_passes(capsys):
    assert exit_with_one_line(compare_devices.main, ["--device", "mps", "--data", "synthetic"]) == 0, (
        capsys.readouterr()
    )
