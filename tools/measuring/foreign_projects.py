"""Run programs with projects that others wrote on the simulated device, and store what it reported.

    python -m tools.measuring.foreign_projects [NAME ...]

It runs in an environment with PyTorch, torchvision, the simulated device (pip installs tests/simulated_mps)
and the projects of DISTRIBUTIONS. With names, the other programs keep their entries. The results are written
to docs/data/results/simulated_mps_projects.yaml.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from examples.programs.command_line import StrictParser
from snippets.errors import UsageError, exit_with_one_line
from tools.measuring.result_entries import RESULTS, origin, write
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = RESULTS / "simulated_mps_projects.yaml"
HEADER = "# By hand: shared and busy. tools/measuring/foreign_projects.py writes the rest.\n"
KINDS = ("missing", "fallback", "float64", "refused", "gradient", "wrong", "waits")  # of findings
DISTRIBUTIONS = {  # program → project
    "accelerate": "accelerate",
    "captum": "captum",
    "diffusers": "diffusers",
    "gpytorch": "gpytorch",
    "kornia": "kornia",
    "lightly": "lightly",
    "lightning": "pytorch-lightning",
    "metric_learning": "pytorch-metric-learning",
    "monai": "monai",
    "open_clip": "open_clip_torch",
    "peft": "peft",
    "pyro": "pyro-ppl",
    "segmentation_models": "segmentation_models_pytorch",
    "skorch": "skorch",
    "stable_baselines3": "stable_baselines3",
    "timm": "timm",
    "torch_geometric": "torch-geometric",
    "torchmetrics": "torchmetrics",
    "torchvision": "torchvision",
    "transformers": "transformers",
    "vector_quantize": "vector-quantize-pytorch",
    "x_transformers": "x-transformers",
}


def run(program: str) -> dict[str, Any]:
    """Run one program and return what became of it. Raises UsageError where its project is missing."""
    project = DISTRIBUTIONS[program]
    try:
        installed = version(project)
    except PackageNotFoundError:
        raise UsageError(f"{project} is not installed: pip install {project}") from None
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "simulated_mps", "--json", str(report)]
        command += ["-m", "tools.measuring.foreign_programs", program]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        found = json.loads(report.read_text(encoding="utf-8")) if report.exists() else None
    if found is None:
        raise UsageError(f"{program} ended without a report: {done.stderr.strip().splitlines()[-1]}")
    return {"program": program, "project": project, "version": installed} | outcome(found, done)


def outcome(report: dict[str, Any], done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the counts of a report, and the error that ended the program, if one did."""
    kinds: Counter[str] = Counter()
    for finding in report["findings"]:
        kinds[finding["kind"]] += finding["count"]
    calls = report["operators"].values()
    entry = {"operators": len(calls), "calls": sum(calls)} | {kind: kinds[kind] for kind in KINDS}
    errors = {
        found["operator"] or found["event"] for found in report["findings"] if found["kind"] in KINDS[:-1]
    }
    return entry | {"ended_well": done.returncode == 0, "errors": sorted(errors)}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the programs and write the results; return the exit code."""
    parser = StrictParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="run these alone")
    names = parser.parse_args(argv).names
    unknown = [name for name in names if name not in DISTRIBUTIONS]
    if unknown:
        raise UsageError(f"there is no program {unknown[0]}; there are {', '.join(DISTRIBUTIONS)}")
    before = read_yaml(DATA) if DATA.exists() else {"projects": []}
    entries = {entry["program"]: entry for entry in before["projects"]}
    for name in names or DISTRIBUTIONS:
        entries[name] = run(name)
        print(
            f"{name}: {'ended well' if entries[name]['ended_well'] else entries[name]['errors']}", flush=True
        )
    command = "python -m tools.measuring.foreign_projects"
    projects = [entries[name] for name in DISTRIBUTIONS if name in entries]
    write({"projects": projects} | origin(command, ("torch", "numpy"), before), DATA, HEADER)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
