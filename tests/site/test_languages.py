"""The English and the Chinese texts of this repository are equals."""

import importlib.util
from pathlib import Path

import pytest

from tools.checks import parity, terms, typography

ROOT = Path(__file__).resolve().parents[2]


def test_pages_and_texts_are_equal_and_reviewed():
    report = parity.check(ROOT)
    assert not report.defects, "\n".join([*report.defects, report.summary()])
    assert report.pages and report.headings and report.elements and report.numbers and report.texts


def test_chinese_texts_use_the_terms_of_the_glossary():
    defects, count = terms.check(ROOT)
    assert not defects, "\n".join(defects)
    assert count


def test_chinese_typography():
    defects, count = typography.check(ROOT)
    assert not defects, "\n".join(defects)
    assert count


@pytest.mark.parametrize("language", ["en", "zh"])
def test_glossary_table_has_every_term(language):
    spec = importlib.util.spec_from_file_location("glossary_table", ROOT / "docs/hooks/glossary_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = [row.strip("| ").split(" | ") for row in module.render(language).splitlines()]
    assert {len(row) for row in rows} == {4}
    assert len(rows) == 2 + len(terms.load_glossary(ROOT))
    decay = next(row for row in rows if "weight decay" in row[0])
    assert "权重衰减" in decay[1] and "体重衰减" in decay[3]
