"""Kill trainings while they make, lock and open their run folder, as `test_kills.py` asks for.

Children are forked from a process that has imported everything. Each dies before one of the operations on
files that a start begins with: folders, train.log and its lock, config.json, train.pid, first heartbeat.
Every second one has a rival: both start at once, and the one that dies waits a moment before it does.

`lock_kills.py PROGRAM KILLS OPTION…` prints how many kills there were before which operation, as JSON.
"""

import importlib
import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import torch._dynamo  # noqa: F401 - the first optimizer step would import it, in each child
from kill_runs import newest_step  # this file runs as a script

from examples.systems import modules
from snippets.errors import exit_with_one_line

RUN = Path("run")
LAST = "os.rename heartbeat.json"  # the start is over
SIGNALS = signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT
# What a rival may be told while another process is in the same folder, or has just been.
REFUSALS = (
    "another process is training in run; use another ",
    "another process has just begun a run in run; continue it with ",
    "already holds a run; continue it with ",
)


def operation(event, arguments):
    """Return in words what a process is about to do in the run folder; None when it is something else."""
    if event == "fcntl.flock":
        return event
    if event != "open" and not event.startswith("os."):
        return None
    paths = [Path(os.fsdecode(path)) for path in arguments if isinstance(path, str | bytes | os.PathLike)]
    inside = [path for path in paths if RUN.absolute() in [path.absolute(), *path.absolute().parents]]
    return f"{event} {re.sub('[0-9]+', 'PID', inside[-1].name)}" if inside else None


def before_operations(act):
    """Call `act(operation)` before each operation of this process in the run folder."""

    def hook(event, arguments):
        found = operation(event, arguments)
        if found:
            act(found)

    sys.addaudithook(hook)


def note_to(pipe):
    """Return a function that writes operations to a pipe until the start is over."""
    over = []

    def note(found):
        if not over:
            os.write(pipe, f"{found}\n".encode())
        if found == LAST:
            over.append(found)

    return note


def die_at(place, number, linger, pipe):
    """Return a function that writes the operation at a place to a pipe, waits, and ends this process."""
    left = [place]

    def count(found):
        left[0] -= 1
        if left[0] == 0:
            os.write(pipe, f"{found}\n".encode())
            time.sleep(linger)
            os.kill(os.getpid(), number)

    return count


class Starts:
    """Children of this process that train in the same folder."""

    def __init__(self, program, options):
        """Import the program, and look at one undisturbed start."""
        self.train = importlib.import_module(modules()[program])
        self.options = options
        self.train.PROGRAM.report.draw_curves = lambda *arguments: None  # half of the time of a short run
        self.places = len(self.start(note_to)[0])
        RUN.rename("first")

    def start(self, *acts):
        """Let a child for each of `acts` train at once; return the operations noted, exit codes and errors.

        `acts` make, from a pipe, what a child does before each operation; None does nothing.
        """
        reading, writing = os.pipe()
        children = [
            self.fork(make and make(writing), Path(f"err{n}"), reading) for n, make in enumerate(acts)
        ]
        os.close(writing)
        with os.fdopen(reading) as noted:
            lines = noted.read().splitlines()  # until the last one has ended
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        return lines, codes, [Path(f"err{n}").read_text() for n in range(len(acts))]

    def fork(self, act, errors, reading):
        """Return the number of a new child, which trains and never returns."""
        child = os.fork()
        if child:
            return child
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), sys.stderr.fileno())
        if act:
            before_operations(act)
        os._exit(exit_with_one_line(self.train.PROGRAM.main, self.options))


def kill_one(starts, chance, rival):
    """Kill a start at a random place, perhaps while a rival starts; return where, or None if it had ended."""
    place, number = chance.randrange(1, starts.places + 1), chance.choice(SIGNALS)
    linger = chance.choice((0.0, 0.02, 0.3)) if rival else 0.0

    def act(pipe):
        return die_at(place, number, linger, pipe)

    (noted, codes, errors) = starts.start(act, *[None] * rival)
    where = f"{noted[0]}{', with a rival' * rival}" if noted else None
    assert codes[0] in (0, 2, -number, 128 + number), (where, codes, errors)
    for code, error in zip(codes, errors, strict=True):
        refused = code == 2 and error.count("\n") == 1 and any(text in error for text in REFUSALS)
        assert refused or (code != 2 and error.strip() in ("", "interrupted")), (where, codes, errors)
    return where


def main(program, kills, options):
    """Kill so many starts; after one to three kills, let a run end and put it aside."""
    chance = random.Random(f"locks of {program}")
    starts, found, ended = Starts(program, options), Counter(), 0
    while found.total() < kills:
        reached = 0
        for _ in range(chance.randint(1, 3)):
            found.update(filter(None, [kill_one(starts, chance, rival=chance.random() < 0.5)]))
            step = newest_step()
            assert step >= reached, f"step {reached} was saved, but only {step} is left"
            reached = step
        _, codes, errors = starts.start(None)
        assert (codes, errors) == ([0], [""]), (codes, errors)
        RUN.rename(f"end{ended}")
        ended += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
