"""The pages of the decision trees say in words what the pictures show."""

import os
import platform
import re

import pytest
import torch

from tools.drawing import trees as tool
from tools.drawing.draw import DATA, ROOT
from tools.drawing.page import COLOURS
from tools.read_yaml import read_yaml

TREES = {tree["name"]: tree for tree in read_yaml(DATA / "decision_trees.yaml")}
PAGES = [(name, language) for name in TREES for language in tool.WORDS]


def page_of(name, language):
    return (ROOT / "docs" / language / f"facts/{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_page_lists_the_checks_with_code_and_links(name, language):
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
def test_page_shows_its_picture_with_equal_words(name, language):
    images = re.findall(r"!\[([^]]+)\]\(([^)]+)\)", page_of(name, language))
    files = [
        f"../../assets/images/decision-{name}-{scheme}.{language}.svg#only-{scheme}" for scheme in COLOURS
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
