"""What this system adds to a state: runs that are stopped continue with it bit by bit."""

import shlex
import signal

import pytest

from examples.cifar_optimizers import train
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from tests.examples.program_runs import assert_refused

pytestmark = pytest.mark.usefixtures("without_curves")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_resumed_run_ends_bit_equal(run_train, stop, tiny, undisturbed, optimizer):
    """Stopped in the middle of an epoch, and of an interval between two lines of metrics.jsonl."""
    settings = {"optimizer": optimizer, "label_noise": 0.1}
    stop(13, **settings)
    run_train(resume="run").assert_same_as(undisturbed(tiny(**settings)))


def test_a_run_on_cropped_and_flipped_images(run_train, signal_at, write_cifar, tmp_path):
    """Its random numbers continue where they were; other images in the same place are noticed."""
    write_cifar(tmp_path / "sets", per_file=40)
    options = shlex.split("--device cpu --data sets --skip-checksum --width 2 --epochs 2 --batch-size 40")
    whole = run_train(*options, out="whole")
    signal_at(7)
    run_train(*options, out="stopped")
    signal_at(0)
    write_cifar(tmp_path / "others", per_file=40, seed=1)
    others = (tmp_path / "others").resolve()
    refused = run_train("--data", "others", resume="stopped")
    assert_refused(refused, f"error: the content of --data {others} is not what stopped began with\n")
    refused = run_train("--data", "digits", resume="stopped")
    assert_refused(refused, "error: --data is digits here but cifar10 in the run in stopped; leave it out")
    run_train(resume="stopped").assert_same_as(whole)


def test_a_signal_before_the_first_step(run_train, tiny, undisturbed, monkeypatch):
    """It came while the data were loading: there is nothing to save, and the run later begins at step 0."""
    load = train.load_for_training

    def interrupted(options):
        signal.raise_signal(signal.SIGINT)
        return load(options)

    monkeypatch.setattr(train, "load_for_training", interrupted)
    assert run_train(*tiny(), out="stopped").code == 130
    monkeypatch.setattr(train, "load_for_training", load)
    run_train(resume="auto", out="stopped").assert_same_as(undisturbed(tiny()))
