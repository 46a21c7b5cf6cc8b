"""The decision trees: pictures are drawn from the data and readable, and the pages say the same in words."""

import os
import platform
import re

import pytest
import torch

from tests.tools.drawing.test_page_pictures import channels, contrast, illegible
from tools.drawing import decision_trees as tool
from tools.drawing.page_pictures import FOLDER, ROOT

TREES = {tree["name"]: tree for tree in tool.trees()}
PAGES = [(name, language) for name in TREES for language in tool.LANGUAGES]
PAPER = {"light": "#fdfdfb", "dark": "#12181b"}  # docs/assets/stylesheets/site.css
SMALLEST_LETTERS = 13  # pixels, on a phone 390 pixels wide
PICTURE_ON_PHONE = 350  # pixels that such a phone leaves for a picture


def page_of(name, language):
    return (ROOT / "docs" / language / f"facts/{name}.md").read_text(encoding="utf-8")


def test_the_pictures_in_the_repository_are_drawn_from_the_data():
    drawn = tool.pictures()
    assert len(drawn) == len(TREES) * 4 == 16
    assert drawn.keys() == {path.name for path in FOLDER.glob("decision-*.svg")}
    for name, text in drawn.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, (
            "run python -m tools.drawing.decision_trees"
        )


def test_letters_are_large_enough_on_a_phone():
    assert tool.SIZE * min(1, PICTURE_ON_PHONE / tool.WIDTH) >= SMALLEST_LETTERS


@pytest.mark.parametrize("scheme", tool.SCHEMES)
def test_text_can_be_told_from_what_is_behind_it(scheme):
    colours = tool.COLOURS[scheme]
    for text, behind in (("ink", PAPER[scheme]), ("ink", colours["check"]), ("then", PAPER[scheme])):
        assert contrast(channels(colours[text]), channels(behind)) >= 4.5


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_a_picture_shows_every_text_and_both_answers_of_each_check(name, language):
    tree = TREES[name]
    svg = tool.draw(tree, language, "light").svg()
    assert illegible(svg) == []
    shown = re.sub(r"\s", "", "".join(re.findall(r">([^<]*)</text>", svg)))
    wanted = [check[part][language] for check in tree["checks"] for part in ("question", "then")]
    for text in [*wanted, tree["end"][language]]:
        assert re.sub(r"\s", "", text) in shown
    for answer in (True, False):
        assert svg.count(f">{tool.WORDS[language][answer]}</text>") == len(tree["checks"])


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_the_page_lists_the_checks_in_words_each_with_code_and_a_link(name, language):
    items = re.findall(r"^\d+\. \*\*(.+?)\*\*(.+)$", page_of(name, language), re.MULTILINE)
    assert [question for question, _ in items] == [
        check["question"][language] for check in TREES[name]["checks"]
    ]
    for _, rest in items:
        assert "`" in rest and "](" in rest


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_the_lines_of_python_run(name, language):
    """Those that print, or ask platform and torch. What needs a Mac is compiled only."""
    model = torch.nn.Linear(4, 4)
    x = batch = torch.ones(2, 4)
    names = {"os": os, "platform": platform, "torch": torch, "model": model, "x": x, "batch": batch}
    names |= {"heads": 2, "length": 8}
    spans = re.findall(r"`((?:print|platform|torch)[.(][^`]+\))`", page_of(name, language))
    assert spans
    for span in spans:
        code = compile(span, name, "exec")
        if not re.search(r"mps|torch\.compile", span):
            exec(code, dict(names))


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_the_page_shows_its_picture_with_the_same_in_words(name, language):
    images = re.findall(r"!\[([^]]+)\]\(([^)]+)\)", page_of(name, language))
    files = [
        f"../../assets/images/decision-{name}-{scheme}.{language}.svg#only-{scheme}"
        for scheme in tool.SCHEMES
    ]
    assert images == [(tool.described(TREES[name], language), file) for file in files]


def test_a_tree_in_words():
    check = {
        "question": {"en": "Is it?", "zh": "是吗？"},
        "leads": False,
        "then": {"en": "Do.", "zh": "做。"},
    }
    tree = {"title": {"en": "Why", "zh": "原因"}, "checks": [check], "end": {"en": "Stop.", "zh": "停。"}}
    assert tool.described(tree, "en") == "Decision tree: Why. 1. Is it? No: Do. Otherwise: Stop."
    assert tool.described(tree, "zh") == "决策树：原因。（1）是吗？否：做。否则：停。"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two three four", ["one two three", "four"]),
        ("一二三四五六七八九", ["一二三四五六七八", "九"]),
        ("一二三四五六七八，九", ["一二三四五六七", "八，九"]),  # no mark begins a line
        ("一二 MPS 五", ["一二 MPS 五"]),
    ],
)
def test_lines_end_between_words_or_chinese_letters(text, expected):
    assert tool.wrapped(text, 8.2 * tool.SIZE) == expected
