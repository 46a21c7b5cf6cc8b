"""Draw an evaluation of the indicator transformer as SVG: calibration, and what is selected in which market.

    python -m tools.draw_evaluation

writes docs/assets/images/indicator-{calibration,markets}-*.svg, for both languages, light and dark, from
docs/data/results/indicator_evaluation.json, which tools/measure_indicator_evaluation.py writes.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from examples.indicator_transformer.evaluation_report import aimed_at
from tools.draw_curves import COLOURS, dot, label

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/results/indicator_evaluation.json"
FOLDER = ROOT / "docs/assets/images"

WIDTH = 760
GROUND = {"light": "#fdfdfb", "dark": "#12181b"}  # of the page: docs/assets/stylesheets/site.css
BLACK, WHITE = "#000000", "#ffffff"
LEFT, TOP, CELL, ROW, GAP = 150, 52, 140, 19, 8  # of the markets: the first cell, its size, between groups
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


@dataclass(frozen=True)
class Panel:
    """A plot area; x runs from 0 to 1."""

    left: float
    top: float
    width: float
    height: float
    low: float
    high: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the picture's coordinates of a point."""
        up = (y - self.low) / (self.high - self.low)
        return self.left + x * self.width, self.top + (1 - up) * self.height

    def path(self, points: list[tuple[float, float]], style: str) -> str:
        """Draw points as one line."""
        places = (self.place(*point) for point in points)
        return f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}" {style}/>'


def panels(bins: list[dict[str, Any]]) -> tuple[Panel, Panel, Panel]:
    """Return where usefulness, its difference from the probability, and counts are drawn."""
    far = max(abs(part["observed"] - part["predicted"]) + (part["standard_error"] or 0) for part in bins)
    limit = math.ceil(far * 20) / 20
    top = math.ceil(math.log10(max(part["count"] for part in bins)))
    return (
        Panel(52, 52, 300, 288, 0, 1),
        Panel(440, 52, 300, 170, -limit, limit),
        Panel(440, 262, 300, 78, 0, top),
    )


def draw_calibration(evaluation: dict[str, Any], language: str, scheme: str) -> str:
    """Return the picture of the calibration as SVG."""
    calibration, words, colours = evaluation["calibration"], WORDS[language], COLOURS[scheme]
    bins = calibration["bins"]
    scatter, difference, counts = panels(bins)
    line = [step / CURVE for step in range(CURVE + 1)]
    aim = [aimed_at(x, calibration["sparsity"]) for x in line]
    dotted = f'stroke="{colours["text"]}" stroke-dasharray="2 4"'
    solid = f'stroke="{colours["train"]}" stroke-width="2"'
    parts = [
        *legend(words, colours, dotted, solid),
        *frame(scatter, words["useful"], [0, 0.2, 0.4, 0.6, 0.8, 1], colours),
        scatter.path([(0, 0), (1, 1)], dotted),
        scatter.path(list(zip(line, aim, strict=True)), solid),
        *points(
            scatter, [(part["predicted"], part["observed"], part["standard_error"]) for part in bins], colours
        ),
        *numbers(scatter, words["probability"], colours),
        *frame(difference, words["difference"], [difference.low, 0, difference.high], colours),
        difference.path([(0, 0), (1, 0)], dotted),
        difference.path([(x, y - x) for x, y in zip(line, aim, strict=True)], solid),
        *points(
            difference,
            [
                (part["predicted"], part["observed"] - part["predicted"], part["standard_error"])
                for part in bins
            ],
            colours,
        ),
        *frame(counts, words["count"], [], colours),
        *bars(counts, bins, colours),
        *numbers(counts, words["probability"], colours),
    ]
    return svg(384, parts)


def svg(height: float, parts: list[str]) -> str:
    """Return a picture made of parts."""
    style = 'font-family="system-ui, -apple-system, sans-serif" font-size="13" fill="none"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {style}>'
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def legend(words: dict[str, Any], colours: dict[str, str], dotted: str, solid: str) -> Iterator[str]:
    """Yield what each line is, above the plots."""
    for x, style, name in ((16, dotted, "same"), (170, solid, "aim")):
        yield f'<path d="M{x} 12h24" {style}/>'
        yield label(x + 32, 16, words[name], colours["text"], "start")
    yield f'<path d="M382 4v16" stroke="{colours["test"]}" stroke-width="1.5"/>'
    yield dot(382, 12, colours["test"])
    yield label(394, 16, words["found"], colours["text"], "start")


def frame(panel: Panel, title: str, grid: list[float], colours: dict[str, str]) -> Iterator[str]:
    """Yield the title of a plot area, its grid lines and their numbers."""
    yield label(panel.left - 36, panel.top - 12, title, colours["text"], "start")
    for value in grid:
        _, y = panel.place(0, value)
        yield f'<path d="M{panel.left} {y:.1f}h{panel.width}" stroke="{colours["grid"]}"/>'
        text = f"{value:g}".replace("-", "\u2212")
        yield label(panel.left - 8, y + 4, text, colours["text"], "end")


