"""Charts of the pages: what matplotlib draws, as SVG in two languages and two schemes of colours.

A chart is drawn once, in English and in the colours of the programs. Words and colours are then replaced. The
pictures have no background: the page's shows through. They are narrow, with plot areas one below the other,
so that a phone need not shrink the text below 12 pixels. Nothing in them depends on the machine, and a test
compares them with the data that they claim to show.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text

from examples.indicator_transformer.evaluation_plot import INK, KNOWN, LIGHT, NEVER, PAPER
from examples.programs.report import HELD_OUT, LIMIT, TRAINING

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/assets/images"

WIDTH = 380
SHOWN = 420  # pixels wide where there is room
PHONE = 328  # pixels that a phone 360 pixels wide leaves for a picture
FONT = 14
FAMILY = "system-ui, -apple-system, sans-serif"
STYLE = {"font.size": FONT, "svg.fonttype": "none", "svg.hashsalt": "handbook", "axes.facecolor": "none"} | {
    f"{name}color": LIMIT for name in ("text.", "axes.label", "axes.edge", "xtick.", "ytick.")
}

# What a colour of the programs becomes. Marks and text are at least 4.5:1 on PAPER, the page's background
# (docs/assets/stylesheets/site.css), INK and LIGHT at least 4.4:1 on cells, however full.
COLOURS = {
    "light": {TRAINING: "#17607a", HELD_OUT: "#9a4a12", LIMIT: "#4c5b62", KNOWN: "#949da1"}
    | {PAPER: "#fdfdfb", NEVER: "#edf1f0", INK: "#000000"},
    "dark": {TRAINING: "#7cc4dd", HELD_OUT: "#f0a45d", LIMIT: "#a9b8be", KNOWN: "#6d787d"}
    | {PAPER: "#12181b", NEVER: "#1c2529", INK: LIGHT},
}


def pictures(
    name: str,
    height: float,
    draw: Callable[[Figure], None],
    chinese: Mapping[str, str],
    width: float = WIDTH,
    shown: float = SHOWN,
) -> dict[str, str]:
    """Return the chart that `draw` puts on an empty figure, by file name: `name-light.en.svg` and so on.

    `chinese` holds the Chinese for each English text of the chart that has to be translated. The chart is
    `width` units wide, and `shown` pixels where there is room.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(width / 72, height / 72), facecolor="none")  # 72 dots per inch: pixels
        draw(figure)
        for axes in figure.axes:
            axes.tick_params(labelsize=FONT)
        for text in figure.findobj(Text):
            text.set_fontsize(FONT)
        english = as_svg(figure, shown)
    texts = {"en": english, "zh": translated(english, chinese)}
    return {
        f"{name}-{scheme}.{language}.svg": recoloured(text, colours)
        for scheme, colours in COLOURS.items()
        for language, text in texts.items()
    }


def as_svg(figure: Figure, shown: float = SHOWN) -> str:
    """Return a figure as SVG with rounded coordinates, without date and program, in the reader's own font."""
    file = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", dpi=72, metadata=nothing)
    svg = file.getvalue()[file.getvalue().index("<svg ") :]
    svg = re.sub(r"font-family: [^;]+", f"font-family: {FAMILY}", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]+"', "", svg)
    svg = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), svg)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if box is None:
        raise ValueError("Matplotlib wrote an SVG without a viewBox")
    width, height = map(float, box.groups())
    size = f'width="{shown}" height="{round(height * shown / width)}"'
    return re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', size, svg, count=1)


def translated(svg: str, words: Mapping[str, str]) -> str:
    """Return a picture with other words."""
    return re.sub(r"(?<=>)[^<>\n]+(?=</text>)", lambda found: words.get(unescape(found[0]), found[0]), svg)


def recoloured(svg: str, colours: Mapping[str, str]) -> str:
    """Return a picture with other colours."""
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: colours.get(found[0], found[0]), svg)


def write_pictures(found: Mapping[str, str]) -> None:
    """Write pictures to where pages look for them, and print their names."""
    for name, text in found.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print((FOLDER / name).relative_to(ROOT))
