"""What the examples do on MPS beyond the promise of every program, on the simulated device."""

import importlib
import runpy
from pathlib import Path

import numpy
import pytest
import simulated_mps
import torch

from examples.cifar_optimizers import compare_devices
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from examples.floorplan_diffusion import generate
from examples.floorplan_diffusion.trained import EDGES, NODES
from examples.genomic_caduceus.mamba import Backbone
from examples.indicator_transformer import single_file as indicators_on_one_page
from examples.systems import find, modules
from examples.two_tower import build_cache, evaluate, mine_near_misses
from examples.two_tower import single_file as towers_on_one_page
from snippets import training_loop
from snippets.errors import exit_with_one_line

FIRST_RUN = Path(__file__).resolve().parents[2] / "examples" / "first_run.py"
cifar = pytest.mark.parametrize("program_name", ["cifar_optimizers"], indirect=True)
indicators = pytest.mark.parametrize("program_name", ["indicator_transformer"], indirect=True)
floor_plans = pytest.mark.parametrize("program_name", ["floorplan_diffusion/train_nodes"], indirect=True)
towers = pytest.mark.parametrize("program_name", ["two_tower"], indirect=True)
genomes = pytest.mark.parametrize(
    "program_name", ["genomic_caduceus/pretrain", "genomic_caduceus/train"], indirect=True
)
plans = pytest.mark.parametrize(
    "program_name", ["floorplan_diffusion/train_nodes", "floorplan_diffusion/train_edges"], indirect=True
)


@cifar
def test_the_digits_are_learned(run_train):
    """The device draws its own random crops, so the losses are not those of the CPU."""
    run = run_train(device="mps", epochs=3)
    assert run.json("summary.json")["test_accuracy"] > 0.9
    assert "aten::_mps_convolution" in simulated_mps.report().with_kernel


@cifar
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_continues_bit_equal(run_train, stop, tiny, undisturbed, optimizer):
    settings = {"optimizer": optimizer, "max_steps": 6}
    stop(3, **settings)
    run_train(resume="run").assert_same_as(undisturbed(tiny(**settings)))


@indicators
def test_indicators_are_learned_as_on_the_cpu(run_train, tiny):
    """Order and weights come from the CPU, and nothing else is random: only rounding may differ."""
    on_mps, on_cpu = (run_train(*tiny(device=device), out=device) for device in ("mps", "cpu"))
    found, expected = (run.json("summary.json") for run in (on_mps, on_cpu))
    for name in ("train_loss", "train_bce", "val_bce"):
        assert found[name] == pytest.approx(expected[name], abs=1e-4)
    for name in ("value_mean", "context_std"):
        assert torch.equal(on_mps.last["model"][name], on_cpu.last["model"][name])


@indicators
def test_the_table_of_chances_is_learned_as_on_the_cpu(run_train):
    settings = {"data": "table", "rows": 400, "batch_size": 16, "epochs": 1}
    on_mps, on_cpu = (run_train(device=device, out=device, **settings) for device in ("mps", "cpu"))
    found, expected = (run.json("summary.json") for run in (on_mps, on_cpu))
    assert found["val_bce"] == pytest.approx(expected["val_bce"], abs=1e-4)
    assert found["optimum"] == pytest.approx(expected["optimum"])


@indicators
def test_the_network_with_dropout_and_all_indicators_takes_its_steps(run_train):
    before = simulated_mps.report().missing
    sizes = {"size": "origin", "bars": 2000, "val_split": 0.05, "batch_size": 1}
    run = run_train(device="mps", max_steps=2, precision="bf16", **sizes)
    assert run.json("config.json")["parameters"] == 4_894_082
    assert simulated_mps.report().missing == before


def test_indicators_on_one_page_are_learned_as_on_the_cpu(monkeypatch):
    monkeypatch.setattr(indicators_on_one_page, "EPOCHS", 1)
    losses = {}
    for device in ("auto", "cpu"):
        monkeypatch.setattr(indicators_on_one_page, "DEVICE", device)
        network, losses[device] = indicators_on_one_page.train()
        assert network.value_mean.device.type == ("mps" if device == "auto" else "cpu")
    assert losses["auto"] == pytest.approx(losses["cpu"], abs=1e-4)


@towers
def test_two_towers_are_learned_as_on_the_cpu_and_used_on_the_device(run_train, tiny):
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


def test_two_towers_on_one_page_are_learned_as_on_the_cpu(monkeypatch):
    before, losses = simulated_mps.report().missing, {}
    monkeypatch.setattr(towers_on_one_page, "EPOCHS", 1)
    monkeypatch.setattr(towers_on_one_page, "ROWS", 480)
    for device in ("auto", "cpu"):
        monkeypatch.setattr(towers_on_one_page, "DEVICE", device)
        network, losses[device] = towers_on_one_page.train()
        assert network.log_scale.device.type == ("mps" if device == "auto" else "cpu")
    assert losses["auto"] == pytest.approx(losses["cpu"], abs=1e-4)
    assert simulated_mps.report().missing == before


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
def test_a_step_with_floor_plans_is_that_of_the_cpu(system, tiny, monkeypatch):
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


@genomes
def test_bases_are_learned_in_lightnings_loop_as_on_the_cpu(run_train, tiny, system, monkeypatch):
    """Masks are drawn on the device, so here they depend on the tokens alone."""
    before, seen, networks, forward = simulated_mps.report(), set(), {}, Backbone.forward

    def masked(tokens, share, generator=None):
        guessed = (tokens + torch.arange(tokens.shape[1], device=tokens.device)) % 5 == 0
        return torch.where(guessed, 3, tokens), guessed

    def noted(network, tokens):
        seen.add((tokens.device.type, torch.is_grad_enabled(), torch.is_autocast_enabled(tokens.device.type)))
        networks[tokens.device.type] = network
        return forward(network, tokens)

    monkeypatch.setattr(system, "masked", masked, raising=False)
    monkeypatch.setattr(Backbone, "forward", noted)
    found, expected = (
        run_train(*tiny(device=device, max_steps=6, accumulate=2), out=device) for device in ("mps", "cpu")
    )
    assert {device for device, *_ in seen} == {"mps", "cpu"}
    for device, network in networks.items():  # Lightning alone would move it to the CPU at the end
        assert {weights.device.type for weights in network.parameters()} == {device}
    for name in ("train_loss", "val_loss"):
        assert found.metrics[-1][name] == pytest.approx(expected.metrics[-1][name], abs=1e-4)
    seen.clear()
    assert run_train(*tiny(max_steps=1, precision="bf16")).code == 0
    assert seen == {("mps", True, True), ("mps", False, False)}
    assert simulated_mps.report().missing == before.missing


def test_the_comparison_of_devices_passes(capsys):
    assert exit_with_one_line(compare_devices.main, ["--device", "mps", "--data", "synthetic"]) == 0, (
        capsys.readouterr()
    )


def test_the_first_run(capsys, monkeypatch, tmp_path):
    """It is a script without functions, so it runs as one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [FIRST_RUN.name])
    runpy.run_path(str(FIRST_RUN), run_name="__main__")
    out = capsys.readouterr().out
    assert "mps" in out
    assert "held-out digits read correctly" in out
