"""A checkpoint continues wherever a training can run: other devices, compiled or not, several processes.

Each run is stopped at one place and continues at another. It begins there with the state in the file, bit by
bit, and ends with the loss that it would have reached where it began, but for rounding.
"""

import itertools
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from examples.programs import program as programs
from tests.examples.program_runs import assert_same

ROOT = Path(__file__).resolve().parents[2]
STOPPED = "tests.examples.stopped_program"
STOP = 3  # steps
CLOSE = {"fp32": 1e-4, "bf16": 2e-2, "fp16": 2e-2}  # relative to the loss


class Place(NamedTuple):
    """Where a training runs."""

    device: str
    compiled: bool = False
    processes: int = 1

    def settings(self):
        return {"device": self.device, "compile": self.compiled or None}


PLACES = {
    "cpu": Place("cpu"),
    "compiled": Place("cpu", compiled=True),
    "processes": Place("cpu", processes=2),
    "mps": Place("mps"),
} | ({"cuda": Place("cuda")} if torch.cuda.is_available() else {})


@pytest.fixture
def begun(monkeypatch):
    """Return a list to which each run in this process adds the state that it begins with."""
    states = []
    original = programs.run_to_end

    def note(program, training, run, stop):
        states.append(on_the_cpu(training.state.capture()))
        return original(program, training, run, stop)

    monkeypatch.setattr(programs, "run_to_end", note)
    return states


@pytest.fixture
def in_processes(program, program_name, one_thread):
    """Return a function that trains with torchrun at a place, until step `stop` or to the end."""

    def call(place, stop=0, **settings):
        start = ["torch.distributed.run", "--standalone", f"--nproc-per-node={place.processes}", "--module"]
        words = [*start, STOPPED, program_name, str(stop), *program.words(settings | place.settings())]
        environment = one_thread | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", *words], env=environment, capture_output=True, text=True, check=False
        )
        assert ("stopped by SIGTERM" in done.stdout) == (stop > 0), done.stderr
        assert done.returncode == (1 if stop else 0), done.stderr

    return call


def on_the_cpu(state):
    """Return a copy of a captured state with all tensors on the CPU."""
    if isinstance(state, torch.Tensor):
        return state.detach().to("cpu", copy=True)
    if isinstance(state, dict):
        return {key: on_the_cpu(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return type(state)(map(on_the_cpu, state))
    return state


@pytest.mark.long
@pytest.mark.parametrize("precision", CLOSE)
@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(PLACES, 2)))
@pytest.mark.parametrize("program_name", ["indicator_transformer"], indirect=True)
def test_checkpoint_continues_everywhere(
    run_train, outcome_of, tiny, tmp_path, begun, in_processes, precision, source, target
):
    first, second = PLACES[source], PLACES[target]
    whole = run_train(*tiny(precision=precision, **{"device": "cpu"}), out="whole")
    options = {"precision": precision} | {"out": "run"}
    words = dict(zip(tiny()[::2], tiny()[1::2], strict=True))
    settings = {name.removeprefix("--").replace("-", "_"): value for name, value in words.items()} | options
    in_processes(first, STOP, **settings)
    run = outcome_of(tmp_path / "run")
    saved = run.last
    begun.clear()
    if second.processes > 1:
        in_processes(second, resume="run")
    else:
        assert run_train(resume="run", **second.settings()).code == 0
        (state,) = begun
        for part in ("model", "optimizers", "schedulers", "scaler", "step"):
            assert_same(state[part], saved[part])
    losses = [outcome.metrics[-1]["loss"] for outcome in (run, whole)]
    assert losses[0] == pytest.approx(losses[1], rel=CLOSE[precision])
