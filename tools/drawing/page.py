"""What all pictures of the pages share: sizes, colours, how wide a text is, and the SVG that is written.

Pictures have no background: the page's shows through. They are narrow, so that a phone need not shrink the
text below 12 pixels. Nothing in them depends on the machine.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.ft2font import LoadFlags

from tools.read_yaml import read_yaml

WIDTH = 380
SHOWN = 420  # pixels wide where there is room
PHONE = 328  # pixels that a phone 360 pixels wide leaves for a picture
FONT = 14
FAMILY = "system-ui, -apple-system, sans-serif"

# Marks and text are at least 4.5:1 on `paper`, the page's background (docs/assets/stylesheets/site.css), and
# letters at least 4.4:1 on cells, however full. The kinds of rooms differ for eyes that see red and green
# alike, too.
COLOURS: dict[str, dict[str, str]] = {
    "light": {
        "blue": "#17607a",
        "orange": "#9a4a12",
        "grey": "#4c5b62",
        "pale": "#949da1",
        "paper": "#fdfdfb",
        "ink": "#1c2a30",
        "box": "#e3eaea",
        "cell": "#edf1f0",
        "on_cell": "#000000",
        "room_ink": "#1a1a1a",
        "wall": "#5c6470",
        "corner": "#353d47",
        "faint": "#c9d0d4",
    },
    "dark": {
        "blue": "#7cc4dd",
        "orange": "#f0a45d",
        "grey": "#a9b8be",
        "pale": "#6d787d",
        "paper": "#12181b",
        "ink": "#dfe7e9",
        "box": "#263137",
        "cell": "#1c2529",
        "on_cell": "#fafafa",
        "room_ink": "#ffffff",
        "wall": "#c9d0d8",
        "corner": "#ffffff",
        "faint": "#4a565d",
    },
}
ROOMS = {  # by kind; the last is what a corner at the outside shows
    "light": ("#fade8b", "#98c4f9", "#c4c6c7", "#f6aa8a", "#97e9fb", "#c4eec9", "#6d7787"),
    "dark": ("#806700", "#3d5aa4", "#52595f", "#8f3814", "#087d86", "#537251", "#98a2b0"),
}


def style(scheme: str) -> dict[str, object]:
    """Return matplotlib's settings for a scheme, "light" or "dark"."""
    grey = COLOURS[scheme]["grey"]
    own = {"font.size": FONT, "svg.fonttype": "none", "svg.hashsalt": "handbook", "axes.facecolor": "none"}
    texts = ("text.", "axes.label", "axes.edge", "xtick.", "ytick.")
    return own | {f"{name}color": grey for name in texts} | {"legend.frameon": False}


@cache
def letter_width(letter: str) -> float:
    """Return how wide a letter is, for letters of size 1.

    Chinese letters are square. Of the others, those of few fonts are wider than these.
    """
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    font = get_font(findfont("DejaVu Sans"))
    font.set_size(1000, 72)
    return font.load_char(ord(letter), flags=LoadFlags.NO_HINTING).linearHoriAdvance / 65536 / 1000


def text_width(text: str, size: float) -> float:
    """Return how wide a text is at most, in pixels."""
    return size * sum(map(letter_width, text))


def canvas(figure: Figure) -> Axes:
    """Return axes that fill a figure: places are pixels from its upper left corner."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    resize(figure, axes, *(72 * side for side in figure.get_size_inches()))
    return axes


def resize(figure: Figure, axes: Axes, width: float, height: float) -> None:
    """Give a figure and the canvas on it another size, in pixels."""
    figure.set_size_inches(width / 72, height / 72)
    axes.set(xlim=(0, width), ylim=(height, 0))


def as_svg(figure: Figure, shown: float = SHOWN) -> str:
    """Return a figure as SVG with rounded coordinates, without date and program, in the reader's own font."""
    file = io.StringIO()
    figure.savefig(file, format="svg", dpi=72, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = file.getvalue()[file.getvalue().index("<svg ") :]
    svg = re.sub(r"font-family: [^;]+", f"font-family: {FAMILY}", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]+"', "", svg)
    svg = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r"<!--.*?-->|\n *", "", svg)
    svg = re.sub(r'(?<= d=")[^"]+', lambda path: short_path(path[0]), svg)
    svg = re.sub(r'<g id="\w+">(<(?:path|text) [^>]*(?:/>|>[^<]*</text>))</g>', r"\1\n", svg)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if box is None:
        raise ValueError("Matplotlib wrote an SVG without a viewBox")
    width, height = map(float, box.groups())
    size = f'width="{shown}" height="{round(height * shown / width)}"'
    return re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', size, svg, count=1)


def short_path(path: str) -> str:
    """Return the data of a path with one decimal, and each command named once."""
    rounded = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), path)
    return re.sub(r"(?<=\d) [LC] (?=-?\d)", lambda found: found[0] if "C" in found[0] else " ", rounded)


@dataclass(frozen=True)
class Part:
    """A picture or one of its panels: what it shows, and in which colours and language."""

    spec: Mapping[str, Any]
    folder: Path  # of the data
    scheme: str  # "light" or "dark"
    language: str  # "en" or "zh"
    words: Mapping[str, str]  # Chinese by English; none for English

    @property
    def colours(self) -> dict[str, str]:
        """Return the colours by name."""
        return COLOURS[self.scheme]

    def panels(self) -> list[Part]:
        """Return the panels, which have specifications of their own."""
        return [replace(self, spec=spec) for spec in self.spec["panels"]]

    def say(self, text: str) -> str:
        """Return a text in the language of the picture."""
        return self.words.get(text, text)

    def data(self) -> Any:
        """Return what is shown: the first step names a file, each other one leads into it."""
        file, *steps = self.spec["data"]
        return picked(read_data(self.folder / file), steps)


@cache
def read_data(path: Path) -> Any:
    """Return the content of a file of YAML, JSON, or of JSON in each line."""
    if path.suffix == ".yaml":
        return read_yaml(path)
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)


def picked(data: Any, steps: Iterable[Any]) -> Any:
    """Return what lies behind `steps`: names, also joined by dots, and places in a list.

    A step of names with values is the only entry of a list that has them. Raises ValueError when there is
    none, or several.
    """
    for step in steps:
        if isinstance(step, str):
            for name in [step] if step in data else step.split("."):
                data = data[name]
        elif isinstance(step, int):
            data = data[step]
        else:
            (data,) = (
                entry for entry in data if all(picked(entry, [name]) == value for name, value in step.items())
            )
    return data
