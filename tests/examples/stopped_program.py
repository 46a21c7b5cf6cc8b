"""Train with a program of the registry, and send its last process SIGTERM in a step.

python -m tests.examples.stopped_program PROGRAM STEP WORDS
"""

import importlib
import os
import signal
import sys

from examples.systems import modules
from snippets.errors import exit_with_one_line
from snippets.training_loop import Training

name, step, *words = sys.argv[1:]
last = int(os.environ.get("RANK", "0")) == int(os.environ.get("WORLD_SIZE", "1")) - 1
original = Training.after_step


def after_step(training, *given):
    """Send the signal before the step is counted as done."""
    if last and training.state.step == int(step):
        signal.raise_signal(signal.SIGTERM)
    return original(training, *given)


Training.after_step = after_step
sys.exit(exit_with_one_line(importlib.import_module(modules()[name]).PROGRAM.main, words))
