"""Store floor plans that generate.py drew for the pictures of the pages.

    python -m tools.measuring.floorplan_samples FOLDER

docs/data/results/floorplan_samples.json gets the first plans of a folder of generate.py, nearly straight
walls made straight, with their rooms; the way of the very first from noise to corners; and plans by the rule
that the network learned from. Kinds are digits, one for each kind of room that a corner touches.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy

from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.node_network import pixels_of
from examples.floorplan_diffusion.plan_files import read_plans
from examples.floorplan_diffusion.plans import Plan
from examples.floorplan_diffusion.rooms import find_rooms, straightened
from examples.floorplan_diffusion.sampled_corners import real_corners
from tools.measuring.result_entries import RESULTS

DATA = RESULTS / "floorplan_samples.json"
STORED, BY_RULE = 12, 4  # plans
TEST = [0, 2]  # seed of the test plans of a run with seed 0, which no network has learned from


def bits(row: numpy.ndarray) -> str:
    """Return truth values as digits."""
    return "".join(map(str, row.astype(int).tolist()))


def stored(plan: Plan) -> dict[str, Any]:
    """Return a plan in plain values, with its rooms, the largest first."""
    straight = straightened(plan)
    return {
        "corners": straight.corners.round(1).tolist(),
        "kinds": [bits(row) for row in plan.kinds],
        "walls": plan.walls.tolist(),
        "rooms": [{"kind": room.kind, "corners": list(room.corners)} for room in find_rooms(straight)],
    }


def samples(folder: Path) -> dict[str, Any]:
    """Return what is stored of a folder of generate.py. Raises OSError, UsageError and KeyError."""
    report = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    with numpy.load(folder / "batches" / "0000.npz", allow_pickle=False) as file:
        way, steps = file["way"], file["steps"].tolist()
    options = {name: report["options"][name] for name in ("sampler", "steps", "threshold", "seed")}
    moments = [
        {
            "to_go": step,
            "places": pixels_of(nodes).round(1).tolist(),
            "kinds": [bits(row) for row in nodes[:, 2:-1] > 0],
            "real": bits(real_corners(nodes, options["threshold"])),
        }
        for step, nodes in zip(steps, way.astype(float), strict=True)
    ]
    return {
        "options": options,
        "plans": [stored(plan) for plan in list(read_plans(folder / "plans.npz"))[:STORED]],
        "way": moments,
        "rule": [stored(plan) for plan in generate_plans(BY_RULE, TEST)],
    }


def write(content: dict[str, Any], path: Path = DATA) -> None:
    """Write what is stored, a plan or moment in each line."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    text = re.sub(r"\.0(?=[],])", "", text)  # most places are whole pixels
    path.write_text(re.sub(r'\},(?=\{"(corners":\[\[|to_go))', "},\n", text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(samples(Path(sys.argv[1])))
