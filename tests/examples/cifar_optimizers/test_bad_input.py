"""Mistakes with the options of this system: one line, exit code 2, and nothing written."""

import pytest

from tests.examples.program_runs import assert_refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--optimizer adamax", "'adamax' (choose from"),
        ("--optim sgd", "unknown option '--optim'; options: --help --device --precision --compile"),
        ("--optimizer muon --precision fp16", "use --precision bf16"),
        ("--accumulate 23", "--batch-size 64 × --accumulate 23: there are only 1442 training images"),
        ("--schedule linear", "'linear' (choose from"),
        ("--data mnist", "--data mnist: neither one of digits, synthetic, cifar10, cifar100 nor an existing"),
        ("--data .", "holds no pictures in folders; put the pictures of each class into a folder of its own"),
        ("--data cifar10", "there is no folder data/cifar-10-batches-py; add --download"),
        ("--data cifar100", "there is no folder data/cifar-100-python; add --download"),
        ("--download", "--download fetches cifar10 or cifar100, not digits"),
        ("--data cifar10 --image-size 16", "--image-size 16: CIFAR images are 32 pixels"),
        ("--width 0", "--width: must be a whole number from 1 to 512, not '0'"),
        ("--width -8", "--width: must be a whole number from 1 to 512, not '-8'"),
        ("--width 99999", "--width: must be a whole number from 1 to 512"),
        ("--image-size 0", "--image-size: must be a whole number from 8 to 128"),
        ("--batch-size 1", "--batch-size 1: batch normalisation needs at least 2 images"),
        ("--batch-size 100000", "--batch-size 100000: there are only 1442 training images"),
        ("--data-fraction 0.01", "--batch-size 64: there are only"),
        ("--data-fraction 0", "--data-fraction: must be a number above 0 to 1, not '0'"),
        ("--data-fraction 1.1", "--data-fraction: must be a number above 0 to 1"),
        ("--label-noise 1", "--label-noise: must be a number from 0 and below 1"),
        ("--label-noise -0.1", "--label-noise: must be a number"),
    ],
)
def test_one_line_and_nothing_written(run_train, tmp_path, words, message):
    assert_refused(run_train(*words.split()), message)
    assert list(tmp_path.iterdir()) == []
