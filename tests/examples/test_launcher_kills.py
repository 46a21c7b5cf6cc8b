"""Launchers and their trainings, killed alone and together: nothing trains twice or is lost."""

import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples.monitoring.run_state import read_run
from examples.systems import FOLDER
from tests.examples.every_program import tiny_words

pytestmark = [pytest.mark.program, pytest.mark.unmeasured, pytest.mark.long, pytest.mark.timeout(3600)]
IMAGES, NODES, DNA = "cifar_optimizers", "floorplan_diffusion/train_nodes", "genomic_caduceus/train"
EPOCHS = {IMAGES: 60, "two_tower": 30, NODES: 100, DNA: 20}  # seconds: they are to be met while they train


def words(name, **settings):
    """Return the words of a training that takes seconds."""
    settings = {"epochs": EPOCHS[name]} | settings
    if name == DNA:
        settings |= {"dataset.sequences": None, "batch_size": 6}
    return tiny_words(name, **settings)


def typed(script, *rest):
    """Return the command line of a program or a shell script."""
    return [sys.executable if script.endswith(".py") else "bash", str(FOLDER / script), *rest]


AGAIN = {"out": "run", "resume": "auto"}
TRAIN = str(FOLDER / IMAGES / "train.py")
SEED = "out/sequences/seed-1"
# by name: what is typed, and the folder of the run
LAUNCHERS = {
    "start_run": (typed("start_run.sh", "run", TRAIN, *words(IMAGES)), "run"),
    "cpu-fallback": (typed("start_run.sh", "--cpu-fallback", "run", TRAIN, *words(IMAGES)), "run"),
    "two towers": (typed("two_tower/launch.sh", "run", *words("two_tower")), "run"),
    "menu": (typed("floorplan_diffusion/launch.py", "--choice", "1", "--", *words(NODES, **AGAIN)), "run"),
    "menu, background": (
        typed("floorplan_diffusion/launch.py", "--choice=1", "--background", "--", *words(NODES, out="run")),
        "run",
    ),
    "systems": (typed("systems.py", "two_tower", *words("two_tower", **AGAIN)), "run"),
    "seeds": (
        typed(
            "genomic_caduceus/compare_seeds.py",
            "1",
            "--out",
            "out/sequences",
            "--",
            *words(DNA),
            "data=sequences",
        ),
        SEED,
    ),
    "benchmark": (typed("genomic_caduceus/run_genomic_benchmark_no_wandb.sh", *words(DNA)), SEED),
    "benchmark for a Mac": (
        typed(
            "genomic_caduceus/mps_optimized_genomic_benchmark.sh", *words(DNA), "train.global_batch_size=6"
        ),
        SEED,
    ),
}
ATTACKS = list(itertools.product((signal.SIGKILL, signal.SIGTERM, signal.SIGINT), ("launcher", "group")))


REFUSALS = "error: another process is training in ", "error: another process has just begun a run in "


class Launched:
    """A launcher and what it started. All of them hold the end of a pipe, until the last one has ended."""

    def __init__(self, line, folder, variables, number):
        self.reading, writing = os.pipe()
        self.errors = folder / f"errors{number}"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                line,
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[writing],
                start_new_session=True,
            )
        os.close(writing)

    def send(self, number, whom):
        """Send a signal to the launcher alone, or to all that it has started in its group."""
        with contextlib.suppress(ProcessLookupError):
            (os.kill if whom == "launcher" else os.killpg)(self.process.pid, number)

    def end(self):
        """Wait until all have ended; return the exit code of the launcher and what was written as errors."""
        code = self.process.wait(120)
        os.read(self.reading, 1)
        os.close(self.reading)
        return code, self.errors.read_text()


def lines_in(run):
    """Return how many steps a run has noted."""
    metrics = run / "metrics.jsonl"
    return metrics.read_bytes().count(b"\n") if metrics.exists() else 0


def wait_for(moment, launched, run, chance):
    """Wait for a random time after the start, or after the first steps of the training."""
    noted, deadline = lines_in(run), time.monotonic() + 60
    if moment == "start":
        time.sleep(chance.uniform(0.1, 3))
    else:
        while lines_in(run) <= noted and launched.process.poll() in (None, 0) and time.monotonic() < deadline:
            time.sleep(0.01)


@pytest.mark.parametrize("name", LAUNCHERS)
def test_launchers(name, workplace, one_thread, tmp_path, outcome_of, tmp_path_factory):
    """The next start is refused while the training goes on, and otherwise continues it."""
    line, folder = LAUNCHERS[name]
    chance, run, ends = random.Random(name), tmp_path / folder, []
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**one_thread, "PATH": path, "DATA": "sequences", "SEEDS": "1", "OUT": "out"}
    (tmp_path / "sequences").symlink_to(workplace / "sequences")

    def launch():
        return Launched(line, tmp_path, variables, len(list(tmp_path.glob("errors*"))))

    def put_aside():
        if run.exists() and read_run(run).status == "finished":
            ends.append(run.rename(tmp_path / f"end{len(ends)}"))

    for number, whom in ATTACKS:
        first, moment = launch(), chance.choice(("start", "training"))
        wait_for(moment, first, run, chance)
        first.send(number, whom)
        second = launch()
        code, errors = second.end()
        first.end()
        assert code == 0 or (code == 2 and any(text in errors for text in REFUSALS)), (number, whom, errors)
        put_aside()
    assert launch().end()[0] == 0
    put_aside()
    reference = outcome_of(ends[0])
    for end in ends[1:]:
        outcome_of(end).assert_same_as(reference)
