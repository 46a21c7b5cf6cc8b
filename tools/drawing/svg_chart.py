"""Charts as SVG for the pages: plot areas with linear or logarithmic axes, and what is drawn on them.

The pictures are plain text with rounded coordinates, so that they are the same on every machine and a test
can compare them with the data that they claim to show. Each is drawn four times, in two languages and for
the site's two schemes of colours. They have no background: the page's shows through. They are narrow, with
plot areas one below the other, so that a phone need not shrink the text below 12 pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/assets/images"

WIDTH = 380
SHOWN = 420  # pixels wide where there is room
PHONE = 328  # pixels that a phone 360 pixels wide leaves for a picture
FONT = 14
MARGIN = 12  # left of titles and legends

LANGUAGES = ("en", "zh")
# Marks and text are at least 4.5:1 on `ground`, the page's background (docs/assets/stylesheets/site.css).
COLOURS = {
    "light": {"text": "#4c5b62", "grid": "#dde4e3", "blue": "#17607a", "orange": "#9a4a12"}
    | {"ground": "#fdfdfb"},
    "dark": {"text": "#a9b8be", "grid": "#263137", "blue": "#7cc4dd", "orange": "#f0a45d"}
    | {"ground": "#12181b"},
}

Points = Iterable[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """The values from one end of a plot area to the other, and those that are written beside it."""

    low: float
    high: float
    ticks: tuple[float, ...] = ()
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Return how far along the axis a value stands: 0 at `low`, 1 at `high`."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def decades(low: float, high: float) -> Axis:
    """Return a logarithmic axis from the power of ten below `low` to the one above `high`, at least one."""
    first = math.floor(math.log10(low))
    last = max(math.ceil(math.log10(high)), first + 1)
    return Axis(10.0**first, 10.0**last, tuple(10.0**power for power in range(first, last + 1)), True)


@dataclass(frozen=True)
class Panel:
    """A plot area: its place in the picture, its axes and the scheme of colours."""

    x: Axis
    y: Axis
    top: float
    height: float
    colours: dict[str, str]
    left: float = 50
    right: float = WIDTH - 14

    @property
    def bottom(self) -> float:
        """Where the plot area ends."""
        return self.top + self.height

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the picture's coordinates of a point."""
        across, up = self.x.share(x), self.y.share(y)
        return self.left + across * (self.right - self.left), self.top + (1 - up) * self.height

    def frame(self, title: str, below: str = "") -> Iterator[str]:
        """Yield the title, a grid line and a number for each tick of y, and `below` with the ticks of x."""
        yield label(MARGIN, self.top - 12, title, self.colours["text"])
        for value in self.y.ticks:
            _, y = self.place(self.x.low, value)
            yield f'<path d="M{self.left} {y:.1f}H{self.right}" stroke="{self.colours["grid"]}"/>'
            yield label(self.left - 8, y + 5, number(value), self.colours["text"], "end")
        if below:
            for value in self.x.ticks:
                x, _ = self.place(value, self.y.low)
                yield label(x, self.bottom + 20, number(value), self.colours["text"], "middle")
            yield label(self.right, self.bottom + 38, below, self.colours["text"], "end")

    def line(self, points: Points, style: str) -> str:
        """Draw points as one line in the style of a `stroke`."""
        places = (self.place(*point) for point in points)
        return f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}" {style}/>'

    def dots(self, points: Points, colour: str) -> list[str]:
        """Draw a dot for each point."""
        return [dot(*self.place(*point), colour) for point in points]

    def bar(self, start: float, end: float, value: float, colour: str) -> str:
        """Draw a bar from the foot of the plot area up to a value, a little narrower than its share of x."""
        (left, top), (right, _) = self.place(start, value), self.place(end, value)
        return rectangle(left, top, right - left - 1, self.bottom - top, colour, opacity=".6")


class Entry(NamedTuple):
    """A line of a legend: its words, the style of its line, the colour of its dot if it has one."""

    words: str
    style: str
    dot: str = ""
    upright: bool = False  # the line, like an error bar


def legend(entries: list[Entry], columns: int, colours: dict[str, str]) -> Iterator[str]:
    """Yield what each kind of line is, in rows from the top of the picture on."""
    for place, entry in enumerate(entries):
        x, y = MARGIN + place % columns * 116, 14 + place // columns * 22
        yield (
            f'<path d="M{x + 12} {y - 8}v16" {entry.style}/>'
            if entry.upright
            else (f'<path d="M{x} {y}h24" {entry.style}/>')
        )
        if entry.dot:
            yield dot(x + 12, y, entry.dot)
        yield label(x + 32, y + 5, entry.words, colours["text"])


def stroke(colour: str, width: float = 2, dashes: str = "", opacity: str = "") -> str:
    """Return the style of a line."""
    style = f'stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"'
    style += f' stroke-dasharray="{dashes}"' if dashes else ""
    return style + (f' stroke-opacity="{opacity}"' if opacity else "")


def dot(x: float, y: float, colour: str, radius: float = 3, opacity: str = "1") -> str:
    """Draw one measured point."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}" fill-opacity="{opacity}"/>'


def rectangle(x: float, y: float, width: float, height: float, colour: str, opacity: str = "1") -> str:
    """Draw a filled rectangle."""
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}" fill-opacity="{opacity}"/>'


def label(x: float, y: float, text: str, colour: str, anchor: str = "start", *, turned: bool = False) -> str:
    """Write a text; `turned`, it is read from top to bottom."""
    turn = f' transform="rotate(90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{turn}>{text}</text>'


def number(value: float) -> str:
    """Write the number of a tick."""
    return f"{value:g}".replace("-", "\u2212")


def picture(height: float, parts: Iterable[str]) -> str:
    """Return the SVG that holds all parts."""
    size = f'viewBox="0 0 {WIDTH} {height}" width="{SHOWN}" height="{round(height * SHOWN / WIDTH)}"'
    style = f'font-family="system-ui, -apple-system, sans-serif" font-size="{FONT}" fill="none"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>', *parts, "</svg>"]) + "\n"


def in_all_forms(name: str, draw: Callable[[str, str], str]) -> dict[str, str]:
    """Return what `draw(language, scheme)` draws, by file name: `name-light.en.svg` and so on."""
    return {
        f"{name}-{scheme}.{language}.svg": draw(language, scheme)
        for scheme in COLOURS
        for language in LANGUAGES
    }


def write_pictures(found: dict[str, str]) -> None:
    """Write pictures to where pages look for them, and print their names."""
    for name, text in found.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print((FOLDER / name).relative_to(ROOT))
