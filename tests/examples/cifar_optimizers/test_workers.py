"""`--workers N`: images cropped and flipped one by one, by processes, the same in every run."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from examples.cifar_optimizers import train
from examples.cifar_optimizers.data_sources import load_digits
from examples.cifar_optimizers.image_data import AugmentedImages, ImageData, normalised
from snippets.data_order import SeededSamples, epoch_order

TINY = shlex.split("--device cpu --width 2 --data-fraction 0.2 --batch-size 40 --epochs 2")  # 14 steps


def some_images(count, size, padding, flip):
    images = torch.randint(1, 256, (count, 3, size, size), dtype=torch.uint8)  # black is what a shift leaves
    labels = torch.arange(count)
    mean, std = torch.zeros(3, 1, 1), torch.ones(3, 1, 1)
    return ImageData("some", "", count, images, labels, images, labels, mean, std, padding, flip)


def views(image, padding, flip):
    """Return every shift and mirror image that may be made of `image`, by its name."""
    padded = torch.nn.functional.pad(image, (padding,) * 4)
    size, places = image.shape[-1], range(2 * padding + 1)
    shifts = {(x, y): padded[:, y : y + size, x : x + size] for x in places for y in places}
    mirrors = {(*place, "mirrored"): shift.flip(2) for place, shift in shifts.items()} if flip else {}
    return shifts | mirrors


@pytest.mark.parametrize(("padding", "flip"), [(1, True), (1, False), (0, False), (0, True)])
def test_every_shift_and_mirror_image_appears_and_nothing_else(padding, flip):
    torch.manual_seed(0)
    data = some_images(2, 5, padding, flip)
    dataset = AugmentedImages(data)
    assert len(dataset) == 2
    for index in range(2):
        expected = views(data.train_images[index], padding, flip)
        seen = set()
        for _ in range(60 * len(expected)):
            image, label = dataset[index]
            assert label == index
            seen.update(name for name, view in expected.items() if torch.equal(image, view))
            assert any(torch.equal(image, view) for view in expected.values())
        assert seen == expected.keys()


@pytest.mark.long
@pytest.mark.program
def test_a_worker_brings_what_the_network_learns_from():
    data = load_digits(16)
    task = train.PROGRAM.prepare(
        {"device": "cpu", "workers": 1, "batch_size": 100, "accumulate": 3, "seed": 5}
    )
    ((images, labels),) = task.batches(2, 3)  # the last batch of an epoch
    indices = epoch_order(len(data.train_labels), 5, 2)[900:1200]
    samples = SeededSamples(AugmentedImages(data), seed=5)
    expected = [samples[2, index] for index in indices.tolist()]
    assert torch.equal(images, torch.stack([image for image, _ in expected]))
    assert torch.equal(labels, data.train_labels[indices])

    loss, _ = task.measures((images, labels), task.network)  # not augmented a second time
    scores = task.state.model(normalised(images, data.mean, data.std))
    assert loss == torch.nn.functional.cross_entropy(scores, labels)
    before = task.state.step
    measures = task.learn((images, labels))
    assert task.state.step == before + 1
    assert measures[0] == pytest.approx(loss.item(), rel=0.2)  # in three passes with statistics of their own


def test_without_workers_the_batches_are_the_stored_images():
    task = train.PROGRAM.prepare({"device": "cpu", "batch_size": 100, "seed": 5})
    images, labels = list(task.batches(1, 12))[1]
    indices = epoch_order(len(task.data.train_labels), 5, 1)[1300:1400]
    assert torch.equal(images, task.data.train_images[indices])
    assert torch.equal(labels, task.data.train_labels[indices])
    assert len(list(task.batches(0, 0))) == task.steps_per_epoch == 14


@pytest.mark.long
def test_resuming_and_worker_count_keep_weights_bit_equal(run_train, signal_at):
    whole = run_train(*TINY, workers=1, out="whole")
    signal_at(9)
    assert run_train(*TINY, workers=1, out="stopped").code == 130
    signal_at(0)
    run_train(resume="stopped").assert_same_as(whole)
    two = run_train(*TINY, workers=2, out="two").last["model"]
    assert all(torch.equal(weights, two[name]) for name, weights in whole.last["model"].items())


@pytest.mark.long
def test_ctrl_c_reaches_workers_and_loses_nothing(tmp_path, outcome_of, one_thread):
    """A terminal sends SIGINT to the whole process group."""
    options = shlex.split("--device cpu --width 2 --epochs 1000 --workers 2 --out run")
    command = [sys.executable, Path(train.__file__), *options]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=one_thread, start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    run = outcome_of(tmp_path / "run")
    end = time.monotonic() + 120
    while time.monotonic() < end and not (run.folder / "metrics.jsonl").exists():
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors == ""
    assert run.json("heartbeat.json")["status"] == "interrupted"
    assert run.last["step"] == run.json("heartbeat.json")["step"] > 0
