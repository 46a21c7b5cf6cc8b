"""Time saving, checking and loading a checkpoint of the full-size ResNet-18, and store the result.

    python -m tools.measuring.checkpoints --device cuda

The checkpoint is as the CIFAR example writes it with SGD and momentum. Saving includes the copy from the
device and waiting until the disk has the data, and previous.pt is kept. The entry of this machine and device
in docs/data/results/checkpoint_cost.yaml is replaced, those of others stay.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from examples.cifar_optimizers.train import PROGRAM
from examples.programs.command_line import StrictParser
from snippets.checkpoints import is_whole, load_checkpoint, save_checkpoint
from snippets.errors import exit_with_one_line
from snippets.timing import measure, spread
from tools.measuring.result_entries import RESULTS, origin, rounded, store

DATA = RESULTS / "checkpoint_cost.yaml"
OPTIONS = {"data": "synthetic", "data_fraction": 0.02, "image_size": 32, "width": 64, "optimizer": "sgd"}
REPEATS = 15

_HEADER = """\
# Measured by tools/measuring/checkpoints.py: bytes, and seconds, the median with the 10 % and 90 %
# quantiles of {repeats} readings.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, store and print."""
    parser = StrictParser(prog="measure_checkpoints", description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"), default="cpu")
    name = parser.parse_args(argv).device
    entry = {"device": name, **origin(f"python -m tools.measuring.checkpoints --device {name}")}
    task = PROGRAM.prepare(OPTIONS | {"device": name})
    task.learn(next(task.batches(0, 0)))  # the momentum exists from the first step on
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "last.pt"
        work = {
            "save": lambda: save_checkpoint(path, task.state.capture(), {"system": "x"}, keep_previous=True),
            "check": lambda: is_whole(path),
            "load": lambda: load_checkpoint(path),
        }
        for what, call in work.items():
            found = spread(measure(call, task.state.device, warm_up=3, repeats=REPEATS))
            entry[what] = rounded(found, 3)
        entry["bytes"] = path.stat().st_size
    store(entry, DATA, _HEADER.format(repeats=REPEATS))
    print(yaml.safe_dump(entry, sort_keys=False))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
