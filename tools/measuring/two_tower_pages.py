"""Measure retrieval on this handbook's texts: with each kind of negatives, for several splits.

    python -m tools.measuring.two_tower_pages

docs/data/results/two_tower_pages.yaml says which runs and which seeds; this tool fills in what evaluate.py
finds for best.pt and for last.pt. A seed decides which pages are held out, and the weights.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tools.measuring.result_entries import RESULTS, origin, write
from tools.working_copy import environment

ROOT = Path(__file__).resolve().parents[2]
DATA = RESULTS / "two_tower_pages.yaml"
COMMAND = "python -m tools.measuring.two_tower_pages"
PROGRAMS = ROOT / "examples" / "two_tower"
TIMEOUT = 600  # seconds for one command
CHECKPOINTS = ("best", "last")

_HEADER = """\
# By hand: shared, seeds, names and options of the runs. tools/measuring/two_tower_pages.py writes the rest.
# Shares of the held-out contexts, a value for each seed; mrr is a mean.
"""


def start(program: str, *arguments: str | Path) -> None:
    """Run a program of the example on one CPU thread: more of them add up in another order.

    Raises CalledProcessError when it fails.
    """
    command = [sys.executable, PROGRAMS / program, *arguments, "--device", "cpu"]
    one_thread = environment() | {"OMP_NUM_THREADS": "1"}
    subprocess.run(command, cwd=ROOT, env=one_thread, stdout=subprocess.DEVNULL, check=True, timeout=TIMEOUT)


def evaluations(options: list[str], seed: int, folder: Path) -> dict[str, dict[str, Any]]:
    """Return what evaluate.py finds for best.pt and last.pt of a new run in `folder`."""
    start("train.py", *options, "--seed", str(seed), "--out", folder)
    found = {}
    for name in CHECKPOINTS:
        start("evaluate.py", folder / "checkpoints" / f"{name}.pt", "--out", folder / name)
        found[name] = json.loads((folder / name / "evaluation.json").read_text(encoding="utf-8"))
    return found


def by_score(found: list[dict[str, float]]) -> dict[str, list[float]]:
    """Return a list over the seeds for each score."""
    return {score: [round(values[score], 4) for values in found] for score in found[0]}


def measure(run: dict[str, Any], seeds: list[int]) -> dict[str, Any]:
    """Fill in the scores of a run; return what is the same for all: sizes, and scores before training."""
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        found = [evaluations(run["options"], seed, Path(folder, str(seed))) for seed in seeds]
    for name in CHECKPOINTS:
        run[name] = by_score([each[name]["trained"] for each in found])
    best = [each["best"] for each in found]
    return {
        "bank": best[0]["bank"],
        "queries": [each["queries"] for each in best],
        "untrained": by_score([each["untrained"] for each in best]),
    }


def main() -> int:
    """Measure everything, storing each run as it comes; return the exit code."""
    content = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    for run in content["runs"]:
        content |= measure(run, content["seeds"])
        content |= origin(COMMAND, before=content)
        write(content, DATA, _HEADER)
        print(f"{run['name']['en']}: R@5 {run['best']['recall_5']}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
