"""What this system does on MPS beyond the promise of every program, on the simulated device."""

import pytest
import simulated_mps

from examples.two_tower import build_cache, evaluate, mine_near_misses, single_file

towers = pytest.mark.parametrize("program_name", ["two_tower"], indirect=True)


@towers
def test_two_tower_training_equals_the_cpu(run_train, tiny):
    before = simulated_mps.report().missing
    settings = {"epochs": 2, "temperature": 0.5}
    on_mps, on_cpu = (run_train(*tiny(device=device, **settings), out=device) for device in ("mps", "cpu"))
    found, expected = (run.json("summary.json") for run in (on_mps, on_cpu))
    assert found["train_loss"] == pytest.approx(expected["train_loss"], abs=1e-4)
    for name in ("recall_50", "mrr"):
        assert found[name] == pytest.approx(expected[name], abs=0.02)  # two ranks may change places
    for device in ("mps", "cpu"):
        for program in (build_cache, mine_near_misses, evaluate):
            assert program.main([str(on_mps.folder), "--device", device]) == 0
        evaluation = on_mps.json("evaluation.json")["trained"]
        lines = (on_mps.folder / "near_misses.jsonl").read_text().splitlines()
        if device == "mps":
            first, mined = evaluation, lines
    assert evaluation == pytest.approx(first, abs=0.02)
    equal = sum(one == other for one, other in zip(mined, lines, strict=True))
    assert len(lines) == 240 and equal > 200
    assert simulated_mps.report().missing == before


def test_two_tower_single_file_equals_the_cpu(monkeypatch):
    before, losses = simulated_mps.report().missing, {}
    monkeypatch.setattr(single_file, "EPOCHS", 1)
    monkeypatch.setattr(single_file, "ROWS", 480)
    for device in ("auto", "cpu"):
        monkeypatch.setattr(single_file, "DEVICE", device)
        network, losses[device] = single_file.train()
        assert network.log_scale.device.type == ("mps" if device == "auto" else "cpu")
    assert losses["auto"] == pytest.approx(losses["cpu"], abs=1e-4)
    assert simulated_mps.report().missing == before
