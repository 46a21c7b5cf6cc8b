"""What every training program of the registry promises, whatever it trains (examples/systems.py)."""

import json
import math
import signal

import pytest
import torch

from snippets.framework import run_folder

RUN_FOLDER = {"config.json", "metrics.jsonl", "heartbeat.json", "curves.png", "summary.json", "train.log"}
CHECKPOINTS = {"checkpoints/last.pt", "checkpoints/best.pt"}
HEARTBEAT = "pid status step total_steps device precision loss samples_per_s eta_s memory_mb updated_at"


def test_the_run_folder_is_complete(run_train, tiny):
    run = run_train(*tiny(), "--out", "run")
    assert (run.code, run.err) == (0, "")
    files = {path.relative_to(run.folder).as_posix() for path in run.folder.rglob("*") if path.is_file()}
    assert files - {"checkpoints/previous.pt"} == RUN_FOLDER | CHECKPOINTS
    heartbeat = run.json("heartbeat.json")
    assert heartbeat.keys() == set(HEARTBEAT.split())
    assert (heartbeat["status"], heartbeat["step"]) == ("finished", heartbeat["total_steps"])
    steps = [line["step"] for line in run.metrics]
    assert steps == sorted(set(steps)) and steps[-1] == heartbeat["step"]
    for line in run.metrics:
        assert {"step", "epoch", "loss", "lr", "samples_per_s"} <= line.keys()
        assert math.isfinite(line["loss"]) and line["lr"] > 0
    assert (run.folder / "train.log").read_text() == run.out


def test_the_configuration_names_what_auto_meant(run_train, tiny, system):
    config = run_train(*tiny(max_steps=1), "--out", "run").json("config.json")
    assert config["system"] == system.PROGRAM.system
    assert config["options"]["precision"] == "fp32"
    assert {"python", "torch", "command", "git_commit", "machine"} <= config["provenance"].keys()


def test_quick_is_a_few_steps_and_max_steps_as_many_as_it_says(run_train, program, tiny):
    quick = run_train(*program.words({"device": "cpu", "quick": True}), "--out", "quick")
    assert quick.code == 0
    assert (quick.folder / "curves.png").exists()
    assert 1 <= quick.json("summary.json")["steps"] <= 20
    assert run_train(*tiny(max_steps=3), "--out", "three").json("summary.json")["steps"] == 3


def test_equal_seeds_give_equal_networks(run_train, tiny):
    first, again, other = (
        run_train(*tiny(max_steps=4, seed=seed), "--out", name).last["model"]
        for name, seed in (("first", 3), ("again", 3), ("other", 4))
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize(
    ("settings", "number"),
    [
        ({}, signal.SIGINT),
        ({}, signal.SIGTERM),
        ({"precision": "bf16"}, signal.SIGTERM),
        ({"accumulate": 2}, signal.SIGTERM),
    ],
    ids=["SIGINT", "SIGTERM", "bf16", "accumulate"],
)
def test_a_stopped_run_continues_bit_equal(run_train, signal_at, undisturbed, tiny, settings, number):
    signal_at(4, number)
    stopped = run_train(*tiny(**settings), "--out", "run")
    assert stopped.code == 128 + number
    assert stopped.json("heartbeat.json")["status"] == "interrupted"
    assert f"stopped by {number.name} after step 4 of" in stopped.out
    assert stopped.out.endswith(" --resume run\n")
    assert not (stopped.folder / "summary.json").exists()
    signal_at(0)
    resumed = run_train("--resume", "run", "--out", "run")
    assert resumed.code == 0
    resumed.assert_same_as(undisturbed(tiny(**settings)))


def test_auto_continues_the_newest_run_with_equal_options(run_train, signal_at, tiny):
    signal_at(2)
    stopped = run_train(*tiny(seed=5))
    signal_at(0)
    resumed = run_train(*tiny(seed=5, precision="fp32"), "--resume", "auto")  # what "auto" was
    assert resumed.code == 0
    assert "continuing after step 2 of" in resumed.out
    assert resumed.folder == stopped.folder
    assert (
        "no unfinished run with these options: starting anew"
        in run_train(*tiny(seed=6, max_steps=1), "--resume", "auto").out
    )


@pytest.fixture
def stopped_run(run_train, signal_at, tiny):
    """Stop a run, of which `auto` decided the format, after its second step."""
    signal_at(2)
    run = run_train(*tiny(), "--out", "run")
    signal_at(0)
    return run


@pytest.mark.parametrize("words", [["--precision", "fp32"], ["--precision", "auto"], ["--no-compile"]])
def test_what_may_be_said_again(run_train, stopped_run, words):
    assert run_train("--resume", "run", *words).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--precision", "bf16"], "--precision is bf16 here but fp32 in the run in run; leave it out"),
        (["--quick"], "--quick is for new runs, and the one in run is longer; leave it out"),
        (["--seed", "9"], "--seed is 9 here but 0 in the run in run; leave it out"),
    ],
)
def test_what_would_be_another_run(run_train, stopped_run, words, message):
    outcome = run_train("--resume", "run", *words)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err
    assert stopped_run.last["step"] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-step", "3"], "unknown option '--max-step'; options: --help --device"),
        (["--device", "tpu"], "--device: invalid choice: 'tpu'"),
        (["--epochs", "0"], "--epochs: must be a whole number from 1"),
        (["--data", "no/such/folder"], "--data no/such/folder"),
        (["--out", "taken"], "--out taken is not empty; choose another folder"),
        (["--resume", "nowhere"], "--resume nowhere: there is no such file or folder"),
        (["--out", "~no_such_user/run"], "there is no user no_such_user; write the whole path"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(run_train, tmp_path, tiny, words, message):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").touch()
    outcome = run_train(*tiny(), *words)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err
    assert not (tmp_path / "runs").exists()


def test_home_folders_are_expanded(run_train, tiny, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert run_train(*tiny(max_steps=1), "--out=~/run").code == 0
    assert (tmp_path / "home/run/summary.json").exists()
    assert "is finished" in run_train("--resume=~/run").out
    assert not (tmp_path / "~").exists()


def test_a_disk_without_locks_is_trained_on(run_train, tiny, monkeypatch):
    def refuse(file, how):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(run_folder.fcntl, "flock", refuse)
    run = run_train(*tiny(max_steps=1), "--out", "run")
    assert run.code == 0
    assert "cannot be locked (Operation not supported)" in run.out
    assert json.loads((run.folder / "summary.json").read_text())["steps"] == 1
