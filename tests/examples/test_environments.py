"""Programs where little is allowed or much is missing: limits, names, locales, streams, folders, users.

Each ends well, or with one line; what it wrote is whole; and a training goes on as if nothing had been.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest

from snippets.checkpoints import load_checkpoint
from tests.examples.every_program import COMMANDS, READING, TRAININGS
from tests.examples.surroundings import CASES

pytestmark = [
    pytest.mark.program,
    pytest.mark.unmeasured,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who can become another user and back"),
    pytest.mark.usefixtures("one_thread"),
]
FORKED = [case for case, around in CASES.items() if not around.at_the_start]
AT_THE_START = [case for case, around in CASES.items() if around.at_the_start]
OF_THE_PROFILER = re.compile(r"(USDT|ERROR):\d{4}-")  # PyTorch's own, in each run
PROGRAMS = {f"{name}, its data": command for name, command in READING.items()} | COMMANDS


def programs_for(case, count):
    """Return the names of programs that are tried, drawn by the case's name; first one that trains."""
    chance, around = random.Random(case), CASES[case]
    if around.data:
        return [f"{name}, its data" for name in READING]
    others = [
        name
        for name, command in COMMANDS.items()
        if name not in TRAININGS and not command.starts and (not around.out or "--out" in command.words)
    ]
    return [chance.choice(sorted(TRAININGS)), *chance.sample(others, count - 1)]


def changed(command, around):
    """Return a command with another --out or --data."""
    words = list(command.words)
    for flag, name in (("--out", around.out), ("--data", around.data)):
        if name and flag in words:
            words[words.index(flag) + 1] = name
        elif name:
            place = next(n for n, word in enumerate(words) if word.startswith(f"{flag[2:]}="))
            words[place] = f"{flag[2:]}={name}"
    return replace(command, words=tuple(words))


@pytest.fixture
def prepared(workplace):
    """Return a function that copies the workplace for a case, to where every user may go."""
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as top:
        Path(top).chmod(0o755)

        def prepare(case, name):
            around, number = CASES[case], str(len([*Path(top).iterdir()]))
            Path(top, number).mkdir()
            folder = shutil.copytree(workplace, Path(top, number, around.name or "here"))
            if around.data:
                (folder / PROGRAMS[name].data).rename(folder / around.data)
            if around.user is not None:
                for path in [folder, *folder.rglob("*")]:
                    os.chown(path, around.user, around.user)
                folder.chmod(0o555 if around.read_only else 0o755)
            return folder

        yield prepare


def forked(jobs, where):
    """Return how programs ended that were started in forked processes."""
    lines = [(case, command.script, command.words, str(folder)) for case, command, folder in jobs]
    script = Path(__file__).with_name("forked_starts.py")
    words = {"cwd": where, "input": json.dumps(lines), "capture_output": True, "text": True, "check": False}
    done = subprocess.run([sys.executable, script], **words)
    assert done.returncode == 0, done.stderr
    return [SimpleNamespace(returncode=code, stderr=errors) for code, errors in json.loads(done.stdout)]


def started(case, command, folder):
    """Return how a program ended that a new Python ran."""
    around = CASES[case]
    return subprocess.run(
        [sys.executable, *around.flags, *command.line],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
        preexec_fn=around.take_away,
    )


def assert_whole(folder):
    """Assert that every file in a folder that has a format can be read, and that no temporary one is left."""
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        assert not path.name.endswith(".tmp"), path
        if path.suffix == ".json":
            json.loads(path.read_bytes())
        elif path.suffix == ".jsonl":
            assert all(json.loads(line) for line in path.read_bytes().splitlines()), path
        elif path.parent.name == "checkpoints":
            load_checkpoint(path)
        elif path.suffix in (".npz", ".pt", ".pt2"):
            assert zipfile.ZipFile(path).testzip() is None, path
        elif path.suffix == ".npy":
            numpy.load(path)


def what_is_wrong(done, around, folder):
    """Return what is wrong with an end and with what is left; nothing if it is one of the promised ones."""
    lines = [line for line in done.stderr.splitlines() if not OF_THE_PROFILER.match(line)]
    promised = done.returncode in (0, 1, 2) and len(lines) == (done.returncode != 0)
    if not (promised and all(line.startswith("error: ") for line in lines)) and 2 not in around.closed:
        return f"{done.returncode}: {done.stderr[-1500:]}"
    try:
        assert_whole(folder)
    except Exception as error:
        return f"{done.returncode}: {type(error).__name__}: {error}"
    return None


def check(ends):
    """Assert that all programs ended as promised; name those that did not."""
    wrong = {
        f"{case}, {name}": found
        for (case, name), (done, folder) in ends.items()
        if (found := what_is_wrong(done, CASES[case], folder))
    }
    assert not wrong, "\n".join(f"{what}: {found}" for what, found in wrong.items())


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_programs_cope_with_restrictions_and_odd_names(prepared, references, outcome_of, tmp_path):
    """And with everything allowed again, trainings end as undisturbed ones do."""
    jobs = {(case, name): prepared(case, name) for case in FORKED for name in programs_for(case, 3)}
    tried = [(case, changed(PROGRAMS[name], CASES[case]), folder) for (case, name), folder in jobs.items()]
    again = {
        folder: name for (case, name), folder in jobs.items() if name in TRAININGS and not CASES[case].out
    }
    allowed = [("as usual", COMMANDS[name], folder) for folder, name in again.items()]
    ends = forked(tried + allowed, tmp_path)
    check(dict(zip(jobs, zip(ends[: len(jobs)], jobs.values(), strict=True), strict=True)))
    assert [(end.returncode, end.stderr) for end in ends[len(jobs) :]] == [(0, "")] * len(allowed)
    for folder, name in again.items():
        outcome_of(folder / "run").assert_same_as(references(name))


@pytest.mark.long
@pytest.mark.parametrize("case", AT_THE_START)
def test_how_python_starts(case, prepared, references, outcome_of):
    ends = {}
    for name in programs_for(case, 2):
        folder = prepared(case, name)
        ends[case, name] = started(case, COMMANDS[name], folder), folder
        if name in TRAININGS and ends[case, name][0].returncode == 0:
            outcome_of(folder / "run").assert_same_as(references(name))
    check(ends)


@pytest.mark.long
def test_a_trace_without_room_is_no_success(prepared, tmp_path):
    """PyTorch's profiler says so on standard error alone."""
    folder = prepared("file size 100,000", "profile_training")
    jobs = [("file size 100,000", COMMANDS["profile_training"], folder)]
    (done,) = forked(jobs, tmp_path)
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert line.startswith("error: cannot write runs/profile_cifar_optimizers.json: the disk is full, or ")
    assert not list((folder / "runs").glob("profile*"))
