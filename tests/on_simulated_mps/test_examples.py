"""Short trainings of every example with `--device mps`, on the simulated device."""

import json
import runpy
import signal
from pathlib import Path

import pytest
import simulated_mps
import torch

from examples.cifar_optimizers import compare_devices, train
from examples.indicator_transformer import train as indicators
from snippets.checkpoints import load_checkpoint
from snippets.framework.errors import exit_with_one_line

ROOT = Path(__file__).resolve().parents[2]
TINY = "--data synthetic --image-size 8 --width 2 --data-fraction 0.1 --batch-size 50 --epochs 3"
INDICATORS = "--bars 3000 --stride 8 --batch-size 16 --epochs 2"


@pytest.fixture(autouse=True)
def _one_thread(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)


def run_train(words, system=train):
    return exit_with_one_line(system.PROGRAM.main, words.split())


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


def test_indicators_are_learned_as_on_the_cpu_and_no_operator_is_missing(tmp_path):
    """Order and weights come from the CPU, and nothing else is random: only rounding may differ."""
    before = simulated_mps.report()
    assert run_train(f"--device mps {INDICATORS} --out mps", indicators) == 0
    report = simulated_mps.report()
    assert (report.missing, report.fell_back) == (before.missing, before.fell_back)
    refused = {name: count for name, count in report.events.items() if name.startswith("refused")}
    assert refused == {name: count for name, count in before.events.items() if name.startswith("refused")}
    assert run_train(f"--device cpu {INDICATORS} --out cpu", indicators) == 0
    found, expected = (json.loads((tmp_path / name / "summary.json").read_text()) for name in ("mps", "cpu"))
    for name in ("train_loss", "train_bce", "val_bce"):
        assert found[name] == pytest.approx(expected[name], abs=1e-4)
    on_mps, on_cpu = last(tmp_path / "mps")["model"], last(tmp_path / "cpu")["model"]
    assert all(torch.equal(on_mps[name], on_cpu[name]) for name in ("value_mean", "context_std"))


def test_the_network_with_dropout_and_all_indicators_takes_its_steps(tmp_path):
    before = simulated_mps.report().missing
    words = "--size origin --bars 2000 --val-split 0.05 --batch-size 1 --max-steps 2 --precision bf16"
    assert run_train(f"--device mps {words} --out run", indicators) == 0
    assert json.loads((tmp_path / "run" / "config.json").read_text())["parameters"] == 4_894_082
    assert simulated_mps.report().missing == before


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (train, f"{TINY} --precision fp32"),
        (train, f"{TINY} --precision bf16"),
        (train, f"{TINY} --precision fp16 --accumulate 2"),
        (train, f"{TINY} --optimizer muon"),
        (indicators, f"{INDICATORS} --precision bf16"),
        (indicators, f"{INDICATORS} --precision fp16 --accumulate 2"),
    ],
)
def test_a_stopped_run_continues_bit_equal(tmp_path, monkeypatch, system, words):
    task_class = system.PROGRAM.build
    learn = task_class.learn

    def stopping(task, batch):
        measures = learn(task, batch)
        if task.state.step == 5:
            signal.raise_signal(signal.SIGTERM)
        return measures

    assert run_train(f"--device mps {words} --out whole", system) == 0
    monkeypatch.setattr(task_class, "learn", stopping)
    assert run_train(f"--device mps {words} --out stopped", system) == 128 + signal.SIGTERM
    monkeypatch.setattr(task_class, "learn", learn)
    assert run_train("--resume stopped", system) == 0
    whole, stopped = last(tmp_path / "whole"), last(tmp_path / "stopped")
    assert whole["step"] == stopped["step"]
    assert all(torch.equal(whole["model"][name], stopped["model"][name]) for name in whole["model"])


def test_a_run_moves_from_mps_to_the_cpu_and_back(tmp_path):
    """What is saved on one device continues on the other; nothing of it is left behind."""
    assert run_train(f"--device mps {TINY} --out run") == 0
    content = torch.load(tmp_path / "run" / "checkpoints" / "last.pt", weights_only=True)
    assert content["model"]["head.weight"].device.type == "mps"
    network = train.PROGRAM.prepare(
        {"device": "cpu", "data": "synthetic", "image_size": 8, "width": 2}
    ).state.model
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
