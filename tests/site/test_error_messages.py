"""The pages of error messages: texts word for word, releases. For entries: tools/checks/data_entries.py."""

import html
import re
from pathlib import Path
from types import SimpleNamespace

import error_messages
import operator_states
import pytest
from bs4 import BeautifulSoup
from markdown import markdown

from tools import ranges, versions

ROOT = Path(__file__).resolve().parents[2]
TOPICS = error_messages.topics()
MESSAGES = [message for topic in TOPICS.values() for message in topic["messages"]]
HEADING = re.compile(r"^## .* \{ #([a-z0-9-]+) \.error \}$", re.MULTILINE)
LANGUAGES = ("en", "zh")


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


@pytest.mark.parametrize(
    ("operator", "chinese"),
    [("_fft_r2c", "从 2.3 起"), ("isin.Tensor_Tensor_out", "从 2.4 起"), ("_ctc_loss", "从 2.14 起")],
)
def test_a_cure_names_the_releases_of_the_wheels(operator, chinese):
    cure = next(each["cure"] for each in MESSAGES if each["id"] == "not-currently-implemented")
    release = operator_states.since(operator_states.series()[operator])
    named = f"`{operator.partition('.')[0]}`"
    assert chinese == f"从 {release} 起"
    assert re.search(rf"{named}[^,:]*since {release}\b", cure["en"])
    assert re.search(rf"{named}[^，]*{chinese}", cure["zh"])


def test_every_file_is_a_topic_with_a_page():
    files = {path.stem for path in error_messages.FOLDER.glob("*.yaml")}
    assert files == TOPICS.keys(), "name each topic in ORDER, docs/hooks/error_messages.py"
    for language in LANGUAGES:
        folder = ROOT / "docs" / language / error_messages.PAGES
        assert {path.stem for path in folder.glob("*.md")} == {*files, "index"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_has_the_title_of_its_page(name, language):
    page = (ROOT / "docs" / language / error_messages.PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert f"# {TOPICS[name]['title'][language]} {{ #{name} }}" in page
    tables = re.findall(r"<!-- table: (\S+) -->", page)
    assert tables == ["error-filter", f"error-messages-{name}"]


def test_messages_of_our_programs_are_what_they_print():
    """A run of three words of each wording is in the file that the entry names."""
    for message in TOPICS["training-systems"]["messages"]:
        programs = [source[1] for source in message["sources"] if source[0] == "program"]
        files = "".join((ROOT / program).read_text(encoding="utf-8") for program in programs)
        code = re.sub(r"\"\s*f?\"", "", files)  # literals that follow each other are one
        for text in ranges.texts(message):
            words = text.removeprefix("error: ").split()
            runs = [" ".join(words[at : at + 3]) for at in range(len(words) - 2)]
            assert any(run in code for run in runs), text


def test_ids_and_texts_are_unique_and_many():
    ids = [message["id"] for message in MESSAGES]
    anchors = [*ids, *TOPICS, "error-messages", "not-here", "evidence"]
    assert len(anchors) == len(set(anchors))
    texts = [message["text"] for message in MESSAGES]
    assert len(texts) == len(set(texts)) and len(texts) >= 80


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TOPICS)
def test_every_message_is_a_heading_word_for_word(name, language):
    shown = error_messages.render(name, language)
    messages = TOPICS[name]["messages"]
    assert HEADING.findall(shown) == [message["id"] for message in messages]
    page = markdown(shown, extensions=["attr_list", "md_in_html"])
    headings = re.findall(r"<h2 class=\"error\" id=\"([^\"]+)\"><code>(.*?)</code></h2>", page)
    assert {ident: html.unescape(text) for ident, text in headings} == {
        message["id"]: message["text"] for message in messages
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
        "cause": {"en": "Why: [this](#out-of-memory)."},
        "cure": {
            "en": "Do [it](../guides/a.md#b), or [that](operators.md); see [here](#int-max), [all](#metal)."
        },
        "code": "snippets/a.py:part",
        "releases": {"en": "seen on Linux"},
        "sources": [
            ["issue", 5, "a/b"],
            ["text", "https://github.com/a/b/blob/main/c/d.py"],
            ["text", "https://docs.c.org/d/"],
            ["program", "examples/a.py"],
        ],
    }
    assert error_messages.entry(message, "en", "memory").split("\n\n") == [
        "## `` SomeError: `x` `` { #some-error .error }",
        "**Cure.** Do [it](../../guides/a.md#b), or [that](../operators.md); "
        "see [here](sizes.md#int-max), [all](metal.md).",
        '<div class="from-data" markdown>',
        '```python\n--8<-- "snippets/a.py:part"\n```',
        "</div>",
        "**Cause.** Why: [this](#out-of-memory).",
        '<details class="error-more" markdown>\n'
        "<summary data-search-exclude>Other wordings, releases, sources</summary>",
        "- `OtherError`<small data-search-exclude> (PyTorch 2.14 to 2.15)</small>",
        "The wording of the heading: PyTorch 2.15; seen on Linux. Sources: "
        "[a/b#5](https://github.com/a/b/issues/5), "
        "[b: d.py](https://github.com/a/b/blob/main/c/d.py), [docs.c.org](https://docs.c.org/d/), "
        "`examples/a.py`\n"
        '{ data-search-exclude="true" }',
        "</details>",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_list_links_every_message_with_its_wordings(language):
    page = BeautifulSoup(error_messages.contents(language), "html.parser")
    listed = [link for listing in page.select(".error-list") for link in listing.select("a")]
    assert {link["href"]: link.text for link in listed} == {
        f"{name}/#{message['id']}": message["text"]
        for name, topic in TOPICS.items()
        for message in topic["messages"]
    }
    also = {link["href"].partition("#")[2]: link.get("data-also", "").split("\n") for link in listed}
    assert also == {message["id"]: message.get("variants", [""]) for message in MESSAGES}


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("RuntimeError: Invalid buffer size: 19.38 GiB", "Invalid buffer size: 19.38 GiB"),
        ("x" * 60, "x" * 60),
        ("torch.OutOfMemoryError: " + "x" * 61, "x" * 59 + "…"),
    ],
)
def test_messages_are_short_in_the_list_beside_their_page(title, shown):
    message = SimpleNamespace(title=title)
    page = SimpleNamespace(
        file=SimpleNamespace(src_uri="zh/reference/error-messages/memory.md"),
        toc=[SimpleNamespace(children=[message])],
    )
    error_messages.on_page_content("", page, None, None)
    assert message.title == shown
