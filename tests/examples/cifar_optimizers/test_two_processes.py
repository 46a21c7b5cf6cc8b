"""A second process that is told to continue a run while the first one is still at it."""

import json
import signal

import pytest

from examples.programs import program
from examples.systems import find

PROGRAM = find("cifar_optimizers")[1][0]
WORDS = PROGRAM.words({"device": "cpu", **PROGRAM.tiny, "epochs": 2, "max_steps": None})


@pytest.fixture
def meanwhile(monkeypatch):
    """Return a function that lets something happen just before the next process gets its lock."""

    def arrange(happen):
        class Folder(program.RunFolder):
            def __init__(self, path):
                monkeypatch.setattr(program, "RunFolder", program.RunFolder.__base__)
                happen()
                super().__init__(path)

        monkeypatch.setattr(program, "RunFolder", Folder)

    return arrange


def test_it_goes_on_where_the_first_one_stopped(run_train, signal_at, meanwhile, save_often):
    signal_at(2)
    run = run_train(*WORDS, "--out", "run")
    assert run.code == 128 + signal.SIGINT

    def go_on_to_step_5():
        signal_at(5)
        assert "continuing after step 2" in run_train("--resume", "run").out

    meanwhile(go_on_to_step_5)
    second = run_train("--resume", "run")
    assert second.code == 0
    assert "continuing after step 5" in second.out


def test_run_finished_meanwhile_is_left_alone(run_train, signal_at, meanwhile):
    signal_at(2)
    run = run_train(*WORDS, "--out", "run")

    def finish():
        assert run_train("--resume", "run").code == 0

    meanwhile(finish)
    second = run_train("--resume", "run")
    assert (second.code, second.out) == (0, "run is finished; see run/summary.json\n")
    assert run.folder is not None


def test_run_without_checkpoints_restarts_and_keeps_metrics(run_train, signal_at, save_often):
    signal_at(12)
    run = run_train(*WORDS, "--out", "run")
    metrics = (run.folder / "metrics.jsonl").read_text()
    assert metrics.count("\n") >= 1
    for name in ("last.pt", "previous.pt"):
        (run.folder / "checkpoints" / name).unlink(missing_ok=True)
    signal_at(0)  # at no step
    again = run_train("--resume", "run")
    assert again.code == 0
    assert "note: run has no checkpoint to go on from: starting anew; metrics-1.jsonl" in again.out
    assert (run.folder / "metrics-1.jsonl").read_text() == metrics
    assert again.metrics[0]["step"] <= 10


@pytest.mark.parametrize(
    ("name", "value"), [("epochs", -5), ("lr", None), ("schedule", "zz"), ("optimizer", 7)]
)
def test_an_edited_configuration_is_refused_in_one_line(run_train, signal_at, name, value):
    signal_at(2)
    run = run_train(*WORDS, "--out", "run")
    config = run.json("config.json")
    config["options"][name] = value
    (run.folder / "config.json").write_text(json.dumps(config))
    again = run_train("--resume", "run")
    assert again.code == 2
    assert again.err.startswith("error: ") and again.err.count("\n") == 1
    assert name in again.err
