"""Train in child processes, kill them, and let others continue, as `test_reliability.py` asks for.

Every other child is killed from outside after a random time. The rest kill themselves while they write: half
way through a checkpoint, before or after a flush or a rename. A run that ends is put aside.

`kill_runs.py PROGRAM KILLS ENDS OPTION…` prints how many kills there were, how many while writing, and how
many ends.
"""

import importlib
import io
import os
import random
import signal
import sys
import time
from pathlib import Path

import torch
import torch._dynamo  # the first optimizer step would import it, which takes seconds in each child

from examples.systems import modules
from snippets import training_loop
from snippets.checkpoints import load_newest
from snippets.errors import exit_with_one_line

RUN = Path("run")
PATIENCE = 600.0  # seconds for a run that nobody kills


def die():
    """End this process as a power failure would."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_call(owner, name, count, before):
    """Die at the given call of a function: before it, or after it has done its work."""
    original, left = getattr(owner, name), [count]

    def replacement(*arguments, **keywords):
        left[0] -= 1
        if left[0] == 0 and before:
            die()
        result = original(*arguments, **keywords)
        if left[0] == 0:
            die()
        return result

    setattr(owner, name, replacement)


def die_in_write(count, share):
    """Die when a share of the given checkpoint is written."""
    save, left = torch.save, [count]

    def replacement(content, file):
        left[0] -= 1
        if left[0] == 0:
            whole = io.BytesIO()
            save(content, whole)
            file.write(whole.getvalue()[: round(share * whole.tell())])
            file.flush()
            die()
        save(content, file)

    torch.save = replacement


def arrange_death(chance):
    """Choose the write in which this process will die. The first are config, PID, metrics and heartbeat."""
    kind, count = chance.choice(["write", "flush", "rename"]), chance.randrange(1, 12)
    if kind == "write":
        die_in_write(1 + count // 3, chance.random())
    else:
        owner, name = (os, "fsync") if kind == "flush" else (Path, "replace")
        die_at_call(owner, name, count, before=chance.random() < 0.5)


def train_in_child(train, options, arranged):
    """Train until the end or until death; never returns."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if arranged is not None:
        arrange_death(arranged)
    os._exit(exit_with_one_line(train.PROGRAM.main, options))


def wait_and_kill(child, patience):
    """Wait until `child` ends or `patience` (seconds) does; return its exit status."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def newest_step():
    """Return the step that a resumed run would continue after. Fails when there is no whole checkpoint."""
    folder = RUN / "checkpoints"
    if not any((folder / name).exists() for name in ("last.pt", "previous.pt")):
        return 0
    return load_newest(folder)[0]["step"]


def main(program, kills, ends, options):
    """Train until there were so many kills and ends."""
    train = importlib.import_module(modules()[program])
    training_loop.FIRST_SAVE, training_loop.SAVE_SHARE = 0.0, float("inf")  # save at every look at the loss
    chance = random.Random(0)
    killed, while_writing, ended, reached = 0, 0, 0, 0
    while killed < kills or ended < ends:
        patience = chance.uniform(0, 0.8) if killed < kills else PATIENCE
        arranged = None
        if killed < kills and killed % 2:
            patience, arranged = PATIENCE, random.Random(chance.random())
        child = os.fork()
        if child == 0:
            train_in_child(train, options, arranged)
        status = wait_and_kill(child, patience)
        if status == -signal.SIGKILL:
            killed += 1
            while_writing += arranged is not None
            step = newest_step()
            assert step >= reached, f"step {reached} was saved, but only {step} is left"
            reached = step
        elif status == 0:
            RUN.rename(f"end{ended}")
            ended, reached = ended + 1, 0
        else:
            sys.exit(f"a child ended with {status}")
    print(killed, while_writing, ended)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
