"""Whole runs: what is learned, what is written, what is said."""

import fcntl
import json
import math
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
import torch

from examples.cifar_optimizers import synthetic, train
from examples.cifar_optimizers.model import ResNet18
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from snippets.checkpoints import load_checkpoint

SCRIPT = Path(train.__file__)
TINY = shlex.split(
    "--device cpu --data synthetic --image-size 8 --width 2 --data-fraction 0.1 --batch-size 50 --epochs 2"
)


@pytest.fixture
def default_run(default_training):
    """Return what the script printed for a newcomer, and its run folder."""
    return default_training("cifar_optimizers")


def test_the_default_run_learns_the_digits(default_run):
    _, folder = default_run
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["test_accuracy"] >= 0.97
    assert summary["steps"] == 220


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


def test_the_run_folder_is_complete(default_run):
    _, folder = default_run
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    names = "config.json metrics.jsonl heartbeat.json curves.png summary.json train.log"
    if len(files) > 8:  # the run was slow enough for a second save
        files.remove("checkpoints/previous.pt")
    assert files == {*names.split(), "checkpoints/last.pt", "checkpoints/best.pt"}
    config = json.loads((folder / "config.json").read_text())
    assert config["options"]["optimizer"] == "sgd"
    assert config["provenance"]["torch"] == torch.__version__
    assert "train.py" in config["provenance"]["command"]
    heartbeat = json.loads((folder / "heartbeat.json").read_text())
    assert heartbeat["status"] == "finished"
    assert heartbeat["step"] == heartbeat["total_steps"] == 220
    assert heartbeat["memory_mb"] > 50
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    steps = sorted({*range(10, 221, 10), *range(22, 221, 22)})
    assert [line["step"] for line in lines] == steps
    assert all({"step", "epoch", "loss", "lr", "samples_per_s"} <= line.keys() for line in lines)
    assert (folder / "curves.png").read_bytes()[:4] == b"\x89PNG"


def test_weights_of_a_run_work_elsewhere(default_run):
    """The saved network alone gives the accuracy that the run reported."""
    _, folder = default_run
    content = load_checkpoint(folder / "checkpoints" / "best.pt")
    model = ResNet18(10, content["config"]["options"]["width"])
    model.load_state_dict(content["model"])
    from examples.cifar_optimizers.digits import load_digits

    _, accuracy = train.evaluate(model, load_digits(16))
    reported = json.loads((folder / "summary.json").read_text())["best_accuracy"]
    assert accuracy == pytest.approx(reported, abs=0.003)  # elsewhere one digit may tip over


def test_learning_reaches_the_known_optimum(run_train, monkeypatch):
    """Templates at distance 8: the best possible accuracy is 1, and 2,000 images are enough to come near."""
    monkeypatch.setattr(synthetic, "SIGNAL", 8.0)
    monkeypatch.setattr(synthetic, "TRAIN_IMAGES", 2000)
    run = run_train("--data", "synthetic", "--image-size", 8, "--epochs", 3, "--batch-size", 32)
    assert run.code == 0
    assert "the best possible rule is right for 100.00%" in run.out
    assert run.json("summary.json")["test_accuracy"] > 0.97


def test_nothing_beats_the_known_optimum(run_train, monkeypatch):
    """Templates at distance 3: much is learned, and no more than is possible (four standard deviations)."""
    monkeypatch.setattr(synthetic, "SIGNAL", 3.0)
    best = synthetic.best_accuracy(10, 3.0)
    run = run_train("--data", "synthetic", "--image-size", 8, "--epochs", 3)
    assert f"the best possible rule is right for {best:.2%}" in run.out
    accuracy = run.json("summary.json")["test_accuracy"]
    assert 0.5 < accuracy < best + 4 * (best * (1 - best) / 1000) ** 0.5


def test_wrong_labels_are_memorised_below_the_floor_only(run_train):
    run = run_train(*TINY, "--label-noise", 0.3, "--epochs", 2)
    assert "0.3 of the training labels are wrong" in run.out
    assert "70.0% or a training loss below 1.270 means memorising" in run.out
    assert run.json("summary.json")["train_loss"] > 1.270  # two epochs are too few to memorise


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_learns(run_train, optimizer):
    small = ["--data", "digits", "--image-size", "8", "--width", "4", "--epochs", "4"]
    run = run_train(*small, "--optimizer", optimizer)
    assert run.code == 0
    first, *_, last = [line["train_loss"] for line in run.metrics if "train_loss" in line]
    assert last < 0.97 * first
    assert run.json("config.json")["options"]["lr"] == OPTIMIZERS[optimizer].lr


