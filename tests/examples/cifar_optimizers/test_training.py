"""Whole runs: what is learned, and what is said."""

import json
import math

import pytest
import torch

from examples.cifar_optimizers import generated_images, train
from examples.cifar_optimizers.data_sources import load_digits
from examples.cifar_optimizers.model import ResNet18
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from snippets.checkpoints import load_checkpoint

pytestmark = pytest.mark.unmeasured


@pytest.fixture
def default_run(default_training):
    """Return what the script printed for a newcomer, and its run folder."""
    return default_training("cifar_optimizers")


def test_the_default_run_learns_the_digits(default_run):
    _, folder = default_run
    summary, config, heartbeat = (
        json.loads((folder / f"{name}.json").read_text()) for name in ("summary", "config", "heartbeat")
    )
    assert summary["test_accuracy"] >= 0.97
    assert summary["steps"] == heartbeat["step"] == 220
    assert config["options"]["optimizer"] == "sgd"
    assert "train.py" in config["provenance"]["command"]
    assert heartbeat["memory_mb"] > 50
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == sorted({*range(10, 221, 10), *range(22, 221, 22)})
    assert (folder / "curves.png").read_bytes()[:4] == b"\x89PNG"


def test_the_default_run_says_what_it_does(default_run):
    out, folder = default_run
    lines = out.splitlines()
    starts = ["network", "versions", "device", "precision", "data", "", "recipe", "run", "epoch"]
    assert [line.split(" ")[0] for line in lines[:9]] == starts
    assert "ResNet-18, CIFAR stem, width 8: 176,402 parameters" in lines[0]
    assert torch.__version__ in lines[1]
    assert "automatic choice" in lines[2] or "cuda" in lines[2]
    assert "1,442 images to learn from, 355 held out; 16×16 pixels, 10 classes" in lines[5]
    assert "seed 0" in lines[6]
    table = [line.split() for line in lines[9:19]]
    assert [row[0] for row in table] == [str(epoch) for epoch in range(1, 11)]
    assert {len(line) for line in lines[9:19]} == {len(lines[8])}  # the columns do not move
    accuracy = f"{json.loads((folder / 'summary.json').read_text())['test_accuracy']:.2%}"
    assert lines[19].startswith(f"done       {accuracy} of 355 held-out images right, after ")
    assert "\r" not in out  # no progress bar in a file
    assert (folder / "train.log").read_text() == out


def test_weights_of_a_run_work_elsewhere(default_run):
    """The saved network alone gives the accuracy that the run reported."""
    _, folder = default_run
    content = load_checkpoint(folder / "checkpoints" / "best.pt")
    model = ResNet18(10, content["config"]["options"]["width"])
    model.load_state_dict(content["model"])
    _, accuracy = train.evaluate(model, load_digits(16))
    reported = json.loads((folder / "summary.json").read_text())["best_accuracy"]
    assert accuracy == pytest.approx(reported, abs=0.003)  # elsewhere one digit may tip over


@pytest.mark.parametrize(("distance", "images", "batch", "least"), [(3, 4000, 64, 0.5), (8, 2000, 32, 0.97)])
def test_what_is_learned_approaches_the_known_optimum(
    run_train, without_curves, monkeypatch, distance, images, batch, least
):
    """At distance 8 it is 1; at 3, nothing beats it by more than four standard deviations."""
    monkeypatch.setattr(generated_images, "SIGNAL", distance)
    monkeypatch.setattr(generated_images, "TRAIN_IMAGES", images)
    run = run_train(data="synthetic", image_size=8, epochs=3, batch_size=batch)
    best = generated_images.best_accuracy(10, distance)
    assert f"the best possible rule is right for {best:.2%}" in run.out
    accuracy = run.json("summary.json")["test_accuracy"]
    assert least < accuracy <= best + 4 * (best * (1 - best) / 1000) ** 0.5


def test_wrong_labels_are_memorised_below_the_floor_only(run_train, tiny):
    run = run_train(*tiny(label_noise=0.3, epochs=2))
    assert "0.3 of the training labels are wrong" in run.out
    assert "70.0% or a training loss below 1.270 means memorising" in run.out
    assert run.json("summary.json")["train_loss"] > 1.270  # two epochs are too few to memorise


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_learns(run_train, optimizer, without_curves):
    run = run_train(data="digits", image_size=8, width=4, epochs=3, optimizer=optimizer)
    first, *_, last = [line["train_loss"] for line in run.metrics if "train_loss" in line]
    assert last < 0.97 * first
    assert run.json("config.json")["options"]["lr"] == OPTIMIZERS[optimizer].lr


def test_schedules_end_with_the_steps(run_train, tiny, without_curves):
    run = run_train(*tiny(max_steps=11))
    assert [line["step"] for line in run.metrics] == [8, 10, 11]
    # What each step learned with: the cosine begins at the first step and would be 0 after the last.
    expected = [0.1 * (1 + math.cos(math.pi * (step - 1) / 11)) / 2 for step in (8, 10, 11)]
    assert [line["lr"] for line in run.metrics] == pytest.approx(expected)
    assert run.metrics[-1]["epoch"] == pytest.approx(11 / 8)
    assert "test_accuracy" in run.metrics[-1]
    run = run_train(*tiny(schedule="constant", lr=0.03, weight_decay=0, max_steps=11))
    assert {line["lr"] for line in run.metrics} == {0.03}
    assert run.json("config.json")["options"]["weight_decay"] == 0.0  # a typed 0 is not a missing value


def test_labels_are_smoothed_in_training_as_the_data_say(system, tiny, one_thread):
    """Of CIFAR-100's images, a tenth of each label is spread over all classes."""
    task = system.PROGRAM.prepare(system.PROGRAM.read_command_line(tiny()))
    assert task.data.label_smoothing == 0
    images, labels = task.data.train_images[:5], task.data.train_labels[:5]
    scores = torch.randn(5, task.data.classes, generator=torch.Generator().manual_seed(0))
    logs = scores.log_softmax(1)
    for smoothing in (0, 0.1):
        task.data.label_smoothing = smoothing
        own = -logs[range(5), labels].mean()
        expected = (1 - smoothing) * own - smoothing * logs.mean()
        measured = task.measures((images, labels), lambda images: scores)
        torch.testing.assert_close(measured[0], expected)
    right = [int(row.argmax()) == label for row, label in zip(scores, labels.tolist(), strict=True)]
    assert measured.tolist() == pytest.approx([expected.item(), sum(right) / 5])
