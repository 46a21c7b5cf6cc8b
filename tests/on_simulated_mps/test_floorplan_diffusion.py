"""What this system does on MPS beyond the promise of every program, on the simulated device."""

import importlib

import numpy
import pytest
import simulated_mps
import torch

from examples.floorplan_diffusion import generate
from examples.floorplan_diffusion.trained import EDGES, NODES
from examples.systems import find, modules
from snippets import training_loop

floor_plans = pytest.mark.parametrize("program_name", ["floorplan_diffusion/train_nodes"], indirect=True)
plans = pytest.mark.parametrize(
    "program_name", ["floorplan_diffusion/train_nodes", "floorplan_diffusion/train_edges"], indirect=True
)


@floor_plans
def test_floor_plans_are_drawn_as_on_the_cpu(run_train, tmp_path):
    """Random numbers come from the CPU, so that only rounding may differ."""
    for stage in (NODES, EDGES):
        program = importlib.import_module(modules()[stage.system]).PROGRAM
        words = find(stage.system)[1][0].words({**find(stage.system)[1][0].tiny, "epochs": 1})
        assert program.main([*words, "--device", "mps", "--out", str(stage.runs / "first")]) == 0
    before = simulated_mps.report().missing
    for device in ("mps", "cpu"):
        words = ["--count=4", "--batch-size=3", "--steps=10", "--threshold=0.7"]
        assert generate.main([*words, f"--device={device}", f"--out={device}"]) == 0
    for name in ("0000.npz", "0001.npz"):
        on_mps, on_cpu = (numpy.load(tmp_path / device / "batches" / name) for device in ("mps", "cpu"))
        assert numpy.abs(on_mps["nodes"] - on_cpu["nodes"]).max() < 1e-3
        assert numpy.array_equal(on_mps["way"][0], on_cpu["way"][0])
    assert simulated_mps.report().missing == before


@plans
def test_floor_plan_step_equals_the_cpu(system, tiny, monkeypatch):
    """Each device draws its own random numbers; here they depend on their place, or on what they disturb."""

    def constant(shape, device):
        return torch.full((shape,) if isinstance(shape, int) else shape, 0.4, device=device)

    monkeypatch.setattr(torch, "rand", constant)
    monkeypatch.setattr(torch, "rand_like", torch.ones_like)
    monkeypatch.setattr(torch, "randn_like", lambda values: (17 * values).sin())
    monkeypatch.setattr(training_loop, "optimizer_step", lambda *arguments: None)
    found = []
    for device in ("mps", "cpu"):
        task = system.PROGRAM.prepare(system.PROGRAM.read_command_line(tiny(device=device, accumulate=2)))
        task.begin_epoch(0)
        measures = task.learn(next(task.batches(0, 0)))
        assert measures.device.type == device
        gradients = [weights.grad for weights in task.state.model.parameters() if weights.grad is not None]
        found.append([values.cpu() for values in (measures, *gradients)])
    assert len(found[0]) > 10
    for on_mps, on_cpu in zip(*found, strict=True):
        torch.testing.assert_close(on_mps, on_cpu, rtol=1e-3, atol=1e-5)


@plans
def test_no_float64_of_floor_plans_reaches_the_device(run_train, tiny, program_name):
    """With what the tiny training leaves out: other options, memory given back, more places than needed."""
    with pytest.raises(TypeError, match="float64"):
        torch.zeros(1, dtype=torch.float64, device="mps")
    before = simulated_mps.report()
    assert before.events["refused Double"] > 0
    own = {"optimizer": "adamw"} if program_name.endswith("nodes") else {"recompute": True}
    run = run_train(*tiny(max_steps=3, empty_cache=2, corners=30, **own))
    assert (run.code, run.json("heartbeat.json")["device"]) == (0, "mps")
    after = simulated_mps.report()
    assert after.missing == before.missing
    assert after.events["refused Double"] == before.events["refused Double"]
    assert {value.dtype for value in run.last["model"].values()} == {torch.float32}
