"""Draw an evaluation of the indicator transformer as SVG: calibration, and what is selected in which market.

    python -m tools.drawing.evaluation

writes docs/assets/images/indicator-{calibration,markets}-*.svg from the evaluation that
tools/measuring/indicator_evaluation.py has stored in docs/data/results/indicator_evaluation.json.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from functools import partial
from itertools import groupby, pairwise
from typing import Any

from examples.indicator_transformer.evaluation_report import aimed_at
from tools.drawing.svg_chart import (
    COLOURS,
    ROOT,
    Axis,
    Entry,
    Panel,
    in_all_forms,
    label,
    legend,
    picture,
    rectangle,
    stroke,
    write_pictures,
)

DATA = ROOT / "docs/data/results/indicator_evaluation.json"

BLACK, WHITE = "#000000", "#ffffff"
LEFT, TOP, CELL, ROW, GAP = 150, 46, 52, 20, 8  # of the markets: the first cell, its size, between groups
CURVE = 50  # pieces of the line that the loss aims at

WORDS = {
    "en": {
        "useful": "mean usefulness",
        "difference": "usefulness minus probability",
        "count": "predictions (log scale)",
        "probability": "predicted probability",
        "same": "as predicted",
        "aim": "what the loss aims at",
        "found": "held out, ± standard error",
        "low volume, calm": ("low volume", "calm"),
        "low volume, volatile": ("low volume", "volatile"),
        "high volume, calm": ("high volume", "calm"),
        "high volume, volatile": ("high volume", "volatile"),
        "with the move": "call that the move goes on",
        "back to the middle": "call a turn",
    },
    "zh": {
        "useful": "平均有用程度",
        "difference": "有用程度减概率",
        "count": "预测数（对数坐标）",
        "probability": "预测的概率",
        "same": "与预测一致",
        "aim": "损失的目标",
        "found": "留出样本，± 标准误差",
        "low volume, calm": ("低成交量", "平静"),
        "low volume, volatile": ("低成交量", "波动大"),
        "high volume, calm": ("高成交量", "平静"),
        "high volume, volatile": ("高成交量", "波动大"),
        "with the move": "判断行情延续",
        "back to the middle": "判断行情反转",
    },
}


def panels(bins: list[dict[str, Any]], colours: dict[str, str]) -> tuple[Panel, Panel, Panel]:
    """Return where usefulness, its difference from the probability, and counts are drawn."""
    far = max(abs(part["observed"] - part["predicted"]) + (part["standard_error"] or 0) for part in bins)
    limit = math.ceil(far * 20) / 20
    most = math.ceil(math.log10(max(part["count"] for part in bins)))
    x = Axis(0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1))
    counts = Axis(1, 10**most, tuple(10**power for power in range(0, most + 1, 2)), logarithmic=True)
    return (
        Panel(x, x, 108, 230, colours),
        Panel(x, Axis(-limit, limit, (-limit, 0, limit)), 420, 120, colours),
        Panel(x, counts, 580, 80, colours),
    )


def draw_calibration(evaluation: dict[str, Any], language: str, scheme: str) -> str:
    """Return the picture of the calibration as SVG."""
    calibration, words, colours = evaluation["calibration"], WORDS[language], COLOURS[scheme]
    bins = calibration["bins"]
    scatter, difference, counts = panels(bins, colours)
    line = [step / CURVE for step in range(CURVE + 1)]
    aim = [aimed_at(x, calibration["sparsity"]) for x in line]
    dotted, solid = stroke(colours["text"], 1, dashes="2 4"), stroke(colours["blue"])
    found = Entry(words["found"], stroke(colours["orange"], 1.5), colours["orange"], upright=True)
    parts = [
        *legend([Entry(words["same"], dotted), Entry(words["aim"], solid), found], 1, colours),
        *scatter.frame(words["useful"], words["probability"]),
        scatter.line([(0, 0), (1, 1)], dotted),
        scatter.line(zip(line, aim, strict=True), solid),
        *points(scatter, bins, 0),
        *difference.frame(words["difference"]),
        difference.line([(0, 0), (1, 0)], dotted),
        difference.line([(x, y - x) for x, y in zip(line, aim, strict=True)], solid),
        *points(difference, bins, 1),
        *counts.frame(words["count"], words["probability"]),
        *(counts.bar(part["low"], part["high"], part["count"], colours["text"]) for part in bins),
    ]
    return picture(counts.bottom + 46, parts)


def points(panel: Panel, bins: list[dict[str, Any]], less: float) -> Iterator[str]:
    """Yield dots at what was observed, `less` times what was predicted, with standard errors where known."""
    colour = panel.colours["orange"]
    for part in bins:
        x, y, error = part["predicted"], part["observed"] - less * part["predicted"], part["standard_error"]
        if error is not None:
            yield panel.line([(x, y - error), (x, y + error)], stroke(colour, 1.5))
        yield from panel.dots([(x, y)], colour)


def draw_markets(evaluation: dict[str, Any], language: str, scheme: str) -> str:
    """Return the picture of what is selected in which market as SVG."""
    words, colours = WORDS[language], COLOURS[scheme]
    parts = []
    markets = [words[regime["name"]] for regime in evaluation["regimes"]]
    for volume, group in groupby(enumerate(markets), key=lambda market: market[1][0]):
        columns = [(LEFT + (column + 0.5) * CELL, kind) for column, (_, kind) in group]
        parts.append(label((columns[0][0] + columns[-1][0]) / 2, TOP - 31, volume, colours["text"], "middle"))
        parts += [label(middle, TOP - 14, kind, colours["text"], "middle") for middle, kind in columns]
    y = began = TOP - 6
    rows = evaluation["indicators"]
    for row, following in pairwise([*rows, None]):
        colour = colours["blue" if row["calls"] == "with the move" else "orange"]
        parts.append(label(LEFT - 8, y + ROW - 5, row["name"], colours["text"], "end"))
        for column, share in enumerate(row["selected"]):
            parts += cell(LEFT + column * CELL, y, share, colour, colours)
        y += ROW
        if following is None or following["calls"] != row["calls"]:
            beside = LEFT + len(row["selected"]) * CELL + 5
            parts.append(label(beside, (began + y) / 2, words[row["calls"]], colour, "middle", turned=True))
            y = began = y + GAP
        elif following["family"] != row["family"]:
            y += 2
    return picture(y, parts)


def cell(x: float, y: float, share: float | None, colour: str, colours: dict[str, str]) -> Iterator[str]:
    """Yield a rectangle, the fuller the greater the share, and the share; a dash where there is no sample."""
    fill = blend(blend(colours["ground"], colours["grid"], 0.5), colour, share or 0)
    ink = BLACK if contrast(BLACK, fill) > contrast(WHITE, fill) else WHITE
    text = "–" if share is None else f"{share:.0%}"
    if share is None:
        fill, ink = colours["ground"], colours["text"]
    yield rectangle(x, y, CELL - 2, ROW - 1, fill)
    yield label(x + CELL / 2 - 1, y + ROW - 5, text, ink, "middle")


def blend(ground: str, colour: str, share: float) -> str:
    """Return a colour between two, as #rrggbb."""
    pairs = zip(channels(ground), channels(colour), strict=True)
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in pairs)


def channels(colour: str) -> list[int]:
    """Return red, green and blue of #rrggbb, 0 to 255."""
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21, by WCAG 2."""
    dark, light = sorted(luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, 0 to 1, by WCAG 2."""
    parts = [channel / 255 for channel in channels(colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def pictures(evaluation: dict[str, Any]) -> dict[str, str]:
    """Return all pictures by file name."""
    calibration = in_all_forms("indicator-calibration", partial(draw_calibration, evaluation))
    return calibration | in_all_forms("indicator-markets", partial(draw_markets, evaluation))


def main() -> int:
    """Draw the stored evaluation."""
    write_pictures(pictures(json.loads(DATA.read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
