"""Processes that a program starts have the device, and what they do there is counted."""

import multiprocessing
import os
import re
import subprocess
import sys
import textwrap

import pytest
from simulated_mps.__main__ import main

ADDS_ON_THE_DEVICE = "import torch; print((torch.ones(3, device='mps') + 1).sum().item())"

# The parent itself never uses the device.
SPAWNS = """
import torch
def add(rank):
    print((torch.ones(3, device="mps") + rank).sum().item(), flush=True)
if __name__ == "__main__":
    torch.multiprocessing.start_processes(add, nprocs=2, start_method="spawn")
"""
LOADS_WITH_A_LAMBDA = """
import torch
from torch.utils.data import DataLoader
if __name__ == "__main__":
    torch.ones(3, device="mps").sum()
    for batch in DataLoader([1.0, 2.0], num_workers=1, collate_fn=lambda items: torch.tensor(items)):
        print(batch.item())
"""
SENDS_FROM_A_WORKER = """
import torch
from torch.utils.data import DataLoader
def collate(items):
    return {"x": [torch.tensor(items, device="mps")]}
if __name__ == "__main__":
    for batch in DataLoader([1.0, 2.0], num_workers=1, collate_fn=collate):
        print(batch)
"""
ASKS_ITS_CHILD = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {ADDS_ON_THE_DEVICE!r}], check=True)
"""


NUMBER = re.compile(r"\d\.\d")  # processes print at once: line ends may come behind the next number


@pytest.fixture
def python(tmp_path):
    """Return a function that runs Python in a folder with `program.py`, given as text."""

    def call(program, *words, **variables):
        (tmp_path / "program.py").write_text(textwrap.dedent(program))
        environment = {**os.environ, "TMPDIR": str(tmp_path), **variables}
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False
        )

    return call


def test_spawned_processes_have_the_device_and_are_counted(python, tmp_path):
    done = python(SPAWNS, "-m", "simulated_mps", "program.py")
    assert done.returncode == 0, done.stderr
    assert sorted(NUMBER.findall(done.stdout)) == ["3.0", "6.0"]
    assert "operators    3 different ones, 6 calls" in done.stderr  # fill, add and sum by two processes
    assert "processes    3, counted together" in done.stderr
    assert "waits for one number (.item(), float(), if tensor): 2" in done.stderr
    assert not list(tmp_path.glob("simulated_mps-*"))


@pytest.mark.long
def test_torchrun_and_other_modules(python):
    words = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "program.py"]
    done = python(ADDS_ON_THE_DEVICE, "-m", "simulated_mps", "-m", *words)
    assert done.returncode == 0, done.stderr
    assert NUMBER.findall(done.stdout) == ["6.0", "6.0"]
    assert "processes    3, counted together" in done.stderr
    allowed = ["-m", "simulated_mps", "--allow-no-operators", "-m"]
    help_of_json = python("", *allowed, "json.tool", "--help")
    assert help_of_json.returncode == 0
    assert "--sort-keys" in help_of_json.stdout
    local = python("print(__name__, __file__)", *allowed, "program")
    assert local.stdout.startswith("__main__ ")
    assert local.stdout.endswith("program.py\n")


@pytest.mark.parametrize("module", ["no_such_module", "no_such_package.module"])
def test_a_module_that_is_not_there(capsys, module):
    assert main(["-m", module]) == 2
    assert capsys.readouterr().err == f"error: there is no module {module}\n"


@pytest.mark.long
def test_the_variable_gives_any_command_the_device(python):
    done = python(ASKS_ITS_CHILD, "program.py", SIMULATED_MPS="1")
    assert (done.returncode, done.stdout) == (0, "6.0\n"), done.stderr
    for off in ("0", ""):
        done = python(ADDS_ON_THE_DEVICE, "program.py", SIMULATED_MPS=off)
        assert done.returncode == 1
        assert (
            "Could not run 'aten::empty.memory_format' with arguments from the 'MPS' backend" in done.stderr
        )


def test_a_variable_that_cannot_be_followed_gets_one_line(python):
    done = python("import torch", "program.py", SIMULATED_MPS="1.7")
    assert done.returncode == 2
    assert done.stderr.startswith("error: SIMULATED_MPS=1.7: ")
    assert "there are tables for 2.9" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_the_variable_and_children_keep_the_release(python):
    ask = "import simulated_mps; print(simulated_mps.report().release)"
    by_variable = python(ask, "program.py", SIMULATED_MPS="2.12")
    assert by_variable.stdout == "2.12\n", by_variable.stderr
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {ask!r}], check=True)"
    program = f"import simulated_mps; simulated_mps.enable('2.10'); {child}"
    by_parent = python(program, "program.py")
    assert by_parent.stdout == "2.10\n", by_parent.stderr


@pytest.mark.long
def test_like_macos_lambdas_do_not_reach_workers(python):
    usual = python(LOADS_WITH_A_LAMBDA, "-m", "simulated_mps", "program.py")
    copied = multiprocessing.get_start_method() == "fork"  # on Linux up to Python 3.13
    assert usual.stdout.split() == (["1.0", "2.0"] if copied else []), usual.stderr
    started = python(LOADS_WITH_A_LAMBDA, "-m", "simulated_mps", "--like-macos", "program.py")
    assert started.returncode == 1
    assert "Can't pickle" in started.stderr


@pytest.mark.parametrize("words", [[], pytest.param(["--like-macos"], marks=pytest.mark.long)])
def test_worker_that_sends_a_tensor_fails(python, words):
    done = python(SENDS_FROM_A_WORKER, "-m", "simulated_mps", *words, "program.py")
    assert done.returncode == 1
    error = next(line for line in done.stderr.splitlines() if line.startswith("RuntimeError"))
    assert error.startswith("RuntimeError: simulated_mps: a worker process sent a tensor on the device mps")


@pytest.mark.long
def test_a_copy_of_the_process_takes_nothing_away(python):
    """Its end, which runs what is registered for the end, leaves the folder of the counts in place."""
    program = f"import os, sys\nif os.fork() == 0: sys.exit()\nos.wait()\n{ASKS_ITS_CHILD}"
    done = python(program, "-m", "simulated_mps", "program.py")
    assert done.returncode == 0, done.stderr
    assert "processes    2, counted together" in done.stderr
