"""What every training program of the registry promises on MPS, on the simulated device."""

import signal

import pytest
import simulated_mps
import torch

from snippets import processes
from snippets.device import pick_device
from snippets.errors import UsageError


def test_a_run_takes_its_steps_and_continues_bit_equal(run_train, tiny, stop, undisturbed):
    takes_its_steps_and_continues(run_train, tiny, stop, undisturbed, {})


@pytest.mark.two_for_all
@pytest.mark.parametrize(
    "settings",
    [{"precision": "fp16", "accumulate": 2}, pytest.param({"precision": "bf16"}, marks=pytest.mark.long)],
    ids=["fp16", "bf16"],
)
def test_so_does_one_in_16_bits(run_train, tiny, stop, undisturbed, settings):
    takes_its_steps_and_continues(run_train, tiny, stop, undisturbed, settings)


def takes_its_steps_and_continues(run_train, tiny, stop, undisturbed, settings):
    before = simulated_mps.report()
    whole = undisturbed(tiny(**settings))
    report = simulated_mps.report()
    assert (report.missing, report.fell_back) == (before.missing, before.fell_back)
    refused, known = (
        {name: count for name, count in part.events.items() if name.startswith("refused")}
        for part in (report, before)
    )
    assert refused == known
    heartbeat = whole.json("heartbeat.json")
    assert (heartbeat["device"], heartbeat["status"]) == ("mps", "finished")
    assert heartbeat["precision"] == settings.get("precision", "fp32")
    assert whole.last["model"].values()
    stop(5, signal.SIGTERM, **settings)
    run_train(resume="run").assert_same_as(whole)


@pytest.mark.two_for_all
def test_checkpoint_continues_on_the_other_device(run_train, stop, tiny):
    run = stop(3)
    content = torch.load(run.folder / "checkpoints" / "last.pt", weights_only=True)
    assert {weight.device.type for weight in content["model"].values()} == {"mps"}
    assert run_train(device="cpu", resume="run").code == 0
    assert run.json("heartbeat.json")["device"] == "cpu"
    content = torch.load(run.folder / "checkpoints" / "last.pt", weights_only=True)
    assert {weight.device.type for weight in content["model"].values()} == {"cpu"}


def test_several_processes_take_the_cpu(monkeypatch):
    """torch.distributed sends no tensors of MPS, and a Mac has one GPU."""
    monkeypatch.setattr(processes, "count", lambda: 2)
    device, reason = processes.own_device(*pick_device("auto"), "auto")
    assert device.type == "cpu"
    assert reason.startswith("automatic choice; no CUDA: ") and "; no MPS for several processes: " in reason
    with pytest.raises(UsageError, match="--device mps is for one process: a Mac has one GPU"):
        processes.own_device(*pick_device("mps"), "mps")
    monkeypatch.setattr(processes, "count", lambda: 1)
    assert processes.own_device(*pick_device("auto"), "auto")[0].type == "mps"
