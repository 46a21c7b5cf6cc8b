"""Programs by name: complete rows, each program once, every area on the page."""

import re
from unicodedata import east_asian_width

import pytest
from origins import DATA

from tools.checks.page_reader import read_markdown
from tools.read_yaml import read_yaml

WIDEST = 150  # of what to do, for a cell that one glance takes in
AREAS = {path.stem: read_yaml(path) for path in sorted((DATA / "programs").glob("*.yaml"))}
PROGRAMS = [program for programs in AREAS.values() for program in programs]


def width(text):
    """Return the width of a text without the addresses of its links: a Chinese character has two."""
    shown = re.sub(r"\]\([^)]*\)", "]", text)
    return sum(1 + (east_asian_width(character) in "WF") for character in shown)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["name"])
def test_every_program_is_complete(program):
    needed = {"name", "mps", "do", "read"} | ({"answer"} if program.get("answer") else {"release", "code"})
    assert needed <= program.keys() <= needed | {"sources"}
    assert program["do"].keys() == {"en", "zh"}
    assert all(width(text) <= WIDEST for text in program["do"].values())
    if program.get("answer"):
        assert all(re.search(r"\]\([\w./-]*\.md#[\w-]+\)", text) for text in program["do"].values())


def test_every_program_is_there_once():
    names = [program["name"].lower() for program in PROGRAMS]
    assert len(names) == len(set(names)) > 50


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_shows_every_area(language):
    page = (DATA.parent / language / "facts/programs.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"<!-- table: programs-([\w-]+) -->", page)) == sorted(AREAS)
    assert read_markdown(page).headings
