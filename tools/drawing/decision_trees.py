"""Draw the decision trees of the pages: checks from top to bottom, with what each leads to.

    python -m tools.drawing.decision_trees

writes docs/assets/images/decision-*.svg from docs/data/decision_trees.yaml, and prints the texts that pages
give to those who cannot see the pictures.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy
import yaml

from examples.floorplan_diffusion.picture import Area, Picture, Shape, Strokes, Text, text_width
from tools.drawing.page_pictures import ROOT, SHOWN, write_pictures

DATA = ROOT / "docs/data/decision_trees.yaml"
LANGUAGES = ("en", "zh")
SCHEMES = ("light", "dark")
WIDTH = 360.0
SIZE = 15.0  # of the letters: 13.7 pixels where a phone leaves 328 pixels for the picture
LINE = 21.0  # from one line of text to the next
PADDING = 11.0  # between a box and its text
GAP = 14.0  # between boxes
SPINE = 20.0  # x of the line that leads from check to check
BRANCH = 78.0  # x where the boxes of what a check leads to begin
WORDS = {
    "en": {True: "yes", False: "no", "tree": "Decision tree", "otherwise": "Otherwise"}
    | {"colon": ": ", "stop": ".", "number": "{}. "},
    "zh": {True: "是", False: "否", "tree": "决策树", "otherwise": "否则"}
    | {"colon": "：", "stop": "。", "number": "（{}）"},
}
# As on the pages around the picture (docs/assets/stylesheets/site.css).
COLOURS = {
    "light": {"ink": "#1c2a30", "line": "#4c5b62", "check": "#e3eaea", "then": "#17607a"},
    "dark": {"ink": "#dfe7e9", "line": "#a9b8be", "check": "#263137", "then": "#7cc4dd"},
}
# Pieces of a text that a line may end after: a Chinese letter or a word, each with the marks that follow it.
_PIECE = re.compile(r"(?:[\u3400-\u9fff]|[^\s\u3000-\u9fff\uff00-\uffef]+)[\u3001-\u303f\uff00-\uffef]*|\s+")


def trees() -> list[dict[str, Any]]:
    """Return the trees."""
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))


def wrapped(text: str, width: float) -> list[str]:
    """Cut a text into lines that are at most `width` wide."""
    lines = [""]
    for piece in _PIECE.findall(text):
        if lines[-1] and text_width((lines[-1] + piece).rstrip(), SIZE) > width:
            lines.append("")
        if lines[-1] or not piece.isspace():
            lines[-1] += piece
    return [line.rstrip() for line in lines]


@dataclass
class Drawing:
    """A tree that grows downwards."""

    colours: dict[str, str]
    y: float = 0.0  # where the next box begins
    shapes: list[Shape] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, colour: str) -> None:
        """Add a line of text that begins at `x`; `y` is its middle."""
        self.shapes.append(Text(x, y, text, self.colours[colour], SIZE, centred=False))

    def lines(self, *lines: tuple[tuple[float, float], tuple[float, float]], colour: str = "line") -> None:
        """Add lines between pairs of points."""
        self.shapes.append(Strokes(numpy.array(lines), self.colours[colour], 1.5))

    def area(self, *points: tuple[float, float], colour: str) -> None:
        """Add a filled polygon."""
        self.shapes.append(Area(numpy.array(points), self.colours[colour]))

    def check(self, question: str) -> None:
        """Add the box of a check."""
        text = wrapped(question, WIDTH - 3 * PADDING)
        bottom = self.y + 2 * PADDING + LINE * len(text)
        self.area((0, self.y), (WIDTH, self.y), (WIDTH, bottom), (0, bottom), colour="check")
        self.write(text, PADDING, "ink")
        self.y = bottom

    def then(self, text: str, label: str, x: float = BRANCH) -> None:
        """Add the box of what a check leads to, beside the line to the next one. A label brings an arrow."""
        lines = wrapped(text, WIDTH - x - 3 * PADDING)
        top, bottom = self.y, self.y + 2 * PADDING + LINE * len(lines)
        box = [(x, top), (WIDTH - 1, top), (WIDTH - 1, bottom), (x, bottom), (x, top)]
        self.lines(*pairwise(box), colour="then")
        if label:
            arrow = top + PADDING + LINE
            self.lines(((SPINE, arrow), (x - 7, arrow)))
            self.area((x - 9, arrow - 5), (x - 1, arrow), (x - 9, arrow + 5), colour="line")
            self.text(SPINE + 10, arrow - LINE / 2 - 3, label, "ink")
        self.write(lines, x + PADDING, "then")
        self.y = bottom

    def write(self, text: list[str], x: float, colour: str) -> None:
        """Add the lines of text of a box that begins here."""
        for row, line in enumerate(text):
            self.text(x, self.y + PADDING + LINE * (row + 0.5), line, colour)

    def onwards(self, top: float, label: str) -> None:
        """Add the line from the check that ends at `top` to what comes next."""
        self.y += 2 * GAP
        self.lines(((SPINE, top), (SPINE, self.y - 6)))
        self.area((SPINE - 5, self.y - 9), (SPINE, self.y - 1), (SPINE + 5, self.y - 9), colour="line")
        self.text(SPINE + 10, self.y - GAP, label, "ink")


def draw(tree: dict[str, Any], language: str, scheme: str) -> Picture:
    """Return a tree as a picture."""
    drawing, words = Drawing(COLOURS[scheme]), WORDS[language]
    for number, check in enumerate(tree["checks"], start=1):
        drawing.check(f"{number}. {check['question'][language]}")
        bottom = drawing.y
        drawing.y += GAP
        drawing.then(check["then"][language], words[check["leads"]])
        drawing.onwards(bottom, words[not check["leads"]])
    drawing.then(tree["end"][language], "", x=1.0)
    title = words["tree"] + words["colon"] + tree["title"][language]
    return Picture(WIDTH, drawing.y + 1, title, described(tree, language), drawing.shapes)


def described(tree: dict[str, Any], language: str) -> str:
    """Return a tree in words: what its picture shows."""
    words, between = WORDS[language], {"en": " ", "zh": ""}[language]
    answers = {leads: words[leads].capitalize() + words["colon"] for leads in (True, False)}
    title = tree["title"][language]
    parts = [words["tree"] + words["colon"] + title + ("" if title[-1] in "?？" else words["stop"])]
    for number, check in enumerate(tree["checks"], start=1):
        question = words["number"].format(number) + check["question"][language]
        parts += [question, answers[check["leads"]] + check["then"][language]]
    return between.join([*parts, words["otherwise"] + words["colon"] + tree["end"][language]])


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    return {
        f"decision-{tree['name']}-{scheme}.{language}.svg": draw(tree, language, scheme).svg(shown=SHOWN)
        for tree in trees()
        for scheme in SCHEMES
        for language in LANGUAGES
    }


def main() -> int:
    """Draw; return the exit code."""
    write_pictures(pictures())
    for tree in trees():
        for language in LANGUAGES:
            print(f"\n{tree['name']} {language}: {described(tree, language)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
