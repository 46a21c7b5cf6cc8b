"""The page of error messages: complete entries, texts word for word, links and code that exist."""

import html
import re
from pathlib import Path
from types import SimpleNamespace

import error_messages
import pytest
from markdown import markdown

from tools.checks.sections import all_sections

ROOT = Path(__file__).resolve().parents[2]
PAGE = "reference/error-messages.md"
TOPICS = error_messages.topics()
MESSAGES = [message for topic in TOPICS.values() for message in topic["messages"]]
REQUIRED = {"id", "text", "cause", "cure", "releases", "sources", "read"}
HEADING = re.compile(r"^### .* \{ #([a-z0-9-]+) \}$", re.MULTILINE)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message["id"])
def test_every_message_is_complete(message):
    assert message.keys() - {"variants", "code"} == REQUIRED
    for text in (message["cause"], message["cure"]):
        assert text.keys() == {"en", "zh"} and all(text.values())
    # A heading and a cure are one line each; and what is shown once is not shown again below it.
    texts = [message["text"], *message.get("variants", [])]
    assert all(text == text.strip() and "\n" not in text for text in texts)
    assert len(texts) == len(set(texts))
    assert not any("\n" in cure for cure in message["cure"].values())
    releases = message["releases"]
    assert releases is None or (releases.keys() == {"en", "zh"} and all(releases.values()))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message["id"])
def test_every_message_has_its_sources(message):
    assert message["sources"]
    for kind, what, *repository in message["sources"]:
        if kind == "text":
            assert re.fullmatch(r"https://\S+", what) and not repository
        else:
            assert kind in ("issue", "pull") and what > 0
            assert re.fullmatch(r"[\w.-]+/[\w.-]+", *repository)


def test_every_file_is_a_topic_of_the_page():
    assert sorted(TOPICS) == sorted(path.stem for path in error_messages.FOLDER.glob("*.yaml"))


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


def test_an_entry_in_full():
    message = {
        "id": "some-error",
        "text": "SomeError: `x`",
        "variants": ["OtherError"],
        "cause": {"en": "Why."},
        "cure": {"en": "Do it."},
        "code": "snippets/a.py:part",
        "releases": {"en": "PyTorch 2.15"},
        "sources": [
            ["issue", 5, "a/b"],
            ["text", "https://github.com/a/b/blob/main/c/d.py"],
            ["text", "https://docs.c.org/d/"],
        ],
    }
    assert error_messages.entry(message, "en").split("\n\n") == [
        "### `` SomeError: `x` `` { #some-error }",
        "Other wordings, or lines that come with it:",
        "- `OtherError`",
        "Why.",
        "**Cure.** Do it.",
        '<div class="from-data" markdown>',
        '```python\n--8<-- "snippets/a.py:part"\n```',
        "</div>",
        "PyTorch 2.15. Sources: [a/b#5](https://github.com/a/b/issues/5), "
        "[b: d.py](https://github.com/a/b/blob/main/c/d.py), [docs.c.org](https://docs.c.org/d/)\n"
        '{ .error-sources data-search-exclude="true" }',
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_links_lead_to_headings_that_exist(language):
    shown = error_messages.render(language)
    own = {*HEADING.findall(shown), *TOPICS}
    folder = ROOT / "docs" / language / "reference"
    for path, anchor in re.findall(r"\]\((?!https:)([^)#]*)(?:#([\w-]+))?\)", shown):
        if not path:
            assert anchor in own, anchor
            continue
        assert (folder / path).is_file(), path
        assert not anchor or f"{{ #{anchor} }}" in (folder / path).read_text(encoding="utf-8"), (path, anchor)


def test_code_is_a_tested_section():
    sections, _ = all_sections(ROOT)
    named = [message["code"] for message in MESSAGES if "code" in message]
    assert named and all(include in sections for include in named)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_has_a_list_of_all_topics(language):
    listed = re.findall(r"\(#([\w-]+)\)", error_messages.contents(language))
    assert listed == list(TOPICS) and len(listed) >= 8
    text = (ROOT / "docs" / language / PAGE).read_text(encoding="utf-8")
    assert text.index("<!-- table: error-topics -->") < text.index("<!-- table: error-messages -->")


@pytest.mark.parametrize(("page", "kept"), [(f"zh/{PAGE}", 0), ("zh/reference/operators.md", 1)])
def test_the_list_beside_the_page_has_topics_alone(page, kept):
    topic = SimpleNamespace(children=["a message"])
    title = SimpleNamespace(children=[topic])
    error_messages.on_page_content(
        "", SimpleNamespace(file=SimpleNamespace(src_uri=page), toc=[title]), None, None
    )
    assert title.children == [topic] and len(topic.children) == kept
