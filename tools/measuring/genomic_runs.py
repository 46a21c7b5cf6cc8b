"""Measure the genomic system on generated sequences: accuracy, masked bases, what pre-training brings.

    python -m tools.measuring.genomic_runs

docs/data/results/genomic_runs.yaml says which runs and which seeds; this tool fills in what they reach, in
the order of the seeds. A run `after` another one begins with the weights that the same seed left there. A
seed decides the sequences, the motif and the weights.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from examples.programs.run_folder import read_metrics
from tools.measuring.result_entries import RESULTS, origin, write
from tools.working_copy import environment

ROOT = Path(__file__).resolve().parents[2]
DATA = RESULTS / "genomic_runs.yaml"
COMMAND = "python -m tools.measuring.genomic_runs"
PROGRAMS = ROOT / "examples" / "genomic_caduceus"
TIMEOUT = 900  # seconds for a run
SCORES = {
    "train": ("test_accuracy", "best_possible_accuracy", "seconds"),
    "pretrain": ("val_loss", "val_accuracy", "seconds"),
}
DRAWN = ("motif", "markov")  # their learning curves are on the page
CURVES = ("epoch", "loss", "train_loss", "val_loss", "train_accuracy", "val_accuracy")

_HEADER = """\
# By hand: shared, busy, seeds, ids, names and options of the runs. tools/measuring/genomic_runs.py writes the
# rest. Scores have a value for each seed; `metrics`, those of the first one, become a picture of the page.
"""


def summary_of(run: dict[str, Any], seed: int, folder: Path) -> dict[str, Any]:
    """Train in `folder`/<id>/<seed> on one CPU thread; return the run's summary.

    More threads add up in another order. Raises CalledProcessError when the program fails.
    """
    out = folder / run["id"] / str(seed)
    words = [*run["options"], f"seed={seed}", "device=cpu", f"out={out}"]
    if "after" in run:
        words.append(f"train.pretrained={folder / run['after'] / str(seed)}")
    command = [sys.executable, PROGRAMS / f"{run['program']}.py", *words]
    one_thread = environment() | {"OMP_NUM_THREADS": "1"}
    subprocess.run(command, cwd=ROOT, env=one_thread, stdout=subprocess.DEVNULL, timeout=TIMEOUT, check=True)
    return json.loads((out / "summary.json").read_text(encoding="utf-8"))


def measure(run: dict[str, Any], seeds: list[int], folder: Path) -> None:
    """Fill in what a run reaches with each seed, and of two runs what is drawn."""
    found = [summary_of(run, seed, folder) for seed in seeds]
    for score in SCORES[run["program"]]:
        run[score] = [round(summary[score], 1 if score == "seconds" else 4) for summary in found]
    run["steps"] = found[0]["steps"]
    if found[0].get("floors"):
        run["floors"] = {name: round(loss, 4) for name, loss in found[0]["floors"].items()}
    if run["id"] in DRAWN:
        lines = read_metrics(folder / run["id"] / str(seeds[0]) / "metrics.jsonl")
        run["metrics"] = [
            {name: round(line[name], 4) for name in CURVES if line.get(name) is not None} for line in lines
        ]


def main() -> int:
    """Measure everything, storing each run as it comes; return the exit code."""
    content = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        for run in content["runs"]:
            measure(run, content["seeds"], Path(folder))
            content |= origin(COMMAND, ("torch", "pytorch-lightning"), before=content)
            write(content, DATA, _HEADER)
            print(f"{run['id']}: {[run[score] for score in SCORES[run['program']]]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
