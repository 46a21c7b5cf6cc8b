"""The comparison of the two scans stores speed and memory of both."""

import pytest
import torch
import yaml

from tools.measuring import selective_scan as tool


@pytest.fixture
def entry(monkeypatch, tmp_path):
    """Return the entry that the tool stores for small shapes."""
    path = tmp_path / "scan.yaml"
    argv = ["--device", "cpu", "--pairs", "3", "--file", str(path)]
    monkeypatch.setattr("sys.argv", ["measure_selective_scan", *argv])
    monkeypatch.setattr(tool, "SPEED", {"cpu": [(2, 5, 8, 4), (1, 40, 6, 2)]})
    monkeypatch.setattr(tool, "LAYER", (2, 5, 8, 4))
    assert tool.main(argv) == 0
    (stored,) = yaml.safe_load(path.read_text(encoding="utf-8"))
    return stored


def test_both_are_timed_at_each_shape(entry):
    assert [row["shape"] for row in entry["speed"]] == [[2, 5, 8, 4], [1, 40, 6, 2]]
    for row in entry["speed"]:
        assert row["pairs"] == 3
        for part in ("scan", "loop", "ratio"):
            assert 0 < row[part]["low"] <= row[part]["median"] <= row[part]["high"]
    assert (entry["device"], entry["threads"]) == ("cpu", torch.get_num_threads())
    assert entry["versions"]["torch"] == torch.__version__


def test_memory_counts_the_inputs_once_and_the_states_of_the_loop(entry):
    scan, loop = entry["memory"]
    inputs = 2 * 2 * 5 * 8 + 8 * 4 + 2 * 2 * 5 * 4 + 8
    assert (scan["kind"], scan["layers"], scan["kept_bytes"]) == ("scan", 8, 8 * 4 * inputs)
    assert (loop["kind"], loop["layers"]) == ("loop", 1)
    assert loop["kept_bytes"] >= 4 * 2 * 2 * 5 * 8 * 4
    assert "peak_bytes" not in scan  # of the CPU it cannot be read
