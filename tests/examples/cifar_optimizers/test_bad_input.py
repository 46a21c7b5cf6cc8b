"""Mistakes of the user: one line, exit code 2, and nothing written."""

import subprocess
import sys
from pathlib import Path

import pytest

from examples.cifar_optimizers import train

SCRIPT = Path(train.__file__)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--optimizer adamax", "'adamax' (choose from"),
        ("--optim sgd", "unknown option '--optim'; options: --help --device --precision --compile"),
        ("--precision bfloat16", "'bfloat16' (choose from"),
        ("--optimizer muon --precision fp16", "use --precision bf16"),
        ("--accumulate 0", "--accumulate: must be a whole number from 1"),
        ("--accumulate 23", "--batch-size 64 × --accumulate 23: there are only 1442 training images"),
        ("--workers -1", "--workers: must be a whole number from 0 to 128"),
        ("extra", "unknown option 'extra'"),
        ("--device gpu", "'gpu' (choose from"),
        ("--schedule linear", "'linear' (choose from"),
        ("--data mnist", "--data mnist: neither one of digits, synthetic, cifar10, cifar100 nor an existing"),
        ("--data .", "neither is nor contains a folder cifar-10-batches-py or cifar-100-python"),
        ("--data cifar10", "there is no folder data/cifar-10-batches-py; add --download"),
        ("--data cifar100", "there is no folder data/cifar-100-python; add --download"),
        ("--download", "--download fetches cifar10 or cifar100, not digits"),
        ("--data cifar10 --image-size 16", "--image-size 16: CIFAR images are 32 pixels"),
        ("--width 0", "--width: must be a whole number from 1 to 512, not '0'"),
        ("--width -8", "--width: must be a whole number from 1 to 512, not '-8'"),
        ("--width 99999", "--width: must be a whole number from 1 to 512"),
        ("--image-size 0", "--image-size: must be a whole number from 8 to 128"),
        ("--epochs 0", "--epochs: must be a whole number"),
        ("--epochs ten", "--epochs: must be a whole number"),
        ("--max-steps 0", "--max-steps: must be a whole number"),
        ("--batch-size 0", "--batch-size: must be a whole number from 1"),
        ("--batch-size 1", "--batch-size 1: batch normalisation needs at least 2 images"),
        ("--batch-size 100000", "--batch-size 100000: there are only 1442 training images"),
        ("--data-fraction 0.01", "--batch-size 64: there are only"),
        ("--data-fraction 0", "--data-fraction: must be a number above 0 to 1, not '0'"),
        ("--data-fraction 1.1", "--data-fraction: must be a number above 0 to 1"),
        ("--label-noise 1", "--label-noise: must be a number from 0 and below 1"),
        ("--label-noise -0.1", "--label-noise: must be a number"),
        ("--lr 0", "--lr: must be a number above 0"),
        ("--lr nan", "--lr: must be a number"),
        ("--weight-decay -1", "--weight-decay: must be a number from 0"),
        ("--seed -1", "--seed: must be a whole number from 0 to 4294967295"),
        ("--resume nowhere", "--resume nowhere: there is no such file or folder"),
        ("--resume .", "--resume .: . holds no run"),
    ],
)
def test_one_line_and_nothing_written(run_train, tmp_path, words, message):
    run = run_train(*words.split())
    assert run.code == 2
    assert run.err.startswith("error: ")
    assert run.err.count("\n") == 1
    assert message in run.err
    assert list(tmp_path.iterdir()) == []


def test_an_unusable_device_names_the_reason(run_train, monkeypatch, tmp_path):
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_built", lambda: False)
    monkeypatch.setattr("platform.system", lambda: "Linux")
    run = run_train("--device", "mps")
    assert run.code == 2
    assert (
        run.err
        == "error: device 'mps' cannot be used: only Macs have it, and this is Linux; use auto or cpu\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_another_run_is_not_overwritten(run_train):
    options = ["--data", "synthetic", "--image-size", "8", "--width", "2", "--max-steps", "2"]
    first = run_train(*options, "--out", "run")
    before = {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()}
    second = run_train(*options, "--out", "run", "--seed", 1)
    assert second.code == 2
    assert second.err.startswith("error: --out run already holds a run; continue it with --resume auto")
    assert {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()} == before


def test_a_folder_with_other_files_is_not_used(run_train, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("precious")
    assert "is not empty" in run_train("--out", "thesis").err
    assert "is a file" in run_train("--out", "thesis/chapter.txt").err
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "precious"


def test_a_folder_that_cannot_be_made(run_train, tmp_path):
    (tmp_path / "file").write_text("in the way")
    run = run_train("--out", "file/run", "--max-steps", 1)
    assert run.code == 2
    assert run.err == "error: cannot make the run folder file/run: Not a directory; use --out\n"


@pytest.mark.program
def test_outside_the_environment_the_script_says_how_to_enter_it(tmp_path):
    """A Python without the project and its packages, which is what a user has who did not enter .venv."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "error: this Python has no module 'torch'; run `make train`, "
        "or enter the environment first: source .venv/bin/activate\n"
    )


@pytest.mark.program
def test_help_names_every_flag(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    flags = """
        --device --data --download --skip-checksum --optimizer --width --image-size --epochs --max-steps
        --batch-size --lr --weight-decay --schedule --label-noise --data-fraction --seed --out --resume
        --quick
    """
    assert all(flag in done.stdout for flag in flags.split())
