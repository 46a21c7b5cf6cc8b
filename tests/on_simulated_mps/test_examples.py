"""Short trainings of every example with `--device mps`, on the simulated device."""

import json
import runpy
import signal
from pathlib import Path

import pytest
import simulated_mps
import torch

from examples.cifar_optimizers import compare_devices, train
from snippets.checkpoints import load_checkpoint
from snippets.errors import exit_with_one_line

ROOT = Path(__file__).resolve().parents[2]
TINY = "--data synthetic --image-size 8 --width 2 --data-fraction 0.1 --batch-size 50 --epochs 3"


@pytest.fixture(autouse=True)
def _one_thread(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)


def run_train(words):
    return exit_with_one_line(train.main, words.split())


def last(folder):
    return load_checkpoint(folder / "checkpoints" / "last.pt")


def test_the_digits_are_learned_and_no_operator_is_missing(tmp_path):
    """The device draws its own random crops, so the losses are not those of the CPU."""
    assert run_train("--device mps --epochs 3 --out run") == 0
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["test_accuracy"] > 0.9
    heartbeat = json.loads((tmp_path / "run" / "heartbeat.json").read_text())
    assert (heartbeat["device"], heartbeat["status"]) == ("mps", "finished")
    report = simulated_mps.report()
    assert "aten::_mps_convolution" in report.with_kernel
    assert not report.missing


@pytest.mark.parametrize(
    "words", ["--precision fp32", "--precision bf16", "--precision fp16 --accumulate 2", "--optimizer muon"]
)
def test_a_stopped_run_continues_bit_equal(tmp_path, monkeypatch, words):
    learn = train.ImageClassification.learn

    def stopping(task, indices):
        measures = learn(task, indices)
        if task.state.step == 5:
            signal.raise_signal(signal.SIGTERM)
        return measures

    assert run_train(f"--device mps {TINY} {words} --out whole") == 0
    monkeypatch.setattr(train.ImageClassification, "learn", stopping)
    assert run_train(f"--device mps {TINY} {words} --out stopped") == 128 + signal.SIGTERM
    monkeypatch.setattr(train.ImageClassification, "learn", learn)
    assert run_train("--resume stopped") == 0
    whole, stopped = last(tmp_path / "whole"), last(tmp_path / "stopped")
    assert whole["step"] == stopped["step"]
    assert all(torch.equal(whole["model"][name], stopped["model"][name]) for name in whole["model"])


def test_a_run_moves_from_mps_to_the_cpu_and_back(tmp_path):
    """What is saved on one device continues on the other; nothing of it is left behind."""
    assert run_train(f"--device mps {TINY} --out run") == 0
    content = torch.load(tmp_path / "run" / "checkpoints" / "last.pt", weights_only=True)
    assert content["model"]["head.weight"].device.type == "mps"
    network = train.prepare({"device": "cpu", "data": "synthetic", "image_size": 8, "width": 2}).state.model
    network.load_state_dict(last(tmp_path / "run")["model"])
    assert next(network.parameters()).device.type == "cpu"


def test_every_optimizer_takes_its_steps():
    for optimizer in train.OPTIMIZERS:
        words = f"--device mps {TINY} --optimizer {optimizer} --max-steps 3 --out {optimizer}"
        assert run_train(words) == 0


def test_the_comparison_of_devices_passes(capsys):
    assert exit_with_one_line(compare_devices.main, ["--device", "mps", "--data", "synthetic"]) == 0, (
        capsys.readouterr()
    )


def test_the_first_run(capsys):
    """It is a script without functions, so it runs as one."""
    runpy.run_path(str(ROOT / "examples" / "first_run.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "mps" in out
    assert "held-out digits read correctly" in out
