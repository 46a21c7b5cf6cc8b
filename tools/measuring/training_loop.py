"""What the training loop costs: an entry of docs/data/results/training_loop.yaml (measure.py loop).

Two promises, each as a ratio within one run, with its spread:

overhead  an epoch of the real loop (losses read, metrics, heartbeat, progress bar) against the same steps
          with nothing around them, on the same device, in turns; neither evaluates nor saves
saving    the share of a run at default settings that goes into checkpoints, the one at its end included

Times are in seconds. Older entries also compare with a "bare" loop, which computed its loss by itself and
counted no accuracy.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from tqdm import tqdm

from examples.programs.program import Program
from examples.programs.run_folder import RunFolder
from examples.systems import find, measured_trainings, modules
from snippets.stop_signals import StopSignals
from snippets.timing import compare
from snippets.training_loop import EpochResult, Task, Training
from tools.measuring.result_entries import RESULTS, rounded

DATA = RESULTS / "training_loop.yaml"


def steps_only(task: Task, epoch: int) -> None:
    """Train for one epoch with the steps of the real loop and nothing around them."""
    task.begin_epoch(epoch)
    for batch in task.batches(epoch, 0):
        task.learn(batch)


@contextlib.contextmanager
def opened(program: Program, task: Task) -> Iterator[tuple[Training, tqdm]]:
    """Yield a run of `task` in a temporary folder and the program's loop; its bar draws into nothing."""
    with (
        tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder,
        Path(os.devnull).open("w") as nothing,
        contextlib.redirect_stdout(nothing),
        tqdm(total=task.total_steps, unit="step", file=nothing, disable=False) as bar,
        RunFolder(Path(folder)) as run,
    ):
        yield program.training(task, run, {"system": "measured"}, advice=""), bar


def measure_overhead(program: Program, words: list[str], pairs: int) -> dict[str, Any]:
    """Return the seconds of an epoch of the steps alone and of the real loop, and ratios of neighbours."""
    typed = program.read_command_line(words) | {"epochs": 10_000}  # a schedule that hardly moves
    simple, real = program.prepare(typed), program.prepare(typed)
    steps, done = real.steps_per_epoch, [0]

    def run_simple() -> None:
        steps_only(simple, done[0])
        done[0] += 1

    with (
        patch.object(real, "evaluate", lambda epoch, *_: EpochResult({}, 0.0, f"epoch {epoch}")),
        opened(program, real) as (training, bar),
        patch.object(training, "save", lambda: None),  # what that costs is measured by itself
    ):

        def run_real() -> None:
            real.total_steps = real.state.step + steps
            training.train(StopSignals(), bar)

        found = compare(run_simple, run_real, real.state.device, warm_up=2, pairs=pairs)
    return {
        "steps": steps,
        "pairs": found.ratio.count,
        "precision": real.precision.name,
        "simple": rounded(found.first, 5),
        "real": rounded(found.second, 5),
        "ratio": rounded(found.ratio, 5),
    }


@contextlib.contextmanager
def timed_saves(training: Training) -> Iterator[list[float]]:
    """Yield a list to which each save of a run will add its seconds."""
    save = training.save
    seconds: list[float] = []

    def timed() -> None:
        start = time.perf_counter()
        save()
        seconds.append(time.perf_counter() - start)

    with patch.object(training, "save", timed):
        yield seconds


def measure_saving(program: Program, words: list[str], epochs: int) -> dict[str, Any]:
    """Return how often and how long a run with the loop's own settings wrote checkpoints."""
    task = program.prepare(program.read_command_line(words) | {"epochs": epochs})
    with opened(program, task) as (training, bar), timed_saves(training) as saves:
        start = time.perf_counter()
        training.train(StopSignals(), bar)
        seconds = time.perf_counter() - start
        size = training.run.last_checkpoint.stat().st_size
    return {
        "steps": task.state.step,
        "saves": len(saves),
        "file_mb": round(size / 1e6, 1),
        "seconds": round(seconds, 3),
        "seconds_saving": round(sum(saves), 4),
        "share": round(sum(saves) / seconds, 5),
        "share_before_the_last": round(sum(saves[:-1]) / seconds, 5),
    }


def measure(name: str, device: torch.device, pairs: int) -> dict[str, Any]:
    """Return what the loop of the program `name` costs, by case of the registry."""
    _, (script,) = find(name)
    program = importlib.import_module(modules()[name]).PROGRAM
    on_device = script.words({"device": device.type})
    entry: dict[str, list[dict[str, Any]]] = {"overhead": [], "saving": []}
    for case in measured_trainings(name):
        if case.gpu != (device.type != "cpu"):
            continue
        words = script.words(case.settings)
        known = {"data": case.name, "words": words}
        overhead = measure_overhead(program, on_device + words, pairs)
        print(f"{case.name}: real / steps {overhead['ratio']}", flush=True)
        entry["overhead"].append(known | {"against": "steps"} | overhead)
        if not case.epochs:
            continue
        saving = measure_saving(program, on_device + words, case.epochs)
        print(f"{case.name}: {saving['saves']} checkpoints, {saving['share']:.3%} of the time", flush=True)
        entry["saving"].append(known | saving)
    return entry
