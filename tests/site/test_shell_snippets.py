"""Shell commands on pages: every file is marked and clean, and those marked `run` really run."""

import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import shell_sections

from tools.checks.sections import all_sections
from tools.checks.shell_snippets import FOLDER, branches, run_mark, without
from tools.record_output import machine_traits
from tools.recordings import read_recordings
from tools.working_copy import environment, working_copy

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / FOLDER).glob("*.sh"))
RUNNABLE = [path for path in FILES if run_mark(path).kind == "run"]
NEWER_BASH = re.compile(r"\b(mapfile|readarray|declare -A|coproc)\b|\$\{\w+(,,|\^\^)|&>>|\|&")


def test_macos_can_run_them():
    newer = [path.name for path in FILES if NEWER_BASH.search(path.read_text(encoding="utf-8"))]
    assert RUNNABLE and newer == [], "macOS has bash 3.2"


def case(path):
    """Return the parameter of a file, which the long tests alone run if its mark says so."""
    return pytest.param(path, id=path.stem, marks=[pytest.mark.long] if run_mark(path).long else [])


@pytest.fixture(scope="module")
def run_elsewhere():
    """Return the commands that test_recorded_output.py runs on this machine; it also reads their output."""
    traits = machine_traits()
    entries = [one for one in read_recordings(ROOT).values() if traits.issuperset(one.get("needs", []))]
    alone = (entry for entry in entries if not (entry.get("before") or entry.get("exit_code")))
    commands = [shlex.split(entry["command"]) for entry in alone]
    return [command for command in commands if "--quick" not in command]  # others may look at that short run


@pytest.mark.program
@pytest.mark.timeout(660)
@pytest.mark.parametrize("path", [case(path) for path in RUNNABLE])
def test_commands_run(path, run_elsewhere):
    script = path.read_text(encoding="utf-8")
    assert not branches(script), "every line of a file that is marked `run` must run"
    commands = (
        script if run_mark(path).long else without(script, run_elsewhere)
    )  # a long file runs as a whole
    with working_copy(ROOT) as folder:
        done = subprocess.run(
            [shutil.which("bash"), "-eu", "-o", "pipefail", "-c", commands, path],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=600,  # seconds; the slowest file trains eight times
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("# ci: run\n", "run", ""),
        ("# ci: run long\n", "run", ""),
        ("#!/usr/bin/env bash\n# ci: no - macOS only: needs Metal\n", "macOS only", "needs Metal"),
        ("# ci: no - network: clones\n", "network", "clones"),
        ("# ci: no - interactive: waits\n", "interactive", "waits"),
    ],
)
def test_marks_are_read(tmp_path, text, kind, why):
    path = tmp_path / "a.sh"
    path.write_text(text, encoding="utf-8")
    assert (run_mark(path).kind, run_mark(path).why) == (kind, why)
    assert run_mark(path).long == text.startswith("# ci: run long")


@pytest.mark.parametrize(
    "text",
    [
        "echo\n",
        "# ci: no\n",
        "# ci: no - slow: x\n",
        "# ci: no - network:\n",
        "#ci: run\n",
        "\n\n\n# ci: run\n",
    ],
)
def test_files_without_a_mark_are_refused(tmp_path, text):
    path = tmp_path / "a.sh"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="neither"):
        run_mark(path)


@pytest.mark.parametrize(
    "line",
    ["false || true", "if x; then y; fi", "exit 0", "a && b", "sleep 9 &", "set +e", "  while x; do y; done"],
)
def test_branches_are_found(line):
    assert branches(f"# if a comment\necho\n{line}\n") == [line]


def test_branches_leave_plain_commands_alone():
    assert branches('python train.py --a "x" > log 2>&1\ncat log | tail -n 2\nA=1 python b.py\n') == []


RECORDED = [["python", "a.py", "two words"], ["python", "-m", "b"]]


@pytest.mark.parametrize(
    "line",
    ['python a.py "two words"', "  python -m b  # why", "python \\\n  -m b", "python a.py two\\ words"],
)
def test_recorded_commands_are_left_out(line):
    assert without(f"x\n{line}\ny\n", RECORDED) == "x\ny\n"


@pytest.mark.parametrize(
    "line",
    [
        "python a.py two words",
        "python -m b > b.txt",
        "A=1 python -m b",
        "python -m b c",
        "# python -m b",
        'echo "a',
    ],
)
def test_other_commands_stay(line):
    assert without(f"x\n{line}\ny\n", RECORDED) == f"x\n{line}\ny\n"


@pytest.mark.program
def test_footprint_looks_at_the_training_however_it_was_started(tmp_path):
    """With stand-ins for the programs of macOS. The caffeinate of a training starts after it."""
    text = (ROOT / FOLDER / "memory_mac.sh").read_text(encoding="utf-8")
    section = re.search(r"\[start:footprint\]\n(.*)# --8<-- \[end:footprint\]", text, re.DOTALL)[1]
    name = f"train_{os.getpid()}.py"  # of no other process here
    for program in ("footprint", "sysctl"):
        (tmp_path / program).write_text(f'#!/bin/sh\necho {program} "$@"\n', encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    processes = []
    for command in (f"python -u examples/{name} --quick", f"caffeinate -i python {name}"):
        processes.append(subprocess.Popen([command, "60"], executable=shutil.which("sleep")))
        time.sleep(0.1)  # Linux notes the start in hundredths of a second
    try:
        done = subprocess.run(
            ["bash", "-eu", "-c", section.replace("train.py", name)],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert done.stdout.splitlines() == [f"footprint {processes[0].pid}", "sysctl vm.swapusage"]


def test_blocks_are_counted_by_the_mark_of_their_file(tmp_path):
    block = "# --8<-- [start:{0}]\necho\n# --8<-- [end:{0}]\n"
    (tmp_path / "a.sh").write_text("# ci: run long\n" + block.format("a") + block.format("b"))
    (tmp_path / "b.sh").write_text("# ci: no - network: downloads\n" + block.format("c"))
    counts = [(row["blocks"], row["files"]) for row in shell_sections.rows(tmp_path.glob("*.sh"))]
    assert counts == [(2, 1), (0, 0), (1, 1), (0, 0)]


def test_every_shown_shell_block_is_counted():
    sections = [key for key in all_sections(ROOT)[0] if key.startswith(f"{FOLDER}/")]
    assert sum(row["blocks"] for row in shell_sections.rows(FILES)) == len(sections) > 100
