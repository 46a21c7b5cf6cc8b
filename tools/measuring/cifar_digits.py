"""Measure the table of optimizers on the digits: a grid of runs, and runs with mirrored images.

    python -m tools.measuring.cifar_digits [FOLDER]

docs/data/results/cifar_digits.yaml says which runs and which seeds; this tool fills in what came out. A run
with `flip: true` mirrors half of the training images, which the example itself does not do to digits. FOLDER
keeps the runs of the grid, so that the same command can go on after it was stopped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tools.measuring.result_entries import origin, write
from tools.working_copy import environment

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data" / "results" / "cifar_digits.yaml"
GRID = "examples/cifar_optimizers/grid.py"
COMMAND = "python -m tools.measuring.cifar_digits"
TIMEOUT = 600  # seconds for one run

FLIPPED = """
import sys
from dataclasses import replace
from examples.cifar_optimizers import data_sources, train
load = data_sources.load_digits
data_sources.load_digits = lambda image_size: replace(load(image_size), flip=True)
sys.exit(train.PROGRAM.main(sys.argv[1:]))
"""

_HEADER = """\
# By hand: shared, seeds, names and options of the runs. tools/measuring/cifar_digits.py writes the rest.
"""


def one_thread() -> dict[str, str]:
    """Return an environment with one CPU thread: more of them add up in another order."""
    return environment() | {"OMP_NUM_THREADS": "1"}


def train(options: list[str], seed: int, *, flip: bool = False) -> dict[str, Any]:
    """Return the summary.json of one training run. Raises CalledProcessError when it fails."""
    program = ["-c", FLIPPED] if flip else ["examples/cifar_optimizers/train.py"]
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        out = Path(folder) / "run"
        own = ["--device", "cpu", "--seed", str(seed), "--out", str(out)]
        command = [sys.executable, *program, *options, *own]
        subprocess.run(
            command, cwd=ROOT, env=one_thread(), stdout=subprocess.DEVNULL, check=True, timeout=TIMEOUT
        )
        return json.loads((out / "summary.json").read_text(encoding="utf-8"))


def train_grid(optimizers: list[str], seeds: list[int], folder: Path) -> dict[str, list[float]]:
    """Return the test accuracies (0 to 1) of each optimizer, seed by seed. Raises CalledProcessError."""
    which = ["--optimizers", ",".join(optimizers), "--seeds", ",".join(map(str, seeds))]
    command = [sys.executable, GRID, *which, "--device", "cpu", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, env=one_thread())
    found: dict[str, list[float]] = {optimizer: [] for optimizer in optimizers}
    for run in json.loads((folder / "grid.json").read_text(encoding="utf-8"))["runs"]:
        found[run["optimizer"]].append(run["test_accuracy"])
    return found


def measure(content: dict[str, Any], folder: Path) -> None:
    """Fill in what the runs in `content` reach: accuracy after the last epoch (0 to 1)."""
    seeds = content["seeds"]
    plain = [run["options"][1] for run in content["runs"] if not run.get("flip")]
    accuracies = train_grid(plain, seeds, folder)
    for run in content["runs"]:
        if run.get("flip"):
            found = [train(run["options"], seed, flip=True)["test_accuracy"] for seed in seeds]
        else:
            found = accuracies[run["options"][1]]
        run["test_accuracy"] = [round(accuracy, 5) for accuracy in found]
        print(f"{run['name']['en']}: {run['test_accuracy']}", flush=True)


def main() -> int:
    """Measure everything and store it; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("folder", nargs="?", type=Path, help="keeps the runs; a temporary one")
    folder = parser.parse_args().folder
    content = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as temporary:
        measure(content, (folder or Path(temporary) / "grid").resolve())
    content |= origin(COMMAND, before=content)
    write(content, DATA, _HEADER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
