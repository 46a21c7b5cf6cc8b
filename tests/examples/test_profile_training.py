"""Profiling a training system by its name: what is printed, what is written, and what is wrong usage."""

import json

import pytest
import torch

from examples import profile_training
from examples.cifar_optimizers.train import PROGRAM
from snippets.errors import exit_with_one_line
from snippets.find_waits import WaitFinder

SMALL = ("--image-size", "8", "--width", "1", "--batch-size", "2", "--data-fraction", "0.1")


@pytest.fixture
def profiled(tmp_path, monkeypatch, capsys, one_thread):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = exit_with_one_line(profile_training.main, list(words))
        return code, *capsys.readouterr()

    return call


PLANS = ("--plans", "16", "--width", "16", "--layers", "1", "--batch-size", "2")


@pytest.mark.program
@pytest.mark.parametrize(
    ("name", "words", "call"),
    [
        ("cifar_optimizers", SMALL, "aten::convolution_backward"),
        ("floorplan_diffusion/train_nodes", PLANS, "aten::addmm"),
    ],
    ids=["one program", "two programs"],
)
def test_all_questions_are_answered(profiled, tmp_path, name, words, call):
    code, out, _ = profiled(name, *words, "--device", "cpu")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    parts = [" ".join(line[:-2]) for line in lines if line and line[-1].endswith("%")]
    assert parts == ["data", "forward", "backward and rest", "optimizer"]
    assert sum(float(line[-1][:-1]) for line in lines if line and line[-1].endswith("%")) == pytest.approx(
        100, abs=0.3
    )
    assert "  forward                  0.00" not in out
    assert ("waits in one step: 0\n" in out) == (name == "cifar_optimizers")  # AdamW asks for its step
    assert any(line[-1:] == [call] for line in lines)
    (trace,) = (tmp_path / "runs").iterdir()
    assert trace.name == f"profile_{name.replace('/', '_')}.json"
    events = json.loads(trace.read_text())["traceEvents"]
    steps = {event["name"] for event in events if event.get("name", "").startswith("ProfilerStep")}
    assert len(steps) == 5


def test_waits_are_named_by_their_line(capsys, one_thread):
    task = PROGRAM.build(PROGRAM.resolve(PROGRAM.read_command_line(SMALL)))
    learn = task.learn
    task.learn = lambda batch: learn(batch).tolist() and learn(batch)[0].item()
    with WaitFinder(torch.device("cpu")) as finder:
        task.learn(next(task.batches(0, 0)))
    assert finder.waits.total() == 1  # a list from a CPU tensor needs no wait that PyTorch could see
    profile_training.show_waits(task, task.batches(0, 0))
    out = capsys.readouterr().out
    assert "waits in one step: 1\n" in out
    assert "test_profile_training.py:" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name a training system first (cifar_optimizers"),
        (("resnet",), "not 'resnet'"),
        (("cifar_optimizers", "--wdth", "3"), "unknown option '--wdth'"),
        (("cifar_optimizers", *SMALL, "--out", "file"), "--out file is a file; name a folder"),
        (("cifar_optimizers", *SMALL, "--out", "file/x"), "cannot make the folder file/x: Not a directory"),
    ],
)
def test_wrong_usage_is_one_line(profiled, tmp_path, words, message):
    (tmp_path / "file").write_text("in the way")
    code, _, err = profiled(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err
