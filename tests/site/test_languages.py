"""The English and the Chinese texts of this repository are equals."""

from pathlib import Path

import pytest

from tools.checks import parity, terms, typography

pytestmark = pytest.mark.unmeasured

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
