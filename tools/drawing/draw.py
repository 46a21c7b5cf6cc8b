"""Draw the pictures of the pages from their specifications: light and dark, in both languages.

    python -m tools.drawing.draw [NAME ...]

docs/data/pictures.yaml says what each picture shows of docs/data. Layouts are those of the English words,
which Chinese ones then replace; but flows, time lines and floor plans are laid out in each language.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence, Set
from html import unescape
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from tools.drawing import charts, flows, page, plans, timelines
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DATA, IMAGES = ROOT / "docs/data", ROOT / "docs/assets/images"
SPECIFIED = read_yaml(DATA / "pictures.yaml")
PICTURES = {spec["name"]: spec for spec in SPECIFIED["pictures"]}


def draw_panels(figure: Figure, part: page.Part) -> None:
    """Draw a title for each panel, and the chart or the floor plans below it."""
    whole = page.canvas(figure)
    width, height = (72 * side for side in figure.get_size_inches())
    for panel in part.panels():
        left, top, wide, high = panel.spec["at"]
        x, y = panel.spec["title_at"]
        whole.text(x, y, panel.spec["title"], weight="bold")
        if panel.spec["kind"] == "plans":
            plans.draw_gallery(whole, panel, left, top, wide)
            continue
        axes = figure.add_axes((left / width, 1 - (top + high) / height, wide / width, high / height))
        charts.SMALL[panel.spec["kind"]](axes, panel)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)


KINDS: dict[str, Callable[[Figure, page.Part], None]] = {
    **charts.KINDS,
    "flow": flows.draw,
    "plans": plans.draw,
    "timeline": timelines.draw,
    "panels": draw_panels,
}


def showing(files: Set[str]) -> list[str]:
    """Return the names of the pictures that show one of these files of docs/data."""
    return [
        name
        for name, spec in PICTURES.items()
        if any(part["data"][0] in files for part in (spec, *spec.get("panels", ())) if "data" in part)
    ]


def pictures(name: str) -> dict[str, str]:
    """Return a picture as SVG by file name, `name-light.en.svg` and so on."""
    spec, words, found = PICTURES[name], SPECIFIED["words"], {}
    for scheme in page.COLOURS:
        svg = drawn(page.Part(spec, DATA, scheme, "en", {}))
        found[f"{name}-{scheme}.en.svg"] = svg
        if spec["kind"] not in charts.KINDS:
            svg = drawn(page.Part(spec, DATA, scheme, "zh", words))
        found[f"{name}-{scheme}.zh.svg"] = translated(svg, words)
    return found


def drawn(part: page.Part) -> str:
    """Return a picture in one scheme and language as SVG."""
    width = part.spec.get("width", page.WIDTH)
    with rc_context(page.style(part.scheme)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # readers have fonts of their own
        size = width / 72, part.spec.get("height", width) / 72  # 72 dots per inch: pixels
        figure = Figure(figsize=size, facecolor="none")
        KINDS[part.spec["kind"]](figure, part)
        return page.as_svg(figure, part.spec.get("shown", page.SHOWN))


def translated(svg: str, words: Mapping[str, str]) -> str:
    """Return a picture with other words."""
    return re.sub(r"(?<=>)[^<>\n]+(?=</text>)", lambda found: words.get(unescape(found[0]), found[0]), svg)


def write(name: str) -> None:
    """Draw a picture to where pages look for it, and print its files."""
    for file, svg in pictures(name).items():
        (IMAGES / file).write_text(svg, encoding="utf-8")
        print((IMAGES / file).relative_to(ROOT))


def main(argv: Sequence[str] | None = None) -> int:
    """Draw the named pictures, or all; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help="pictures; all")
    names = parser.parse_args(argv).names or list(PICTURES)
    if unknown := [name for name in names if name not in PICTURES]:
        parser.error(f"no picture is named {unknown[0]}; choose from: {', '.join(PICTURES)}")
    for name in names:
        write(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