def test_max_steps_ends_the_schedule_too(run_train):
    run = run_train(*TINY, "--max-steps", 11)
    assert run.last["step"] == 11
    assert [line["step"] for line in run.metrics] == [8, 10, 11]
    # What each step learned with: the cosine begins at the first step and would be 0 after the last.
    expected = [0.1 * (1 + math.cos(math.pi * (step - 1) / 11)) / 2 for step in (8, 10, 11)]
    assert [line["lr"] for line in run.metrics] == pytest.approx(expected)
    assert run.metrics[-1]["epoch"] == pytest.approx(11 / 8)
    assert "test_accuracy" in run.metrics[-1]


def test_constant_schedule(run_train):
    run = run_train(*TINY, "--schedule", "constant", "--lr", 0.03, "--weight-decay", 0)
    assert {line["lr"] for line in run.metrics} == {0.03}
    assert run.json("config.json")["options"]["weight_decay"] == 0.0  # a typed 0 is not a missing value


@pytest.mark.program
def test_a_progress_bar_on_a_terminal(tmp_path, one_thread):
    """On a terminal there is a bar; the lines of the table stay whole."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))  # rows, columns
    command = [sys.executable, str(SCRIPT), *TINY, "--epochs", "6"]
    process = subprocess.Popen(command, cwd=tmp_path, env=one_thread, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait() == 0
    assert b"step" in shown
    assert b"\r" in shown.replace(b"\r\n", b"")
    assert shown.count(b"held-out images right") == 1


def test_nan_stops_the_run_with_the_step(run_train, save_often, monkeypatch):
    learn = train.ImageClassification.learn

    def broken(task, indices):
        measures = learn(task, indices)
        return measures * torch.nan if task.state.step == 13 else measures

    monkeypatch.setattr(train.ImageClassification, "learn", broken)
    run = run_train(*TINY)
    assert run.code == 1
    last = Path("runs") / "cifar_optimizers" / run.folder.name / "checkpoints" / "last.pt"
    assert run.err == (
        f"error: the loss became nan at step 13; the last good checkpoint is {last}; "
        "try a lower --lr (it was 0.1)\n"
    )
    assert run.last["step"] == 10
    heartbeat = run.json("heartbeat.json")
    assert heartbeat["status"] == "failed"
    assert "step 13" in heartbeat["error"]


def test_an_absurd_learning_rate_is_stopped(run_train):
    run = run_train(*TINY, "--lr", 1000, "--weight-decay", 100)
    assert run.code == 1
    assert "try a lower --lr (it was 1000)" in run.err
    assert run.err.count("\n") == 1


def test_weights_that_are_not_numbers_are_never_saved(run_train, save_often, monkeypatch):
    learn = train.ImageClassification.learn

    def broken(task, indices):
        measures = learn(task, indices)
        if task.state.step == 16:  # the last step of epoch 2: its loss was still fine
            next(task.state.model.parameters()).data.fill_(torch.inf)
        return measures

    monkeypatch.setattr(train.ImageClassification, "learn", broken)
    monkeypatch.setattr(train, "evaluate", lambda model, data: (1.0, 1.0))
    run = run_train(*TINY)
    assert run.code == 1
    assert "a weight became NaN or infinite at step 16" in run.err
    assert run.last["step"] == 10


def test_out_of_memory_names_the_flags(run_train, monkeypatch):
    monkeypatch.setattr(train.ImageClassification, "learn", lambda task, indices: torch.empty(1 << 60))
    run = run_train(*TINY)
    assert run.code == 1
    assert run.err == "error: out of memory; lower --batch-size (it is 50) or --width (it is 2)\n"
    assert run.json("heartbeat.json")["status"] == "failed"


def test_out_of_memory_before_the_first_step(run_train, monkeypatch, tmp_path):
    monkeypatch.setattr(train, "ResNet18", lambda *arguments: torch.empty(1 << 60))
    run = run_train(*TINY)
    assert run.code == 1
    assert run.err.startswith("error: out of memory; lower --batch-size")
    assert list(tmp_path.iterdir()) == []


def test_a_defect_of_the_program_keeps_its_traceback(run_train, monkeypatch, tmp_path):
    def defect(task, indices):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(train.ImageClassification, "learn", defect)
    with pytest.raises(ZeroDivisionError):
        run_train(*TINY)
    heartbeat = json.loads(next(tmp_path.glob("runs/*/*/heartbeat.json")).read_text())
    assert heartbeat["error"] == "ZeroDivisionError: a defect"
