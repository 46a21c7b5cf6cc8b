"""No typed-in code on the real pages: sources, and what the built site shows."""

from pathlib import Path

import pytest

from tools.checks.page_code import (
    built_page,
    check_pages,
    compare_rendered,
    expected_blocks,
    pages,
    unused,
)
from tools.checks.sections import all_sections

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sections():
    found, _ = all_sections(ROOT)
    assert found
    return found


def test_sections_are_closed_unique_and_filled():
    _, defects = all_sections(ROOT)
    assert not defects, "\n" + "\n".join(defects)


def test_pages_hold_nothing_but_included_code(sections):
    users, defects = check_pages(ROOT, sections)
    assert not defects, "\n" + "\n".join(defects)
    shown = {page for pages_of_one in users.values() for page in pages_of_one}
    assert any(page.startswith("docs/en/") for page in shown)
    assert any(page.startswith("docs/zh/") for page in shown)


def test_every_section_is_shown(sections):
    users, _ = check_pages(ROOT, sections)
    idle = unused(ROOT, sections, users)
    assert not idle, "\n" + "\n".join(idle)


def test_built_pages_show_exactly_the_included_code(sections, built_site, site_url, monkeypatch):
    monkeypatch.setenv("SITE_URL", site_url)  # commands name it
    problems, compared = [], 0
    for page in pages(ROOT):
        html = built_page(page, ROOT, built_site).read_text(encoding="utf-8")
        expected = expected_blocks(page, ROOT, sections)
        name = page.relative_to(ROOT).as_posix()
        problems += [f"{name}: {difference}" for difference in compare_rendered(expected, html)]
        compared += len(expected)
    assert not problems, "\n" + "\n".join(problems)
    assert compared > 0
    print(f"compared {compared} code blocks")
