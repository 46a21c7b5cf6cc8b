"""Real processes of every program, killed while they import, and while workers prepare their batches."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from examples.systems import modules
from snippets.checkpoints import load_newest

LONG = [pytest.mark.long, pytest.mark.timeout(3600)]


@pytest.fixture
def start(system, tiny, one_thread, tmp_path):
    """Return a function that starts a training, or continues it, as the leader of a group of processes."""
    started = []

    def call(**settings):
        command = [sys.executable, system.__file__, *tiny(**settings, out="run", resume="auto")]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "start_new_session": True}
        started.append(subprocess.Popen(command, cwd=tmp_path, env=one_thread, **quiet))
        return started[-1]

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()


def kill_after(process, seconds):
    """Kill a process after some seconds, or let it end; it must not have failed by itself."""
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    assert code in (0, -signal.SIGKILL), process.stderr.read()


@pytest.mark.parametrize(
    ("program_name", "kills"),
    [
        pytest.param(next(iter(modules())), 2, id="sample"),  # a start takes seconds
        *(pytest.param(name, -(-60 // len(modules())), marks=LONG, id=f"{name}-all") for name in modules()),
    ],
    indirect=["program_name"],
)
def test_kills_during_import(start, run_train, tiny, undisturbed, without_curves, kills):
    """Before the first step there is nothing to lose, and what was begun is continued."""
    chance = random.Random(1)
    for _ in range(kills):
        kill_after(start(), chance.uniform(0, 2.5))
    resumed = run_train(*tiny(), out="run", resume="auto")
    assert resumed.code == 0
    if "is finished" not in resumed.out:
        resumed.assert_same_as(undisturbed(tiny()))


def group_has_ended(group, seconds):
    """Return whether all processes of a group end within some seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_kills_with_workers(start, tiny, undisturbed, outcome_of, tmp_path):
    """No worker survives its training, and the run ends as one that nobody killed."""
    chance = random.Random(2)
    settings = {"workers": 2, "epochs": 30}
    reached = 0
    for _ in range(-(-30 // len(modules()))):
        process = start(**settings)
        kill_after(process, chance.uniform(3, 15))
        assert group_has_ended(process.pid, 60)
        folder = tmp_path / "run" / "checkpoints"
        if any((folder / name).exists() for name in ("last.pt", "previous.pt")):
            step = load_newest(folder)[0]["step"]
            assert step >= reached
            reached = step
    kill_after(start(**settings), 600)
    outcome_of(tmp_path / "run").assert_same_as(undisturbed(tiny(**settings)))
