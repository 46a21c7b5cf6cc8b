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
from tests.examples.every_program import CASES, READING
from tests.examples.system_cases import Command, tiny_words

pytestmark = [pytest.mark.program, pytest.mark.unmeasured, pytest.mark.long, pytest.mark.timeout(3600)]
IMAGES = "cifar_optimizers"
WORDS = "run", str(FOLDER / IMAGES / "train.py"), *tiny_words(IMAGES, epochs=60)
LAUNCHERS = {  # of every system
    "start_run": Command("start_run.sh", WORDS, made=("run",)),
    "cpu-fallback": Command("start_run.sh", ("--cpu-fallback", *WORDS), made=("run",)),
    "systems": Command(
        "systems.py",
        (IMAGES, *tiny_words(IMAGES, epochs=60, out="run", resume="auto")),
        made=("run",),
    ),
}
LAUNCHERS |= {
    f"{system}, {name}": command
    for system, cases in CASES.items()
    for name, command in cases.launchers.items()
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
    command = LAUNCHERS[name]
    line = [sys.executable if command.script.endswith(".py") else "bash", *command.line]
    chance, run, ends = random.Random(name), tmp_path / command.made[0], []
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**one_thread, "PATH": path, "DATA": "sequences", "SEEDS": "1", "OUT": "out"}
    for training in READING.values():
        (tmp_path / training.data).symlink_to(workplace / training.data)

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
