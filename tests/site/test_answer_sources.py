"""Tests of docs/hooks/answer_sources.py."""

import pytest

from docs.hooks.answer_sources import apart

SMALL = '<p class="sources">'


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("<p>Yes. Source: <a>1</a>.</p>\n<p>b</p>", f"<p>Yes.</p>\n{SMALL}Source: <a>1</a>.</p>\n<p>b</p>"),
        ("<p>能用。来源：1。</p>", f"<p>能用。</p>\n{SMALL}来源：1。</p>"),
        ("<ul><li>a</li></ul>\n<p>Source: 1.</p>", f"<ul><li>a</li></ul>\n{SMALL}Source: 1.</p>"),
        ("<p>No source.</p>", "<p>No source.</p>"),
    ],
)
def test_sources_have_a_paragraph_of_their_own(answer: str, shown: str) -> None:
    assert apart(answer) == shown
