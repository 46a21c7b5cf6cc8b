"""Programs by name: complete rows, each program once, every area on a page."""

import re
from unicodedata import east_asian_width

import pytest
from origins import DATA

from tools.read_yaml import read_yaml

WIDEST = 150  # of what to do, for a cell that one glance takes in
AREAS = {path.stem: read_yaml(path) for path in sorted((DATA / "programs").glob("*.yaml"))}
PROGRAMS = [program for programs in AREAS.values() for program in programs]


def width(text):
    """Return the width of a text without the addresses of its links: a Chinese character has two."""
    shown = re.sub(r"\]\([^)]*\)", "]", text)
    return sum(1 + (east_asian_width(character) in "WF") for character in shown)


@pytest.mark.parametrize("area", AREAS)
def test_every_program_is_complete(area):
    needed = {"name", "release", "mps", "do", "code", "read"}
    for program in AREAS[area]:
        assert needed <= program.keys() <= needed | {"sources"}
        assert program["do"].keys() == {"en", "zh"}
        assert all(width(text) <= WIDEST for text in program["do"].values()), program["name"]


def test_every_program_is_there_once():
    names = [program["name"].lower() for program in PROGRAMS]
    assert len(names) == len(set(names)) > 50


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_pages_show_every_area(language):
    pages = [
        path.read_text(encoding="utf-8") for path in (DATA.parent / language / "facts").glob("programs*.md")
    ]
    assert sorted(re.findall(r"<!-- table: programs-([\w-]+) -->", "".join(pages))) == sorted(AREAS)