def numbers(panel: Panel, title: str, colours: dict[str, str]) -> Iterator[str]:
    """Yield the numbers and the title below a plot area."""
    bottom = panel.top + panel.height
    for tenth in range(0, 11, 2):
        yield label(panel.place(tenth / 10, 0)[0], bottom + 18, f"{tenth / 10:g}", colours["text"], "middle")
    yield label(panel.left + panel.width, bottom + 36, title, colours["text"], "end")


def points(
    panel: Panel, found: list[tuple[float, float, float | None]], colours: dict[str, str]
) -> Iterator[str]:
    """Yield dots, with a bar of one standard error up and down where that is known."""
    for x, y, error in found:
        if error is not None:
            style = f'stroke="{colours["test"]}" stroke-width="1.5"'
            yield panel.path([(x, y - error), (x, y + error)], style)
        yield dot(*panel.place(x, y), colours["test"])


def bars(panel: Panel, bins: list[dict[str, Any]], colours: dict[str, str]) -> Iterator[str]:
    """Yield a bar per bin, as high as the logarithm of its count, which stands above."""
    _, bottom = panel.place(0, 0)
    for part in bins:
        left, top = panel.place(part["low"], math.log10(part["count"]))
        right, _ = panel.place(part["high"], 0)
        size = f'width="{right - left - 1:.1f}" height="{bottom - top:.1f}"'
        yield f'<rect x="{left:.1f}" y="{top:.1f}" {size} fill="{colours["grid"]}"/>'
        text = label((left + right) / 2, bottom - 4, short(part["count"]), colours["text"], "middle")
        yield text.replace("<text ", '<text font-size="10" ')


def short(count: int) -> str:
    """Return a count in at most four characters: 423, 2.3k, 14k."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 10_000 else f"{count / 1000:.0f}k"


def draw_markets(evaluation: dict[str, Any], language: str, scheme: str) -> str:
    """Return the picture of what is selected in which market as SVG."""
    words, colours = WORDS[language], COLOURS[scheme]
    parts = []
    for column, regime in enumerate(evaluation["regimes"]):
        middle = LEFT + (column + 0.5) * CELL
        for line, text in enumerate(words[regime["name"]]):
            parts.append(label(middle, 16 + 17 * line, text, colours["text"], "middle"))
    y, began = TOP - 8, TOP - 8
    rows = evaluation["indicators"]
    for row, following in pairwise([*rows, None]):
        colour = colours["train" if row["calls"] == "with the move" else "test"]
        parts.append(label(LEFT - 10, y + ROW - 5, row["name"], colours["text"], "end"))
        for column, share in enumerate(row["selected"]):
            parts += cell(LEFT + column * CELL, y, share, colour, scheme)
        y += ROW
        if following is None or following["calls"] != row["calls"]:
            parts.append(beside(began, y, words[row["calls"]], colour))
            y, began = y + GAP, y + GAP
        elif following["family"] != row["family"]:
            y += 2
    return svg(y, parts)


def cell(x: float, y: float, share: float | None, colour: str, scheme: str) -> Iterator[str]:
    """Yield a rectangle, the fuller the greater the share, and the share; a dash where there is no sample."""
    never = blend(GROUND[scheme], COLOURS[scheme]["grid"], 0.5)
    fill = blend(never, colour, share or 0)
    ink = BLACK if contrast(BLACK, fill) > contrast(WHITE, fill) else WHITE
    text = "–" if share is None else f"{share:.0%}"
    if share is None:
        fill, ink = GROUND[scheme], COLOURS[scheme]["text"]
    yield f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{ROW - 1}" fill="{fill}"/>'
    yield label(x + CELL / 2 - 1, y + ROW - 5, text, ink, "middle")


def beside(top: float, bottom: float, text: str, colour: str) -> str:
    """Write a text downwards, at the right of the rows from `top` to `bottom`."""
    x, y = LEFT + 4 * CELL + 12, (top + bottom) / 2
    turned = f'<text transform="rotate(90 {x} {y:.1f})" '
    return label(x, y, text, colour, "middle").replace("<text ", turned)


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
    return {
        f"indicator-{name}-{scheme}.{language}.svg": draw(evaluation, language, scheme)
        for name, draw in (("calibration", draw_calibration), ("markets", draw_markets))
        for scheme in COLOURS
        for language in WORDS
    }


def write_pictures() -> None:
    """Draw the stored evaluation."""
    for name, text in pictures(json.loads(DATA.read_text(encoding="utf-8"))).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print((FOLDER / name).relative_to(ROOT))


def main() -> int:
    """Write the pictures."""
    write_pictures()
    return 0


if __name__ == "__main__":
    sys.exit(main())
