"""The process of one training: train, print the loss of every step as one line of JSON.

    python examples/verifying/training.py '{"module": "examples.cifar_optimizers.train", "words": [],
        "stop": 0, "plain": true}'

`stop` is the step at which the process gets SIGTERM, as if somebody had stopped the run; 0: it runs to its
end. `plain` takes away what each device draws for itself, random crops and dropout, so that losses on two
devices can be compared.
"""

import dataclasses
import importlib
import json
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/

import torch

from snippets.errors import exit_with_one_line
from snippets.training_loop import Task

MARK = "training result> "  # the system may print other lines before it


def without_draws(task: Task) -> Task:
    """Return the task, whose training no longer draws random numbers on the device."""
    for module in task.state.model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        elif isinstance(getattr(module, "dropout", None), float):
            module.dropout = 0.0
    data: Any = getattr(task, "data", None)
    if hasattr(data, "crop_padding"):
        data.crop_padding, data.flip = 0, False
    return task


def main(text: str) -> int:
    """Train as the job says; print the losses and return the exit code of the program."""
    job: dict[str, Any] = json.loads(text)
    program = importlib.import_module(job["module"]).PROGRAM
    losses: dict[int, torch.Tensor] = {}

    class NotedTraining(program.training):  # type: ignore[misc, name-defined]
        """Keeps the loss of each step, and stops at the one of the job."""

        def after_step(self, measures: torch.Tensor, *given: Any) -> bool:
            losses[self.state.step] = measures[0].detach()
            if self.state.step == job["stop"]:
                signal.raise_signal(signal.SIGTERM)
            return bool(super().after_step(measures, *given))

    def build(options: Any) -> Task:
        task = program.build(options)
        return without_draws(task) if job["plain"] else task

    changed = dataclasses.replace(program, build=build, training=NotedTraining)
    code = exit_with_one_line(changed.main, job["words"])
    values = {step: float(loss) for step, loss in losses.items()}
    print(MARK + json.dumps(values), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
