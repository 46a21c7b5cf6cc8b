"""The decision trees and their pages agree, and each box leads somewhere."""

import os
import platform
import re
from pathlib import Path

import decision_trees as hook
import markdown
import pytest
import torch
from bs4 import BeautifulSoup
from origins import DATA, load

ROOT = Path(__file__).resolve().parents[2]
TREES = {tree["name"]: tree for tree in load("decision_trees", DATA)}
PAGES = [(name, language) for name in TREES for language in hook.WORDS]
EXTENSIONS = ["md_in_html", "attr_list"]


def page_of(name, language):
    return (ROOT / "docs" / language / f"facts/{name}.md").read_text(encoding="utf-8")


def tree_of(name, language):
    html = markdown.markdown(hook.TABLES[f"tree-{name}"](language), extensions=EXTENSIONS)
    return BeautifulSoup(html, "html.parser")


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_page_lists_the_checks_with_code_and_links(name, language):
    """Each with the anchor that its question links to."""
    items = re.findall(r"^\d+\. \*\*(.+?)\*\*\{ #([\w-]+) \}(.+)$", page_of(name, language), re.MULTILINE)
    assert [(question, anchor) for question, anchor, _ in items] == [
        (check["question"][language], check["id"]) for check in TREES[name]["checks"]
    ]
    for _, _, rest in items:
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
def test_page_shows_its_tree_and_has_an_end(name, language):
    text = page_of(name, language)
    assert re.findall("<!-- table: (tree-.+) -->", text) == [f"tree-{name}"]
    last = text.split("{ #no-branch }")[1].split("\n## ")[0]
    assert "(../start/check-setup.md#ask)" in last
    assert "![" not in text


@pytest.mark.parametrize(("name", "language"), PAGES)
def test_every_box_is_a_link(name, language):
    tree = tree_of(name, language)
    checks = TREES[name]["checks"]
    items = tree.select("ol > li")
    assert len(items) == len(checks) + 1 and len(tree.select("ol")) == 1
    for item, check in zip(items, checks, strict=False):
        question, cure = item.select("a")
        assert (question.get_text(), question["href"]) == (check["question"][language], f"#{check['id']}")
        assert (cure.get_text(), cure["href"]) == (check["then"][language], check["cure"])
        answers = [word.get_text() for word in item.select("em")]
        assert answers == [hook.WORDS[language][side] for side in (check["leads"], not check["leads"])]
    assert items[-1].a["href"] == "#no-branch"
    assert items[-1].get_text(strip=True) == TREES[name]["end"][language]


def test_cures_exist():
    for tree in TREES.values():
        for check in tree["checks"]:
            file, _, anchor = check["cure"].partition("#")
            text = (ROOT / "docs/en/facts" / file).read_text(encoding="utf-8")
            assert not anchor or f"{{ #{anchor} }}" in text, check["cure"]


def test_the_rule_about_shares_is_arithmetic():
    """Why is MPS slow? says how many times as fast a step can become at most."""
    for language in hook.WORDS:
        text = page_of("why-is-mps-slow", language).split("{ #reading }")[1].split("\n## ")[0]
        for share in (0.1, 0.25, 0.5):
            assert f"{1 / (1 - share):.2g}" in text
