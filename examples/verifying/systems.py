"""Two training systems: their losses on MPS against the CPU, and a run that is stopped and continued.

Losses are compared where random numbers of the device play no part (training.py, `plain`). How far rounding
alone takes them apart was measured on a CPU, with weights that were changed by a factor of about 1 ± 1e-5, a
hundred times the rounding of float32. In the transformer, no loss of 30 steps changed by more than 6e-6. The
ResNet amplifies it: 4e-5 within 3 steps, 2e-2 within 30, and 5e-3 in the mean of the last 10. So the first
losses have to agree to 1e-3, all of them in the transformer, and the last ones as levels of the benchmark do.
"""

import json
import math
import signal
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from examples.benchmarking.report import losses_differ
from examples.check_claims import last_line
from examples.systems import modules
from examples.verifying.steps import Ended, Found, Place, Step, finish, marked, scratch, this_python
from examples.verifying.training import MARK

CHILD = Path(__file__).with_name("training.py")
TOLERANCE = 1e-3
EXPECTED = "the first {} losses within {:g}, the last 10 on average within 5 % or their noise"


class System(NamedTuple):
    """A training, the steps of it, and how many of its first losses have to agree."""

    name: str
    words: Sequence[str]
    steps: int
    exact: int


def systems(full: bool) -> list[System]:
    """Return the trainings."""
    count = 200 if full else 30
    return [
        System("cifar_optimizers", ["--data", "digits", "--lr", "0.001"], count, 3),
        System("indicator_transformer", ["--bars", "30000"], count, 30),
    ]


class TrainingFailed(Exception):
    """A training that ended without its losses."""


class Trainings:
    """Trainings of a system in one folder, all together within some seconds."""

    def __init__(self, system: System, folder: Path, environment: dict[str, str], seconds: float) -> None:
        self.system, self.folder, self.environment = system, folder, environment
        self.end = time.monotonic() + seconds

    def losses(self, *words: str, stop: int = 0, plain: bool = False) -> dict[int, float]:
        """Train, and return the loss of each step. Raises TrainingFailed and Ended."""
        module = modules()[self.system.name]
        job = json.dumps({"module": module, "words": words, "stop": stop, "plain": plain})
        left = self.end - time.monotonic()
        if left <= 0:
            raise Ended(None)
        command = this_python(str(CHILD), job)
        try:
            code, output = finish(command, self.folder, left, self.environment)
        except Ended as ended:
            if not stop or ended.code != signal.SIGTERM:
                raise
            code, output = 0, ended.output
        found = marked(output, MARK)
        if code or not found:
            error = [line for line in output.splitlines() if not line.startswith(MARK)]
            raise TrainingFailed(f"{' '.join(words[:2])}: {last_line(chr(10).join(error))}")
        return {int(step): loss for step, loss in found.items()}

    def begin(self, device: str, out: str, **more: bool | int) -> dict[int, float]:
        """Begin a training on a device, in a run folder."""
        words = ["--device", device, *self.system.words, "--max-steps", str(self.system.steps), "--out", out]
        return self.losses(*words, **more)  # type: ignore[arg-type]


def compared(first: dict[int, float], second: dict[int, float], exact: int) -> Found:
    """Return whether two trainings have the same losses, and by how much these differ."""
    pairs = [(step, first[step], second.get(step, math.nan)) for step in first]
    gaps = {step: abs(a - b) / abs(a) for step, a, b in pairs}
    worst = {step: gap if math.isfinite(gap) else math.inf for step, gap in gaps.items()}
    step = max(worst, key=lambda number: worst[number])
    began = max(worst[number] for number in list(worst)[:exact])
    figures = {"steps": len(pairs), "first losses differ by": shown(began)}
    figures |= {"largest difference": shown(worst[step]), "at step": step}
    figures["bit-equal"] = "yes" if first == second else "no"
    differ = began > TOLERANCE or losses_differ(list(first.values()), [second for _, _, second in pairs])
    found: Found = {"outcome": "differs" if differ else "as said", "figures": figures}
    if differ:
        found |= {
            "expected": EXPECTED.format(exact, TOLERANCE),
            "found": f"off by {shown(worst[step])} at {step}",
        }
    return found


def shown(gap: float) -> float | str:
    """Return a relative difference with two digits; JSON has no infinity."""
    return float(f"{gap:.1e}") if math.isfinite(gap) else "not finite"


def run_devices(system: System, seconds: float) -> Found:
    """Train on the CPU and on MPS, and compare the losses."""
    with scratch() as (folder, environment):
        trainings = Trainings(system, folder, environment, seconds)
        try:
            cpu, mps = (trainings.begin(device, device, plain=True) for device in ("cpu", "mps"))
        except TrainingFailed as error:
            return {"outcome": "differs", "expected": "a training to its end", "found": str(error)}
    return compared(cpu, mps, system.exact)


def run_resumed(system: System, device: str, seconds: float) -> Found:
    """Train to the end; train, stop at half and continue; compare the losses, on the CPU bit by bit."""
    with scratch() as (folder, environment):
        trainings = Trainings(system, folder, environment, seconds)
        try:
            whole = trainings.begin(device, "whole")
            halves = trainings.begin(device, "half", stop=system.steps // 2)
            halves |= trainings.losses("--resume", "half")
        except TrainingFailed as error:
            return {"outcome": "differs", "expected": "a training to its end", "found": str(error)}
    found = compared(whole, halves, system.exact)
    if device == "cpu" and whole != halves:
        found |= {"outcome": "differs", "expected": "the same losses, bit by bit"}
        found["found"] = f"off by {found['figures']['largest difference']}"
    return found


def steps(place: Place) -> Iterator[Step]:
    """Yield three steps for each system; what tells most about MPS comes first."""
    why, scale = place.why_not("mps"), 4.0 if place.full else 1.0
    limit, known = 120.0 * scale, systems(place.full)
    for system in known:
        run, name = partial(run_devices, system), f"{system.name}: losses on MPS and CPU"
        yield Step("system", name, 0 if why else 12 * scale, run, limit, why)
    for device in dict.fromkeys([place.device, "cpu"]):
        for system in known:
            name = f"{system.name}: stopped and resumed on {'MPS' if device == 'mps' else 'the CPU'}"
            yield Step("system", name, 15 * scale, partial(run_resumed, system, device), limit)
