"""Train the default indicator transformer, evaluate it, store the evaluation and draw it for the pages.

    python -m tools.measuring.indicator_evaluation

writes docs/data/results/indicator_evaluation.json, which is the evaluation.json of that run with the command
that trained it, and the pictures of tools/drawing/evaluation.py. About 20 s on two CPU cores.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

from tools.drawing.evaluation import DATA, evaluation_pictures
from tools.drawing.page_pictures import ROOT, write_pictures
from tools.working_copy import environment, working_copy

FOLDER = "examples/indicator_transformer"
TRAIN = ["python", f"{FOLDER}/train.py", "--device", "cpu", "--out", "runs/market"]
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # sums then do not depend on the number of cores
EVALUATE = ["python", f"{FOLDER}/evaluate.py", "runs/market", "--device", "cpu"]


def measure(root: Path, train: list[str]) -> dict:
    """Return the evaluation of a run that `train` makes in a throw-away working copy of `root`.

    Raises CalledProcessError when a command fails.
    """
    with working_copy(root) as folder:
        for command in (train, EVALUATE):
            print("$", shlex.join(command), flush=True)
            subprocess.run(command, cwd=folder, env=environment() | ONE_THREAD, check=True)
        return json.loads((folder / "runs/market/evaluation.json").read_text(encoding="utf-8"))


def main() -> int:
    """Measure, store, draw."""
    evaluation = {"trained_by": shlex.join(TRAIN), **measure(ROOT, TRAIN)}
    text = json.dumps(evaluation, indent=1, ensure_ascii=False, allow_nan=False)
    DATA.write_text(text + "\n", encoding="utf-8")
    write_pictures(evaluation_pictures(evaluation))
    return 0


if __name__ == "__main__":
    sys.exit(main())
