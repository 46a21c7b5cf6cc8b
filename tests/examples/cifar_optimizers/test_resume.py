"""Runs that are stopped, killed and continued end exactly as if nothing had happened."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from examples.cifar_optimizers import train
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from snippets import checkpoints
from snippets.framework import resume
from snippets.framework.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("without_curves")

SCRIPT = Path(train.__file__)
TINY = shlex.split(
    "--device cpu --data synthetic --image-size 8 --width 2 --data-fraction 0.1 --batch-size 50 --epochs 3"
)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_resumed_run_ends_bit_equal(run_train, signal_at, undisturbed, optimizer):
    """Stopped in the middle of an epoch, and of an interval between two lines of metrics.jsonl."""
    options = [*TINY, "--optimizer", optimizer, "--label-noise", 0.1]
    signal_at(13)
    stopped = run_train(*options, "--out", "stopped")
    assert stopped.code == 130
    assert stopped.last["step"] == 13
    signal_at(0)
    resumed = run_train("--resume", "stopped", "--out", "stopped")
    assert resumed.code == 0
    assert "continuing after step 13 of 24" in resumed.out
    resumed.assert_same_as(undisturbed(options))


def test_fp16_resumes_bit_equal_with_its_scaler(run_train, signal_at, undisturbed):
    options = [*TINY, "--precision", "fp16"]
    signal_at(7)
    stopped = run_train(*options, "--out", "stopped")
    assert stopped.json("heartbeat.json")["precision"] == stopped.json("config.json")["precision"].split()[0]
    assert "scale" in stopped.last["scaler"]
    signal_at(0)
    run_train("--resume", "stopped", "--out", "stopped").assert_same_as(undisturbed(options))


@pytest.mark.parametrize("at", [1, 8, 10, 23])
def test_any_step_will_do(run_train, signal_at, undisturbed, at):
    """The first, the last of an epoch, one with a line in metrics.jsonl, the last but one."""
    signal_at(at, signal.SIGTERM)
    assert run_train(*TINY, "--out", "stopped").code == 128 + signal.SIGTERM
    signal_at(0)
    run_train(*TINY, "--resume", "auto", "--out", "stopped").assert_same_as(undisturbed(TINY))


def test_a_run_with_crops_and_flips_resumes_bit_equal(run_train, signal_at, write_cifar, tmp_path):
    """The random numbers of the augmentation continue where they were."""
    write_cifar(tmp_path / "sets", per_file=40)
    options = shlex.split("--device cpu --data sets --skip-checksum --width 2 --epochs 2 --batch-size 40")
    whole = run_train(*options, "--out", "whole")
    signal_at(7)
    run_train(*options, "--out", "stopped")
    signal_at(0)
    run_train(*options, "--resume", "auto", "--out", "stopped").assert_same_as(whole)


def test_a_signal_before_the_first_step(run_train, undisturbed, monkeypatch):
    """It came while the data were loading: there is nothing to save, and the run later begins at step 0."""
    load = train.load_for_training

    def interrupted(options):
        signal.raise_signal(signal.SIGINT)
        return load(options)

    monkeypatch.setattr(train, "load_for_training", interrupted)
    assert run_train(*TINY, "--out", "stopped").code == 130
    monkeypatch.setattr(train, "load_for_training", load)
    run_train("--resume", "auto", "--out", "stopped").assert_same_as(undisturbed(TINY))


def test_a_finished_run_is_left_alone(run_train):
    first = run_train(*TINY, "--out", "run")
    before = {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()}
    again = run_train(*TINY, "--out", "run", "--resume", "auto")
    assert again.code == 0
    assert again.out == f"run is finished; see {Path('run') / 'summary.json'}\n"
    assert {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()} == before


def test_a_run_killed_between_its_last_step_and_its_summary(run_train):
    first = run_train(*TINY, "--out", "run")
    summary = first.json("summary.json")
    (first.folder / "summary.json").unlink()
    heartbeat = first.json("heartbeat.json") | {"status": "running"}
    (first.folder / "heartbeat.json").write_text(json.dumps(heartbeat))
    again = run_train("--resume", "run", "--out", "run")
    assert again.code == 0
    assert again.json("summary.json")["test_accuracy"] == summary["test_accuracy"]


def test_a_write_that_fails_keeps_the_previous_checkpoint(run_train, save_often, undisturbed, monkeypatch):
    saves = []
    original = checkpoints.torch.save

    def fill_the_disk(content, file):
        if content["step"] == 16:
            file.write(b"half")
            raise OSError(28, "No space left on device")
        saves.append(content["step"])
        original(content, file)

    monkeypatch.setattr(checkpoints.torch, "save", fill_the_disk)
    run = run_train(*TINY, "--out", "run")
    assert run.code == 1
    assert "No space left on device; the checkpoint before it is untouched" in run.err
    assert run.err.count("\n") == 1
    assert run.last["step"] == 10
    assert saves[-2:] == [8, 10]
    monkeypatch.setattr(checkpoints.torch, "save", original)
    run_train("--resume", "auto", "--out", "run").assert_same_as(undisturbed(TINY))


def test_an_option_that_differs_is_named(run_train, signal_at):
    signal_at(5)
    run_train(*TINY, "--out", "run")
    signal_at(0)
    run = run_train(*TINY, "--out", "run", "--resume", "auto", "--lr", 0.05)
    assert run.code == 2
    assert run.err == (
        "error: --lr is 0.05 here but 0.1 in the run in run; leave it out to continue that run, "
        "or start a new one with another --out\n"
    )
    assert run.last["step"] == 5
    run = run_train("--resume", "run", "--out", "run", "--data", "digits")
    assert run.err.startswith("error: --data is digits here but synthetic in the run in run; leave it out")


def test_other_data_in_the_same_place_are_noticed(run_train, signal_at, write_cifar, tmp_path):
    write_cifar(tmp_path / "sets", per_file=40)
    options = shlex.split("--device cpu --data sets --skip-checksum --width 2 --epochs 2 --batch-size 40")
    signal_at(3)
    run_train(*options, "--out", "run")
    signal_at(0)
    write_cifar(tmp_path / "others", per_file=40, seed=1)
    run = run_train("--resume", "run", "--out", "run", "--data", "others")
    assert run.code == 2
    others = (tmp_path / "others").resolve()
    assert run.err == f"error: the content of --data {others} is not what run began with\n"


def test_a_run_of_another_version_is_refused(run_train, signal_at):
    signal_at(5)
    run = run_train(*TINY, "--out", "run")
    signal_at(0)
    config = run.json("config.json")
    config["options"]["colour"] = "blue"
    (run.folder / "config.json").write_text(json.dumps(config))
    run = run_train("--resume", "run", "--out", "run")
    assert run.code == 2
    assert "was made by another version of this program" in run.err


def test_a_damaged_checkpoint_is_refused_and_kept(run_train, signal_at):
    signal_at(5)
    run = run_train(*TINY, "--out", "run")
    signal_at(0)
    last = run.folder / "checkpoints" / "last.pt"
    last.write_bytes(last.read_bytes()[:1000])
    run = run_train("--resume", "run", "--out", "run")
    assert run.code == 2
    assert "cannot read checkpoint run/checkpoints/last.pt" in run.err
    assert last.stat().st_size == 1000


def test_a_run_that_is_being_written_is_not_touched(run_train, signal_at):
    signal_at(5)
    run = run_train(*TINY, "--out", "run")
    signal_at(0)
    with RunFolder(run.folder):
        second = run_train("--resume", "run", "--out", "run")
    assert second.code == 2
    assert "another process is training in run" in second.err


def test_the_commands_in_messages_work(run_train, signal_at, monkeypatch, one_thread):
    """What an interrupted run tells its user to type does continue it."""
    monkeypatch.setattr(sys, "argv", [str(SCRIPT)])
    signal_at(5)
    run = run_train(*TINY, "--out", "a folder with spaces")
    command = run.out.splitlines()[-1].partition("to go on: ")[2]
    words = shlex.split(command)
    assert words[0] == "python"
    done = subprocess.run(
        [sys.executable, *words[1:]], env=one_thread, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert resume.status_of(run.folder) == "finished"
