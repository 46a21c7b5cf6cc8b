"""The page of error messages: texts word for word, releases. For entries: tools/checks/data_entries.py."""

import html
import re
from pathlib import Path
from types import SimpleNamespace

import error_messages
import pytest
from markdown import markdown

from tools import ranges, versions

ROOT = Path(__file__).resolve().parents[2]
PAGE = "reference/error-messages/index.md"
TOPICS = error_messages.topics()
MESSAGES = [message for topic in TOPICS.values() for message in topic["messages"]]
HEADING = re.compile(r"^### .* \{ #([a-z0-9-]+) \}$", re.MULTILINE)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message["id"])
def test_every_message_was_looked_for_in_the_wheels(message):
    """A literal that is not in the data is new: `make follow-release` reads it in the wheels."""
    marks = ranges.marks(message)
    if message["id"] in ranges.not_in_wheels():
        assert "search" not in message, "it is not looked for"
        return
    found = [ranges.literals(text, message.get("search", ())) for text in ranges.texts(message)]
    unread = {literal for each in found for literal in each} - ranges.read()["texts"].keys()
    assert not unread, "no wheel was read for it: run make follow-release"
    assert any(marks), "no wheel has it: give a literal in `search`, or a reason in not_in_wheels.yaml"
    unused = set(message.get("search", ())) - {literal for each in found for literal in each}
    assert not unused, "no text fits"
    typed = re.findall(r"PyTorch \d.*?\bto \d", message.get("releases", {}).get("en", ""))
    assert not typed, "ranges are read; a note says what else holds"


def test_messages_outside_the_wheels_exist_and_have_a_reason():
    outside = ranges.not_in_wheels()
    assert outside.keys() <= {message["id"] for message in MESSAGES}
    assert all(len(reason) > 20 for reason in outside.values())


def test_ranges_are_those_of_the_releases_that_pip_knows():
    newest = {release.minor: release.torch for release in reversed(versions.releases())}
    assert ranges.read()["wheels"] == newest
    width = len(newest)
    assert all(
        len(marks) == width for kind in ("texts", "variables") for marks in ranges.read()[kind].values()
    )


@pytest.mark.parametrize(
    ("ident", "wording", "range_"),
    [  # compared with the strings of the wheels by hand; the first four had been typed wrongly
        ("unsupported-border-padding-mode", 0, "PyTorch 2.1 to 2.10"),
        ("bfloat16-not-supported", 2, "PyTorch 2.3 to 2.8"),
        ("adaptive-pool-divisible", 1, "PyTorch 2.0 to 2.3"),
        ("redirects-not-supported", 1, "PyTorch 2.12 to 2.15"),
        ("conv-transpose-3d", 1, "PyTorch 2.0 to 2.7"),
        ("int-max", 1, "PyTorch 2.9 to 2.12"),
    ],
)
def test_ranges_that_were_compared_by_hand(ident, wording, range_):
    message = next(message for message in MESSAGES if message["id"] == ident)
    assert ranges.words(ranges.marks(message)[wording], "en") == range_


def test_every_file_is_a_topic_of_the_page():
    files = {path.stem for path in error_messages.FOLDER.glob("*.yaml")}
    assert files == TOPICS.keys(), "name each topic in ORDER, docs/hooks/error_messages.py"


def test_ids_and_texts_are_unique_and_many():
    ids = [message["id"] for message in MESSAGES]
    anchors = [*ids, *TOPICS, "error-messages", "not-here", "evidence"]
    assert len(anchors) == len(set(anchors))
    texts = [message["text"] for message in MESSAGES]
    assert len(texts) == len(set(texts)) and len(texts) >= 80


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_message_is_a_heading_word_for_word(language):
    shown = error_messages.render(language)
    assert HEADING.findall(shown) == [message["id"] for message in MESSAGES]
    page = markdown(shown, extensions=["attr_list", "md_in_html"])
    headings = re.findall(r"<h3 id=\"([^\"]+)\"><code>(.*?)</code></h3>", page)
    assert {ident: html.unescape(text) for ident, text in headings} == {
        message["id"]: message["text"] for message in MESSAGES
    }


@pytest.mark.parametrize(
    ("text", "span"),
    [("plain", "`plain`"), ("a `b` c", "`` a `b` c ``"), ("a ``b", "``` a ``b ```")],
)
def test_code_spans_with_backticks(text, span):
    assert error_messages.code_span(text) == span
    assert markdown(span) == f"<p><code>{text}</code></p>"


TEXTS = {"`x`": ".x", "OtherError": "xx"}  # in 2.14 and 2.15


def test_an_entry_in_full(monkeypatch):
    monkeypatch.setattr(ranges, "read", lambda: {"wheels": {"2.14": "", "2.15": ""}, "texts": TEXTS})
    message = {
        "id": "some-error",
        "text": "SomeError: `x`",
        "variants": ["OtherError"],
        "cause": {"en": "Why."},
        "cure": {"en": "Do it."},
        "code": "snippets/a.py:part",
        "releases": {"en": "seen on Linux"},
        "sources": [
            ["issue", 5, "a/b"],
            ["text", "https://github.com/a/b/blob/main/c/d.py"],
            ["text", "https://docs.c.org/d/"],
        ],
    }
    assert error_messages.entry(message, "en").split("\n\n") == [
        "### `` SomeError: `x` `` { #some-error }",
        "Other wordings, or lines that come with it:",
        "- `OtherError`<small data-search-exclude> (PyTorch 2.14 to 2.15)</small>",
        "Why.",
        "**Cure.** Do it.",
        '<div class="from-data" markdown>',
        '```python\n--8<-- "snippets/a.py:part"\n```',
        "</div>",
        "The wording of the heading: PyTorch 2.15; seen on Linux. Sources: "
        "[a/b#5](https://github.com/a/b/issues/5), "
        "[b: d.py](https://github.com/a/b/blob/main/c/d.py), [docs.c.org](https://docs.c.org/d/)\n"
        '{ .error-sources data-search-exclude="true" }',
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_has_a_list_of_all_topics(language):
    listed = re.findall(r"\(#([\w-]+)\)", error_messages.contents(language))
    assert listed == list(TOPICS) and len(listed) >= 8


@pytest.mark.parametrize(("page", "kept"), [(f"zh/{PAGE}", 0), ("zh/reference/operators.md", 1)])
def test_the_list_beside_the_page_has_topics_alone(page, kept):
    topic = SimpleNamespace(children=["a message"])
    title = SimpleNamespace(children=[topic])
    error_messages.on_page_content(
        "", SimpleNamespace(file=SimpleNamespace(src_uri=page), toc=[title]), None, None
    )
    assert title.children == [topic] and len(topic.children) == kept
