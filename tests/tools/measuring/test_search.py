"""Places and shares by hand, and a search with known results in a browser."""

import pytest

from tests.static_server import static_server
from tools.measuring import search
from tools.read_yaml import read_yaml

BASE = "http://127.0.0.1:8000/zh/"
# The theme's names; what is typed is found on the page of that name, and "empty" nowhere.
SITE = """<!doctype html><html><body><input class="md-search__input">
<div class="md-search-result__meta">Type to start searching</div><ol></ol><script>
const field = document.querySelector("input"), list = document.querySelector("ol")
field.addEventListener("input", () => setTimeout(() => {
  const words = field.value, known = words && words !== "empty"
  const hits = known ? ["guides/first/", `${words}/?h=x`, `${words}/?h=x#part`] : []
  const item = link => `<li class="md-search-result__item"><a href="/${link}"></a></li>`
  list.innerHTML = hits.map(item).join("")
  document.querySelector("div").textContent =
    known ? `${hits.length} matching documents` : words ? "No matching documents" : "Type to start searching"
}, 30))
</script></body></html>"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("guides/memory.md", ("guides/memory/", None)),
        ("guides/memory.md#top", ("guides/memory/", "")),
        ("guides/memory.md#limits", ("guides/memory/", "limits")),
        ("examples/two-tower/index.md#memory", ("examples/two-tower/", "memory")),
        ("start/first-run-notebook.ipynb", ("start/first-run-notebook/", None)),
        ("index.md", ("", None)),
    ],
)
def test_published_address_of_a_page(name, expected):
    assert search.published(name) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["facts/faq.md#nan"], 2),
        (["facts/faq.md#top"], 3),
        (["facts/faq.md"], 2),  # any section of it
        (["facts/faq.md#slow"], None),  # the page is found, the section is not
        (["facts/faq.md#slow", "guides/memory.md"], 1),
        (["index.md"], 4),
        ([], None),
    ],
)
def test_place_of_the_first_result_that_answers(wanted, expected):
    found = [
        f"{BASE}guides/memory/?h=nan#limits",
        f"{BASE}facts/faq/?h=nan#nan",
        f"{BASE}facts/faq/?h=nan",
        BASE,
    ]
    assert search.place(found, wanted, BASE) == expected


def test_shares_count_only_queries_that_a_page_answers():
    kinds = ["typed", "typed", "error", "error", "vague"]
    entries = [{"kind": kind, "pages": ["index.md"]} for kind in kinds] + [{"kind": "typed", "pages": []}]
    result = search.by_kind(entries, [1, 3, 4, None, 1, None])
    assert (result["queries"], result["first"], result["first_3"]) == (5, 0.4, 0.6)
    assert result["without_answer"] == 1
    assert result["kinds"]["typed"] == {"queries": 2, "first": 0.5, "first_3": 1.0}
    assert result["kinds"]["error"] == {"queries": 2, "first": 0.0, "first_3": 0.0}


def test_every_query_is_answered_by_its_own_results(browser, tmp_path):
    (tmp_path / "zh").mkdir()
    for folder in (tmp_path, tmp_path / "zh"):
        (folder / "index.html").write_text(SITE, encoding="utf-8")
    queries = {
        "en": [
            {"query": "guides/second", "pages": ["guides/second.md#part"]},
            {"query": "empty", "pages": ["guides/second.md"]},
            {"query": "guides/third", "pages": ["guides/second.md", "guides/first.md"]},
        ],
        "zh": [{"query": "zh/facts/one", "pages": ["facts/one.md"]}],
    }
    with static_server(tmp_path) as port:
        found = search.measure(browser, f"http://127.0.0.1:{port}/", queries)
    assert found == {"en": [3, None, 1], "zh": [2]}


def test_another_set_stays_in_the_file(tmp_path):
    file = tmp_path / "search.yaml"
    for name, first in (("tuning", 0.5), ("held_out", 0.4), ("tuning", 0.6)):
        search.store({"set": name, "first": first}, file, search.HEADER, same=("set",))
    assert read_yaml(file) == [
        {"set": "held_out", "first": 0.4},
        {"set": "tuning", "first": 0.6},
    ]


def test_search_words_are_not_taken_from_tuning_queries():
    """Two or three words may meet by chance, as with "mixed precision"."""
    data = search.ROOT / "docs/data/search"
    queries = {row["query"].lower() for rows in read_yaml(data / "tuning.yaml").values() for row in rows}
    sections = read_yaml(data / "words.yaml").values()
    wordings = {word.lower() for words in sections for found in words.values() for word in found}
    long = {text for text in wordings if len(text.split()) > 3 or (not text.isascii() and len(text) > 8)}
    assert long & queries == set()
