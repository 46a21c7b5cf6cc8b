"""The comparison of original and optimised settings: what it measures, how it judges, what it writes."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from examples.genomic_caduceus import verify
from examples.genomic_caduceus.train import Classification
from examples.genomic_caduceus.verify import finding, in_turns, step_memory, table
from snippets.errors import exit_with_one_line
from snippets.memory import MemoryReading
from snippets.timing import Spread


@pytest.fixture
def call(capsys, tmp_path, monkeypatch, one_thread):
    """Return a function that calls verify.py in an empty folder, with short sequences."""
    monkeypatch.chdir(tmp_path)
    short = ["data=motif", "dataset.sequences=256", "dataset.max_length=16"]
    monkeypatch.setattr(verify, "GENERATED", short)
    tiny = ["model.config.d_model=4", "model.config.d_state=1"]
    monkeypatch.setattr(verify, "SETTINGS", {name: words + tiny for name, words in verify.SETTINGS.items()})

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(verify.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


@pytest.mark.program
def test_both_learn_from_the_same_sequences_and_are_compared(call, tmp_path):
    done = call("--device", "cpu", "--steps", 3)
    assert (done.code, done.err) == (0, "")
    report = json.loads((tmp_path / "mps_optimization_report.json").read_text())
    assert report.keys() == {"timestamp", "system_info", "settings", "results"}
    assert report["system_info"].keys() >= {"torch", "python", "chip", "cpu_cores", "mps_available", "device"}
    original, optimized = (report["results"][name] for name in ("original", "optimized"))
    for one, settings in ((original, (128, 1, "fp32")), (optimized, (64, 2, "bf16"))):
        assert (one["batch_size"], one["accumulate"], one["precision"]) == settings
        assert (one["sequences_per_step"], one["sequences_learned_from"]) == (128, 7 * 128)
        assert len(one["step_seconds"]) == one["seconds"]["count"] == 3
        assert one["sequences_per_s"] == pytest.approx(128 / one["seconds"]["median"])
        assert one["step_memory_mb"] is None  # nobody counts it on a CPU
        assert len(one["training_losses"]) == 7
    # The same weights and sequences: what differs is the rounding to bfloat16.
    first, second = original["training_losses"], optimized["training_losses"]
    assert first == pytest.approx(second, rel=0.02) and first != second
    assert original["val_loss"] == pytest.approx(optimized["val_loss"], rel=0.02)
    assert len(set(first)) == 7  # the weights change
    ratios = [b / a for a, b in zip(original["step_seconds"], optimized["step_seconds"], strict=True)]
    assert report["results"]["ratio"]["median"] == pytest.approx(sorted(ratios)[1])
    assert "note       MPS was not measured: this is CPU" in done.out
    assert done.out.endswith("report     mps_optimization_report.json\n")
    assert report["results"]["finding"] in done.out


@pytest.mark.program
def test_a_loss_that_is_no_number_ends_it(call, tmp_path, monkeypatch):
    learn = Classification.learn
    monkeypatch.setattr(Classification, "learn", lambda task, batch: learn(task, batch) * float("nan"))
    done = call("--device", "cpu", "--steps", 2)
    assert (done.code, done.err) == (1, "error: the loss of the original settings became nan\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        ((1.02, 0.9, 1.1), "no difference: 1 is within the spread"),
        ((0.95, 0.9, 1.0), "no difference: 1 is within the spread"),
        ((0.75, 0.7, 0.8), "a step of the optimized settings takes 25% less time"),
        ((1.4, 1.2, 1.5), "a step of the optimized settings takes 40% more time"),
    ],
)
def test_a_difference_within_the_spread_is_none(ratio, expected):
    assert finding(Spread(*ratio, 20)) == expected


def test_steps_are_timed_in_turns():
    order = []

    def steps(name):
        return SimpleNamespace(timed=lambda count: order.append((name, count)) or len(order))

    assert in_turns(steps("a"), steps("b"), 3) == ([1, 4, 5], [2, 3, 6])
    assert order == [("a", 1), ("b", 1), ("b", 1), ("a", 1), ("a", 1), ("b", 1)]


def test_memory_of_a_step_is_what_it_adds(monkeypatch):
    cuda = torch.device("cuda")
    readings = [MemoryReading("cuda", 5_000_000, 0, 9_000_000, 1), MemoryReading("cuda", 6, 0, 7_500_000, 1)]
    done = []
    monkeypatch.setattr(verify, "synchronize", lambda device: done.append("wait"))
    monkeypatch.setattr(verify, "read_memory", lambda device: done.append("read") or readings.pop(0))
    monkeypatch.setattr(torch.accelerator, "reset_peak_memory_stats", lambda: done.append("reset"))
    task = SimpleNamespace(state=SimpleNamespace(device=cuda))
    steps = SimpleNamespace(task=task, timed=lambda count: done.append("step"))
    assert step_memory(steps) == 2.5
    assert done == ["wait", "reset", "read", "step", "read"]


def test_the_table_shows_what_is_known():
    one = {"batch_size": 128, "accumulate": 1, "precision": "fp32", "step_memory_mb": None}
    one |= {"seconds": {"median": 0.2, "low": 0.1, "high": 0.3}, "sequences_per_s": 640.0, "val_loss": 0.5}
    two = one | {"batch_size": 64, "accumulate": 2, "precision": "bf16", "step_memory_mb": 12.34}
    ratio = {"median": 1.0, "low": 0.9, "high": 1.1}
    lines = table({"original": one, "optimized": two, "ratio": ratio, "finding": "no difference"})
    assert " ".join(lines[1].split()) == "original 128 fp32 200.0 (100.0 to 300.0) 640 – 0.5000"
    assert " ".join(lines[2].split()) == "optimized 64 × 2 bf16 200.0 (100.0 to 300.0) 640 12.3 0.5000"
    assert lines[3] == "ratio      1.00 (0.90 to 1.10): no difference"
    assert len({len(line) for line in lines[:3]}) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--steps", "1"], "--steps: must be a whole number from 2"),
        (["--device", "gpu"], "--device: invalid choice: 'gpu'"),
        (["--size", "huge"], "--size: invalid choice"),
        (["--data", "nowhere"], "data=nowhere: neither motif nor a folder"),
        (["--reference", "genome.fa"], "--reference is the genome of --data FOLDER"),
        (["--batch-size", "3"], "unknown option '--batch-size'"),
    ],
)
def test_mistakes_are_one_line(call, tmp_path, words, message):
    done = call(*words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith("error: ") and message in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long  # make_data.py begins in the same way
def test_the_program_starts_from_any_folder(tmp_path):
    command = [sys.executable, verify.__file__, "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("usage: verify.py")
