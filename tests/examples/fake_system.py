"""A training system for tests of the benchmark: a line fitted to points, on the CPU, in some milliseconds.

It reads `--fp32`, `--bf16`, `--fp16` and `--compiled`, each followed by what goes wrong at such a level.
"""

import os
import signal
import time
from types import SimpleNamespace

import torch

from examples.programs.command_line import FLAGS, StrictParser, whole_number
from snippets.errors import UsageError

FAULTS = ("ok", "segfault", "oom", "refuse", "raise", "hang", "nan", "frozen")
SAMPLES = 64


class FitALine:
    """A task with two weights. Each epoch has four batches."""

    def __init__(self, batch_size, fault, facts):
        self.state = SimpleNamespace(device=torch.device("cpu"), step=0)
        self.samples_per_step, self.steps_per_epoch = batch_size, SAMPLES // batch_size
        self.fault, self.facts = fault, facts
        self.weights = torch.zeros(2)
        self.asked_for = []

    def begin_epoch(self, epoch):
        pass

    def batches(self, epoch, first):
        self.asked_for.append((epoch, first))
        x = torch.linspace(-1, 1, SAMPLES)
        x = x[torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(epoch))]
        return iter(x.split(self.samples_per_step)[first:])

    def learn(self, x):
        weights = self.weights.clone().requires_grad_()
        loss = (weights[0] * x + weights[1] - (3 * x - 1)).square().mean()
        loss.backward()
        if self.fault != "frozen":
            self.weights -= 0.1 * weights.grad
        self.state.step += 1
        loss = loss.detach() * (float("nan") if self.fault == "nan" else 1)
        return torch.stack([loss, torch.tensor(1.0)])


def read_command_line(argv):
    parser = StrictParser(prog="train.py")
    for flag in ("--fp32", "--bf16", "--fp16", "--compiled"):
        parser.add_argument(flag, choices=FAULTS, default="ok")
    parser.add_argument("--batch-size", type=whole_number(1, SAMPLES), default=16)
    parser.add_argument("--device")
    parser.add_argument("--max-steps", type=int)
    parser.add_argument("--quick", action="store_true")
    return {name: value for name, value in vars(parser.parse_args(argv)).items() if value}


def prepare(typed):
    fault = typed["compiled"] if typed.get("compile") else typed[typed["precision"]]
    if fault == "refuse":
        raise UsageError(f"precision {typed['precision']} cannot be used")
    if fault == "raise":
        raise RuntimeError("\n  a compiler gave up  \nand then said much more\n")
    if fault == "oom":
        raise RuntimeError("MPS backend out of memory (MPS allocated: 8.00 GB, max allowed: 9.07 GB)")
    if fault == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "hang":
        print("hanging", flush=True)
        time.sleep(600)
    return FitALine(typed["batch_size"], fault, {"compile": "compiled by nobody"})


PROGRAM = SimpleNamespace(read_command_line=read_command_line, prepare=prepare, spelling=FLAGS)
