"""Processes of every program, killed while they import or lock, and while workers prepare their batches."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples.systems import modules
from snippets.checkpoints import load_newest
from tests.examples.every_program import COMMANDS, TRAININGS, made_by

DYING = Path(__file__).with_name("dying_imports")  # its sitecustomize.py ends processes
pytestmark = [pytest.mark.program, pytest.mark.unmeasured]
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


@pytest.fixture
def run_command(workplace, one_thread, tmp_path):
    """Return a function that runs a command in a copy of the workplace, by default a new one."""

    def run(command, folder=None, **variables):
        folder = folder or shutil.copytree(workplace, tmp_path / f"copy{len(list(tmp_path.iterdir()))}")
        own = {"PYTHONPATH": str(DYING), "MPLCONFIGDIR": str(folder), **variables}
        words = [sys.executable, *command.line]
        done = subprocess.run(
            words, cwd=folder, env=one_thread | own, capture_output=True, text=True, check=False
        )
        return done, folder

    return run


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("monitor", id="sample"),  # others take seconds to start
        *(pytest.param(name, marks=LONG, id=name) for name in COMMANDS),
    ],
)
def test_kills_during_import(run_command, outcome_of, tmp_path, name):
    """A program that ends while it imports says at most one word, and the next start finds all in order."""
    command, chance = COMMANDS[name], random.Random(f"imports of {name}")
    first, undisturbed = run_command(command, COUNT_IMPORTS=str(tmp_path / "count"))
    assert first.returncode == 0, first.stderr
    imports, folder, endings = int((tmp_path / "count").read_text()), None, []
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        place = chance.randint(1, imports)
        killed, folder = run_command(
            command, folder, DIE_AT_IMPORT=f"{Path(command.script).name} {place} {number:d}"
        )
        said = "" if number == signal.SIGKILL else "interrupted\n"
        endings.append((place, number, killed.returncode, killed.stderr))
        over = name in TRAININGS and number != signal.SIGKILL and killed.returncode == 0  # asked too late
        like_ctrl_c = said and killed.returncode == 128 + signal.SIGINT  # while a folder is written
        assert over or like_ctrl_c or killed.returncode in (-number, 128 + number), endings
        assert killed.stderr in ("", said), endings
    last, _ = run_command(command, folder)
    assert last.returncode == 0, (endings, last.stderr)
    assert made_by(command, folder) == made_by(command, undisturbed)
    if name in TRAININGS:
        outcome_of(folder / "run").assert_same_as(outcome_of(undisturbed / "run"))


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("program_name", modules(), indirect=True)
def test_kills_around_locks(program_name, tiny, one_thread, undisturbed, outcome_of, tmp_path):
    """Whoever dies between folder, lock, settings and heartbeat, alone or beside a rival, loses nothing."""
    kills = -(-112 // len(modules()))  # of all programs together, 112
    words = [sys.executable, str(DYING.with_name("lock_kills.py")), program_name, str(kills)]
    command = [*words, *tiny(out="run", resume="auto")]
    done = subprocess.run(command, cwd=tmp_path, env=one_thread, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sum(json.loads(done.stdout).values()) >= kills
    for folder in tmp_path.glob("end*"):
        assert not list(folder.rglob(".*"))
        outcome_of(folder).assert_same_as(undisturbed(tiny()))


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
