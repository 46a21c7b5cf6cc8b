"""What is done to the theme's search after a build; what it then finds, browser tests show."""

import json

import pytest
from mkdocs.exceptions import PluginError

from docs.hooks.site_search import (
    SEARCH_WORKER,
    UNUSED,
    links_of_sections,
    other_words,
    packed,
    replace_search,
    searchable,
)

RANKING = {"pages": {"facts/": 2}, "synonyms": {"ram": "memory"}}
WORDS = {"": "start here"}


@pytest.fixture
def site(tmp_path):
    worker = tmp_path / "assets/javascripts/workers/search.0a1b.min.js"
    worker.parent.mkdir(parents=True)
    worker.write_text("the theme's", encoding="utf-8")
    (tmp_path / SEARCH_WORKER).write_text("ours", encoding="utf-8")
    (tmp_path / UNUSED / "min").mkdir(parents=True)
    index = tmp_path / "search/search_index.json"
    index.parent.mkdir()
    content = {"config": {"lang": ["zh"]}, "docs": [{"location": "", "title": "训练\u200b模型", "text": ""}]}
    index.write_text(json.dumps(content), encoding="utf-8")
    return tmp_path, worker, index


def test_our_search_takes_the_place_of_the_themes(site):
    folder, worker, _ = site
    replace_search(folder, RANKING, WORDS, "en")
    assert worker.read_text(encoding="utf-8") == "ours"
    assert not (folder / SEARCH_WORKER).exists()
    assert not (folder / UNUSED).exists()  # what only the theme's would load


def test_sections_get_ranking_data_and_lose_word_marks(site):
    folder, _, index = site
    replace_search(folder, RANKING, WORDS, "en")
    text = (folder / "search/sections.json").read_text(encoding="utf-8")
    assert "训练模型" in text  # no escapes
    docs = {"": [["", "训练模型", ""]]}
    assert json.loads(text) == RANKING | {"docs": docs, "other": ["start here"], "code": [""], "see": {}}
    assert json.loads(index.read_text(encoding="utf-8")) == {"config": {"lang": ["zh"]}, "docs": []}


def test_other_words_depend_on_language_and_section():
    words = {"facts/faq/": {"": ["help", "求助"], "heat": ["hot, loud fans", "风扇 fan"], "swap": ["交换"]}}
    assert other_words(words, "en") == {"facts/faq/": "help", "facts/faq/#heat": "hot, loud fans"}
    assert other_words(words, "zh") == {
        "facts/faq/": "help, 求助",
        "facts/faq/#heat": "hot, loud fans, 风扇 fan",
        "facts/faq/#swap": "交换",
    }


def test_of_a_listing_the_names_are_searched():
    section = {
        "location": "guides/timing/#wait",
        "title": "Wait <code>first</code>",
        "text": "<p>Then &lt;measure&gt;.</p><pre>torch.mps.synchronize()\nx = self.run(batch_size)\n</pre>",
    }
    assert searchable(section, "timer", "en") == {
        "location": "guides/timing/#wait",
        "title": "Wait first",
        "text": "Then <measure>.",
        "code": "torch.mps.synchronize batch_size",
        "other": "timer",
    }


@pytest.mark.parametrize(
    ("address", "length"),
    [
        ("guides/a/", 575),
        ("examples/a/", 340),
        ("reference/nvidia-speed/", 575),
        ("reference/error-messages/dtypes/", 5000),
    ],
)
def test_sections_are_searched_by_beginning_messages_by_all(address, length):
    section = {"location": address, "title": "A", "text": "a" * 5000}
    assert len(searchable(section, None, "en")["text"]) == length


def test_the_sources_of_an_answer_are_not_searched():
    section = {"location": "facts/a/#b", "title": "A", "text": "Update it. Source: faiss 3624, its code."}
    assert searchable(section, None, "en")["text"] == "Update it."


def test_the_threads_of_a_wrong_result_are_not_searched():
    text = "NaN with M2 · open; read up to 2026-08-11 · #192934, soda-inria/tabicl#146 Next one"
    section = {"location": "reference/wrong-results/#linear", "title": "A", "text": text}
    assert searchable(section, None, "en")["text"] == "NaN with M2 · open · Next one"


def test_a_number_in_a_message_is_searched():
    text = "OMP: Error #15: Initializing libiomp5.dylib"
    section = {"location": "reference/error-messages/compiled-libraries/#omp", "title": "A", "text": text}
    assert searchable(section, None, "en")["text"] == text


def test_another_name_in_a_wording_is_searched():
    section = {
        "location": "reference/error-messages/dtypes/#int64",
        "title": "<code>abs does not support int64</code>",
        "text": "<p>Update it.</p><ul><li><code>neg does not support int64</code></li>"
        "<li><code>no int64 &lt;3 for x y</code></li><li><code>no int64 &lt;3 for x z</code></li></ul>",
    }
    assert searchable(section, None, "en")["text"] == "Update it. neg no int64 <3 for x y z"
    section["location"] = "guides/a/"
    assert "neg does not support int64" in searchable(section, None, "en")["text"]


def test_links_of_a_section_lead_to_other_pages():
    html = (
        '<h2 id="one">One</h2><a href="../../guides/memory/#limits">there</a> <a href="https://other.org">away</a>'
        '<h2 id="two">Two</h2><a href="#one">here</a>'
    )
    assert links_of_sections(html, "facts/faq/") == {
        "facts/faq/#one": ["guides/memory/#limits"],
        "facts/faq/#two": [],
    }


def test_sections_are_packed_by_page():
    sections = [
        {"location": "a/", "title": "A", "text": "1"},
        {"location": "b/", "title": "B", "text": "2", "see": ["a/#c", "gone/"]},
        {"location": "a/#c", "title": "C", "text": "3", "other": "o", "code": "x.y"},
    ]
    assert packed(sections) == {
        "docs": {"a/": [["", "A", "1"], ["c", "C", "3"]], "b/": [["", "B", "2"]]},
        "see": {2: [1]},
        "other": ["", "o", ""],
        "code": ["", "x.y", ""],
    }


@pytest.mark.parametrize("change", ["no worker", "two workers"])
def test_another_theme_is_not_published_unseen(site, change):
    folder, worker, _ = site
    if change == "no worker":
        worker.rename(worker.with_name("find.js"))
    else:
        worker.with_name("search.2c3d.min.js").write_text("", encoding="utf-8")
    with pytest.raises(PluginError, match="the theme's search has changed"):
        replace_search(folder, RANKING, WORDS, "en")
