"""What the pages say in words about the cost of wrong labels follows from the measured accuracies."""

import statistics
from datetime import date
from pathlib import Path

import pytest

from examples.cifar_optimizers.optimizers import OPTIMIZERS
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = read_yaml(ROOT / "docs/data/results/cifar_label_noise.yaml")


def lost(name, epochs):
    """Return the mean loss of a row in percentage points."""
    (run,) = (run for run in DATA["runs"] if run["name"]["en"] == name)
    pair = run["epochs"][epochs]
    return 100 * statistics.fmean(c - n for c, n in zip(pair["clean"], pair["noisy"], strict=True))


def names():
    return [run["name"]["en"] for run in DATA["runs"]]


def test_the_data_say_how_they_were_made():
    assert {"machine", "versions", "date", "command"} <= DATA.keys()
    assert isinstance(DATA["date"], date)
    assert {run["options"][1] for run in DATA["runs"]} == set(OPTIMIZERS)
    for run in DATA["runs"]:
        for pair in run["epochs"].values():
            for accuracies in pair.values():
                assert len(accuracies) == len(DATA["seeds"]) >= 3
                for accuracy in accuracies:  # of 355 held-out images
                    assert accuracy * 355 == pytest.approx(round(accuracy * 355), abs=0.01)


def test_all_but_radam_lose_1_to_3_points():
    for name in names():
        assert (1 <= lost(name, 10) <= 3) == (name != "RAdam")
    assert max(names(), key=lambda name: lost(name, 10)) == "RAdam"


def test_after_60_epochs_the_learning_rate_decides_for_lion():
    faster = "Lion, learning rate 0.001"
    assert min(lost(name, 60) for name in names()) > 8
    assert lost("Lion", 60) < min(lost(name, 60) for name in ("SGD", "Adam", "AdamW"))
    assert {faster, "Muon"} == set(sorted(names(), key=lambda name: lost(name, 60))[-2:])
    assert min(names(), key=lambda name: lost(name, 60)) == "RAdam"
    assert lost("Lion", 60) < lost("Adam", 60) < lost(faster, 60)


def test_who_learned_more_by_heart_is_right_less_often():
    runs = sorted(DATA["memorised"]["runs"], key=lambda run: run["train_accuracy"])
    assert runs[0]["train_accuracy"] > 1 - DATA["label_noise"]
    tests = [run["test_accuracy"] for run in runs]
    assert tests == sorted(tests, reverse=True)
