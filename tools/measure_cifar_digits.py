"""Train the CIFAR example on its digits with every optimizer and several seeds, and store the accuracies.

    python -m tools.measure_cifar_digits

docs/data/results/cifar_digits.yaml says which runs and which seeds; this tool fills in what came out. A run
with `flip: true` mirrors half of the training images, which the example itself does not do to digits.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tools.coverage_data import this_machine
from tools.working_copy import environment

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "data" / "results" / "cifar_digits.yaml"
COMMAND = "python -m tools.measure_cifar_digits"
TIMEOUT = 600  # seconds for one run

FLIPPED = """
import sys
from dataclasses import replace
from examples.cifar_optimizers import data_sources, train
load = data_sources.load_digits
data_sources.load_digits = lambda image_size: replace(load(image_size), flip=True)
sys.exit(train.main(sys.argv[1:]))
"""

_HEADER = """\
# By hand: machine, seeds, names and options of the runs. tools/measure_cifar_digits.py writes the rest.
"""


def train(options: list[str], seed: int, *, flip: bool = False) -> dict[str, Any]:
    """Return the summary.json of one training run. Raises CalledProcessError when it fails."""
    program = ["-c", FLIPPED] if flip else ["examples/cifar_optimizers/train.py"]
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        out = Path(folder) / "run"
        own = ["--device", "cpu", "--seed", str(seed), "--out", str(out)]
        one_thread = environment() | {"OMP_NUM_THREADS": "1"}  # more threads add up in another order
        subprocess.run(
            [sys.executable, *program, *options, *own],
            cwd=ROOT,
            env=one_thread,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=TIMEOUT,
        )
        return json.loads((out / "summary.json").read_text(encoding="utf-8"))


def measure(content: dict[str, Any]) -> None:
    """Fill in what the runs in `content` reach: accuracy after the last epoch (0 to 1)."""
    for run in content["runs"]:
        summaries = [train(run["options"], seed, flip=run.get("flip", False)) for seed in content["seeds"]]
        run["test_accuracy"] = [round(summary["test_accuracy"], 5) for summary in summaries]
        print(f"{run['name']['en']}: {run['test_accuracy']}", flush=True)


def main() -> int:
    """Measure everything and store it; return the exit code."""
    content = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    measure(content)
    _, versions = this_machine()
    content["versions"] = {name: versions[name] for name in ("torch", "python")}
    content["date"] = datetime.date.today()
    content["command"] = COMMAND
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
    DATA.write_text(_HEADER + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
