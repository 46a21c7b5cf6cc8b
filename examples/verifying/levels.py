"""The four levels of the benchmark, a few steps each: CPU, MPS, bf16, compiled."""

import json
from collections.abc import Iterator
from functools import partial

from examples.check_claims import last_line
from examples.verifying.steps import ROOT, Found, Place, Step, finish, not_tried, scratch, this_python

BENCHMARK = ROOT / "examples" / "benchmark.py"
LARGE = ["--data", "synthetic", "--image-size", "32", "--width", "64", "--batch-size", "128"]
ADDED = ("", "+bf16", "+bf16+compile")
SECONDS = {"cpu": 10.0, "mps": 8.0, "mps+bf16": 8.0, "mps+bf16+compile": 20.0}


def run_level(level: str, words: list[str], seconds: float) -> Found:
    """Time the training steps of a level; return the lowest, median and highest samples per second."""
    with scratch() as (folder, environment):
        file = folder / "level.json"
        command = ["cifar_optimizers", "--levels", level, *words, "--json", file.name]
        code, output = finish(this_python(str(BENCHMARK), *command), folder, seconds, environment)
        if not file.exists():
            found = f"exit code {code}: {last_line(output)}"
            return {"outcome": "failed", "expected": "a measurement", "found": found}
        row = json.loads(file.read_text(encoding="utf-8"))["rows"][0]
    if row["status"] == "unavailable":
        return not_tried(row["reason"])
    if row["status"] != "measured":
        return {"outcome": "failed", "expected": "a measurement", "found": row["reason"]}
    rates = {"lowest": row["high_s"], "median": row["median_s"], "highest": row["low_s"]}
    figures = {key: float(f"{row['samples_per_step'] / value:.4g}") for key, value in rates.items()}
    return {"outcome": "measured", "figures": {**figures, "unit": "samples/s"}}


def steps(place: Place) -> Iterator[Step]:
    """Yield a step for each level."""
    words = ["--steps", "20", "--warm-up", "5"] + (LARGE if place.full else [])
    scale = 6.0 if place.full else 1.0
    for level in ["cpu", *(f"mps{more}" for more in ADDED)]:
        why = place.why_not("mps") if level.startswith("mps") else ""
        seconds = 0 if why else SECONDS[level] * scale
        yield Step("benchmark", level, seconds, partial(run_level, level, words), 90.0 * scale, why)
