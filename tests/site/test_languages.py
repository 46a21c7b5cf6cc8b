"""The English and the Chinese texts of this repository are equals."""

import re
from pathlib import Path

import pytest
import yaml

from tests.examples.system_pieces import navigation
from tools.checks import parity, terms

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parents[2]


def nav_titles(entries):
    """Return the titles of a part of the navigation."""
    parts = entries.items() if isinstance(entries, dict) else ()
    inner = entries if isinstance(entries, list) else [part for _, part in parts]
    return [title for title, _ in parts] + [title for part in inner for title in nav_titles(part)]


def test_pages_and_texts_are_equal_and_reviewed():
    report = parity.check(ROOT)
    assert not report.defects, "\n".join([*report.defects, report.summary()])
    assert report.pages and report.headings and report.elements and report.numbers and report.texts


def test_chinese_texts_use_the_terms_of_the_glossary():
    defects, count = terms.check(ROOT)
    assert not defects, "\n".join(defects)
    assert count


def test_every_title_of_the_navigation_has_a_chinese_one():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    chinese = yaml.safe_load(re.search(r"nav_translations:\n((?: {12}\S.*\n)+)", text)[1])
    titles = nav_titles(navigation())
    assert len(titles) > 15  # pages have their headings as titles
    missing = [title for title in titles if title not in chinese]
    assert not missing, f"mkdocs.yml has no Chinese title under `nav_translations` for {missing}"
