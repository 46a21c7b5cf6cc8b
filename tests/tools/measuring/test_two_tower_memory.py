"""Memory and time of a step of the two towers: three ways that learn the same and keep different amounts."""

import pytest
import torch
import yaml

from examples.two_tower.model import Shape
from tools.measuring import two_tower_memory as tool

WIDTH, LAYERS, STATE, BATCH, POSITIONS = 16, 2, 8, 4, 5
INNER = 2 * WIDTH
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(tool, "SHAPE", Shape(WIDTH, LAYERS, state=STATE))
    monkeypatch.setattr(tool, "WIDTH_IN", 8)
    monkeypatch.setattr(tool, "WARM_UP", 0)


def make_step(batch_size=BATCH):
    torch.manual_seed(0)
    return tool.Step(batch_size, CPU)


def learned(way):
    """Return the weights after two steps; in the first, the last layers still are zeros."""
    step = make_step()
    before = torch.cat([weight.detach().flatten() for weight in step.model.context.layers.parameters()])
    blocks = step.model.context.layers
    with tool.computed(step.model, way):
        step()
        step()
    assert step.model.context.layers is blocks
    after = torch.cat([weight.detach().flatten() for weight in blocks.parameters()])
    assert not torch.equal(before, after)
    return after


def test_the_three_ways_learn_the_same():
    loop = learned("loop")
    assert torch.equal(learned("recomputed"), loop)
    assert torch.allclose(learned("scan"), loop, rtol=0, atol=2e-6)


def test_each_way_runs_its_own_scan(monkeypatch):
    calls = {"scan": 0, "loop": 0}

    def counted(name):
        def scan(*inputs):
            calls[name] += 1
            return known[name](*inputs)

        return scan

    known = dict(tool.WAYS)
    monkeypatch.setattr(tool, "WAYS", {name: counted(name.replace("recomputed", "loop")) for name in known})
    step, found = make_step(), []
    for way in known:
        before = dict(calls)
        with tool.computed(step.model, way):
            step()
        found.append((calls["scan"] - before["scan"], calls["loop"] - before["loop"]))
    assert found == [(LAYERS, 0), (0, LAYERS), (0, 2 * LAYERS)], "recomputed: forward, and again in backward"


def test_scans_keep_their_inputs_or_also_the_states():
    kept = tool.measure_kept(make_step())
    steps = BATCH * POSITIONS
    chosen = 1 + 2 * STATE  # numbers from which step size, B and C are made: one tensor, seen by two of them
    inputs = steps * (2 * INNER + chosen) + INNER * STATE  # x, dt, B and C, A; D is a weight
    assert kept["scan"]["scans_bytes"] == LAYERS * 4 * inputs
    states = steps * INNER * STATE
    assert kept["loop"]["scans_bytes"] >= LAYERS * 4 * 2 * states, "a_t and h_t"
    assert "scans_bytes" not in kept["recomputed"]
    of_all = {way: found["kept_bytes"] for way, found in kept.items()}
    assert of_all["loop"] - of_all["scan"] == pytest.approx(
        kept["loop"]["scans_bytes"] - kept["scan"]["scans_bytes"], rel=0.05
    )
    block_inputs = LAYERS * 4 * steps * WIDTH
    assert block_inputs < of_all["recomputed"] < of_all["scan"]


def test_what_is_kept_grows_with_the_batch():
    one, two, three = (tool.measure_kept(make_step(size))["loop"]["scans_bytes"] for size in (2, 4, 6))
    assert three - two == two - one > 0


def test_an_entry_is_stored_for_each_batch_size(monkeypatch, tmp_path, capsys):
    path = tmp_path / "memory.yaml"
    monkeypatch.setattr("sys.argv", ["two_tower_memory"])
    for size in ("4", "2", "4"):
        argv = ["--device", "cpu", "--batch-size", size, "--rounds", "2", "--file", str(path)]
        assert tool.main(argv) == 0
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert [entry["batch_size"] for entry in entries] == [2, 4]
    for row, way in zip(entries[1]["ways"], ("scan", "loop", "recomputed"), strict=True):
        assert row["way"] == way and "peak_bytes" not in row  # of the CPU it cannot be read
        assert 0 < row["seconds"]["low"] <= row["seconds"]["median"] <= row["seconds"]["high"]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9 and lines[0].startswith("scan        scans keep ")
