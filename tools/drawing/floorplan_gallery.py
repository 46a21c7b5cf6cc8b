"""Draw floor plans of the pages: a plan as a graph, the way from noise to a plan, plans of the network.

    python -m tools.drawing.floorplan_gallery [FOLDER]

writes docs/assets/images/floorplan-*.svg from docs/data/results/floorplan_samples.json. With a folder of
generate.py, the first plans in it and the way of the very first are stored there before.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy

from examples.floorplan_diffusion.drawing import ENGLISH, Corners, Words, gallery
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.node_network import pixels_of
from examples.floorplan_diffusion.picture import Picture
from examples.floorplan_diffusion.plan_files import read_plans
from examples.floorplan_diffusion.plans import Plan
from examples.floorplan_diffusion.rooms import straightened
from examples.floorplan_diffusion.sampled_corners import real_corners
from tools.drawing.page_pictures import ROOT, SHOWN, write_pictures

DATA = ROOT / "docs/data/results/floorplan_samples.json"
STORED = 12  # plans
COMPARED = 4  # plans of the network, each beside one of the generator
COLUMNS = 3
TEST = [0, 2]  # seed of the test plans of a run with seed 0, which no network has learned from
WORDS = {
    "en": ENGLISH,
    "zh": Words(
        kinds=("客厅", "卧室", "储藏室", "厨房", "卫生间", "阳台", "室外"),
        short=("客厅", "卧室", "储藏", "厨房", "卫", "阳台"),
        padding="不是墙角",
        title="户型图",
        plans="房间按类别填色，墙角之间是墙。",
        corners="墙角画成圆点，颜色是墙角所接触的房间的颜色。",
    ),
}
TITLES = {
    "en": {
        "corners": "corners",
        "plan": "walls and rooms",
        "steps": "{:,} to go",
        "walls": "with walls",
        "network": "drawn",
        "generator": "by the rule",
    },
    "zh": {
        "corners": "墙角",
        "plan": "墙和房间",
        "steps": "还剩 {:,} 步",
        "walls": "加上墙",
        "network": "网络画的",
        "generator": "按规则画的",
    },
}


def samples(folder: Path) -> dict[str, Any]:
    """Return what is stored of a folder of generate.py. Raises OSError, UsageError and KeyError."""
    report = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    with numpy.load(folder / "batches" / "0000.npz", allow_pickle=False) as file:
        way, steps = file["way"], file["steps"].tolist()
    plans = list(read_plans(folder / "plans.npz"))[:STORED]
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
    return {"options": options, "plans": [stored(plan) for plan in plans], "way": moments}


def stored(plan: Plan) -> dict[str, Any]:
    """Return a plan in plain values: places in whole pixels, kinds as digits, pairs of corners."""
    return {
        "corners": plan.corners.astype(int).tolist(),
        "kinds": [bits(row) for row in plan.kinds],
        "walls": plan.walls.tolist(),
    }


def bits(row: numpy.ndarray) -> str:
    """Return truth values as digits."""
    return "".join(map(str, row.astype(int).tolist()))


def truths(rows: Sequence[str]) -> numpy.ndarray:
    """Return the truth values of rows of digits, (rows, digits)."""
    return numpy.array([list(row) for row in rows]) == "1"


def read_plan(found: dict[str, Any]) -> Plan:
    """Return a stored plan."""
    walls = numpy.array(found["walls"], dtype=int).reshape(-1, 2)
    return Plan(numpy.array(found["corners"], dtype=float), truths(found["kinds"]), walls)


def read_moment(found: dict[str, Any]) -> Corners:
    """Return the corners of a moment of the way."""
    return Corners(numpy.array(found["places"]), truths(found["kinds"]), truths([found["real"]])[0])


def graph(language: str, dark: bool) -> Picture:
    """Return a plan of the generator: its corners alone, and with walls and rooms."""
    (plan,) = generate_plans(1, TEST)
    corners = Corners(plan.corners, plan.kinds, numpy.ones(len(plan.corners), dtype=bool))
    titles = [TITLES[language][name] for name in ("corners", "plan")]
    return gallery([corners, plan], 2, titles=titles, words=WORDS[language], dark=dark)


def way(language: str, dark: bool) -> Picture:
    """Return the way of the first plan of the network, from noise to walls."""
    data, words = json.loads(DATA.read_text(encoding="utf-8")), TITLES[language]
    titles = [words["steps"].format(moment["to_go"]) for moment in data["way"]]
    titles[-1] = words["corners"]
    drawn: list[Plan | Corners] = [*map(read_moment, data["way"]), straightened(read_plan(data["plans"][0]))]
    return gallery(drawn, COLUMNS, titles=[*titles, words["walls"]], words=WORDS[language], dark=dark)


def compared(language: str, dark: bool) -> Picture:
    """Return the first plans of the network, each beside one of the generator."""
    plans = json.loads(DATA.read_text(encoding="utf-8"))["plans"][:COMPARED]
    drawn = [straightened(read_plan(found)) for found in plans]
    both = list(chain.from_iterable(zip(drawn, generate_plans(len(drawn), TEST), strict=True)))
    titles = [TITLES[language][name] for name in ("network", "generator")] * len(drawn)
    return gallery(both, 2, titles=titles, words=WORDS[language], dark=dark)


def more(language: str, dark: bool) -> Picture:
    """Return all stored plans of the network."""
    plans = json.loads(DATA.read_text(encoding="utf-8"))["plans"]
    drawn = [straightened(read_plan(found)) for found in plans]
    return gallery(drawn, COLUMNS, words=WORDS[language], dark=dark)


DRAWN: dict[str, Callable[[str, bool], Picture]] = {
    "graph": graph,
    "way": way,
    "compared": compared,
    "more": more,
}


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    return {
        f"floorplan-{name}-{scheme}.{language}.svg": draw(language, scheme == "dark").svg(shown=SHOWN)
        for name, draw in DRAWN.items()
        for scheme in ("light", "dark")
        for language in WORDS
    }


def main(argv: Sequence[str]) -> int:
    """Store the plans of a folder, if one is named, and draw; return the exit code."""
    if argv:
        text = json.dumps(samples(Path(argv[0])), ensure_ascii=False, separators=(",", ":"))
        DATA.write_text(text.replace('},{"', '},\n{"') + "\n", encoding="utf-8")
    write_pictures(pictures())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
