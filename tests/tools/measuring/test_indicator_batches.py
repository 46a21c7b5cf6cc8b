"""The sweep over batch sizes measures each way once, and keeps why one failed."""

import pytest
import torch
import yaml

from tools.measuring import indicator_batches as tool

WORDS = ["--device", "cpu", "--steps", "2", "--warm-up", "1", "--bars", "3000", "--stride", "8"]


def fails(model):
    raise RuntimeError("no compiler\nat hand")


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Return a function that runs the tool with the given flags and ways, and returns its entry."""

    def run(*words, **ways):
        path = tmp_path / "batches.yaml"
        monkeypatch.setattr(tool, "WAYS", ways)
        argv = [*WORDS, "--file", str(path), *words]
        monkeypatch.setattr("sys.argv", ["measure_indicator_batches", *argv])
        assert tool.main(argv) == 0
        (entry,) = yaml.safe_load(path.read_text(encoding="utf-8"))
        return entry

    return run


def test_each_size_is_trained_in_each_way(measured):
    entry = measured("--batch-sizes", "4,8", fp32=("fp32", tool.as_it_is), bf16=("bf16", tool.as_it_is))
    found = [(row["batch_size"], row["way"]) for row in entry["rows"]]
    assert found == [(4, "fp32"), (4, "bf16"), (8, "fp32"), (8, "bf16")]
    for row in entry["rows"]:
        assert 0 < row["low_ms"] <= row["step_ms"] <= row["high_ms"]
        assert row["samples_per_s"] == pytest.approx(1e3 * row["batch_size"] / row["step_ms"], rel=1e-2)
    by_way = {row["way"]: row["last_loss"] for row in entry["rows"][:2]}
    assert by_way["fp32"] == pytest.approx(by_way["bf16"], abs=0.02)
    assert (entry["training"], entry["device"]) == ("--bars 3000 --stride 8", "cpu")
    assert entry["versions"]["torch"] == torch.__version__


def test_a_way_that_fails_is_stored_with_its_reason(measured):
    entry = measured("--batch-sizes", "4", fp32=("fp32", tool.as_it_is), compiled=("fp32", fails))
    assert "step_ms" in entry["rows"][0]
    assert entry["rows"][1] == {"batch_size": 4, "way": "compiled", "reason": "no compiler"}


def test_ways_that_need_cuda_graphs_are_left_out_elsewhere(measured):
    graphs = {"bf16+compile+graphs": ("fp32", fails)}
    entry = measured("--batch-sizes", "4", fp32=("fp32", tool.as_it_is), **graphs)
    assert [row["way"] for row in entry["rows"]] == ["fp32"]
