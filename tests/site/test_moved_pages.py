"""Old addresses of pages and sections lead to present ones."""

import re
from pathlib import Path

import error_messages
import pytest
from moved_pages import GONE, read_moved

ROOT = Path(__file__).resolve().parents[2]
MOVED = read_moved(ROOT)


def sections(language, page):
    """Return the ids of a page's headings, or None without a page."""
    path = ROOT / "docs" / language / page
    if not path.exists():
        return None
    found = re.findall(r"\{ #([\w-]+) \}", path.read_text(encoding="utf-8"))
    if page.startswith(error_messages.PAGES):
        found += [ident for ident, topic in error_messages.places().items() if topic == path.stem]
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_new_places_are_there_and_old_ones_are_not(language):
    wrong = []
    for page, places in MOVED.items():
        left = sections(language, page)
        assert ("" in places) == (left is None), page
        for section, new in places.items():
            target, _, anchor = new.partition("#")
            there = sections(language, target)
            if there is None or (anchor and anchor not in there) or section in (left or ()):
                wrong.append(f"{page}#{section}: {new}")
    assert MOVED and wrong == []


def test_a_page_that_is_gone_is_no_search_result():
    assert '<meta name="robots" content="noindex">' in GONE


def test_every_message_has_its_old_address():
    assert MOVED[error_messages.INDEX] == {
        message["id"]: f"reference/error-messages/{name}.md#{message['id']}"
        for name, topic in error_messages.topics().items()
        for message in topic["messages"]
    }
