"""The search's worker alone, with sections of a few characters: what it answers to what nobody types."""

import json
import shutil
import time
from pathlib import Path

import pytest

from docs.hooks.site_search import packed
from tests.static_server import static_server

SCRIPTS = Path(__file__).resolve().parents[2] / "docs/assets/javascripts"
CHARACTERS = [chr(number) for number in (*range(0x4E00, 0x9FFF), *range(0x20000, 0x2A6DF))]
WORKER = "/assets/javascripts/workers/search.js"
ASK = """queries => new Promise((resolve, reject) => {
  const worker = new Worker("/assets/javascripts/workers/search.js"), answers = []
  worker.onerror = event => reject(event.message)
  worker.onmessage = ({ data }) => {
    answers.push(data.data.items)
    if (answers.length < queries.length) worker.postMessage({ type: 2, data: queries[answers.length] })
    else resolve(answers)
  }
  setTimeout(reject, 20000, "no answer")
  worker.postMessage({ type: 2, data: queries[0] })
})"""

RANKING = {
    "pages": {"project/": 0.5},
    "synonyms": {"ram": "memory"},
    "common": {"weight": 0.4, "words": "mac install m2"},
    "names": {"weight": 3, "fields": 5, "besides": 2},
    "unknown": "operator list",
    "messages": {"pages": "errors/", "from": 2, "weight": 0.5},
}
SECTIONS = [
    {"location": "guides/memory/", "title": "Memory", "text": "The memory of a Mac is shared."},
    {
        "location": "guides/memory/#limit",
        "title": "The limit",
        "text": "torch.mps.set_per_process_memory_fraction",
    },
    {
        "location": "guides/workers/",
        "title": "Workers",
        "text": "DataLoader workers are processes, not threads.",
    },
    {
        "location": "facts/faq/#sparse",
        "title": "Sparse tensors",
        "text": "Layouts: see the guide.",
        "see": ["guides/layouts/"],
    },
    {"location": "guides/layouts/", "title": "Layouts", "text": "Sparse tensors, also CSR. MPS has some."},
    {
        "location": "project/words/",
        "title": "Workers",
        "text": "DataLoader workers are processes, not threads.",
    },
    {"location": "guides/shapes/", "title": "训练非常规数据", "text": "训练极大的图片。"},
    {"location": "start/install/", "title": "Install on a Mac", "text": "Install on a Mac, also on an M2."},
    {"location": "facts/cards/", "title": "Cards", "text": "The RTX 3070 has 8192 MB."},
    {"location": "facts/gadget/", "title": "Gadget", "text": "Does a Gadget work?"},
    {"location": "operators/", "title": "The operator list", "text": "All."},
    {"location": "facts/slow/", "title": "训练慢", "text": "训练为什么慢。"},
    {
        "location": "guides/kernels/",
        "title": "Half kernels, implemented or not",
        "text": "Half: which kernels are implemented, which are not implemented. Half kernels.",
    },
    {"location": "errors/#half", "title": "'add' not implemented for 'Half'", "text": "Cure. Update."},
    {"location": "errors/#operand", "title": "Unsupported operand 118", "text": "Cure. Load it anew."},
    {"location": "errors/#any", "title": "Unsupported operand", "text": "Cure. Load it."},
    {"location": "errors/#none", "title": "Nothing matches tree (from versions: none)", "text": "Cure."},
    {
        "location": "errors/#old",
        "title": "Nothing matches tree==2.5.1 (from versions: 2.2.2)",
        "text": "Cure: a.",
    },
]


@pytest.fixture
def ask(browser, tmp_path):
    """Return a function that gives the worker's answers to queries, one after the other."""
    worker = tmp_path / "assets/javascripts/workers/search.js"
    shutil.copytree(SCRIPTS / "vendor", tmp_path / "assets/javascripts/vendor")
    worker.parent.mkdir()
    shutil.copy(SCRIPTS / "search-worker.js", worker)
    docs = [{"location": "chinese/", "title": "一", "text": "".join(CHARACTERS[:1000])}, *SECTIONS]
    (tmp_path / "search").mkdir()
    sections = packed(docs) | RANKING
    (tmp_path / "search/sections.json").write_text(json.dumps(sections), encoding="utf-8")
    (tmp_path / "index.html").write_text("<!doctype html>", encoding="utf-8")
    page = browser.new_page()
    with static_server(tmp_path) as port:
        page.goto(f"http://127.0.0.1:{port}/")
        yield lambda *queries: page.evaluate(ASK, queries)
    page.close()


def test_a_query_is_cut_before_anything_reads_it(ask):
    """The pattern that marks what was asked for would have every word. A traceback ends with its error."""
    begun = time.monotonic()
    query = "，".join("".join(CHARACTERS[number:] + CHARACTERS[:number]) for number in (0, 1))
    assert len(query) > 100_000
    whole, both_ends = ask(query, f"{query[:500]} {query[-500:]}")
    assert whole == both_ends != []
    assert time.monotonic() - begun < 30
    assert ask(" " * 3, "丂")[0] == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("memory", "guides/memory/"),
        ("memry", "guides/memory/"),  # misspelt
        ("set_per_process", "guides/memory/#limit"),  # not finished
        ("setPerProcess", "guides/memory/#limit"),
        ("ram", "guides/memory/"),  # meant
        ("DataLoader workers", "guides/workers/"),  # the same words count less below project/
        ("sparse tensors", "guides/layouts/"),  # the short answer leads there
        ("install gadget on mac m2", "facts/gadget/"),  # words that stand everywhere decide little
        ("gadget2025 install", "facts/gadget/"),  # with a release
        ("unfold_backward", "operators/"),  # an operator that no page names
        ("sourdough 3070", "facts/cards/"),  # a number that names a card
        ("训练非常慢", "facts/slow/"),  # how slow is not asked
        ("训练极慢", "facts/slow/"),
    ],
)
def test_the_section_that_answers_is_first(ask, query, expected):
    [items] = ask(query)
    assert items[0][0]["location"] == expected


def test_each_section_is_a_result_of_its_own(ask):
    [items] = ask("memory")
    assert [len(item) for item in items] == [1, 1]
    assert "<span>Memory › </span>The limit" in items[1][0]["title"]


@pytest.mark.parametrize(
    "query", ["sourdough starter", "sourdough 8192", "how do I bake bread with memory of rye and wheat"]
)
def test_where_nothing_fits_nothing_is_shown(ask, query):
    assert ask(query) == [[]]


def test_paths_lines_and_releases_do_not_steer(ask):
    """Of a pasted message: each of these words stands in a section."""
    machine = 'File "/opt/memory/limit/sparse/layouts.py", line 12, in <module>'
    words = "DataLoader worker (pid 4711) is killed by signal: processes"
    [[[first], *_]] = ask(f"{machine}\n{machine}\n{words}")
    assert first["location"] == "guides/workers/"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("'mul_out' not implemented for 'Half'", "errors/#half"),  # another operator
        ("error: Unsupported operand 60", "errors/#operand"),  # another number
    ],
)
def test_a_message_is_found_by_its_order(ask, query, expected):
    [items] = ask(query)
    assert items[0][0]["location"] == expected


def test_releases_of_a_pasted_message_count_in_its_order(ask):
    [[[first], *_]] = ask(f"Nothing matches tree==3.0.4 (from versions: {', '.join(['1.13.0'] * 12)})")
    assert first["location"] == "errors/#old"


@pytest.mark.parametrize("error", ["RuntimeError: ", ""])
def test_of_a_traceback_its_end_counts(ask, error):
    """Its lines of code are words of other sections."""
    place = 'File "~/site-packages/torch/module.py", line 1553, in _call_impl'
    code = "return memory_limit(sparse_tensors, layouts, gadget, workers)" if error else ""
    [[[first], *_]] = ask(f"{place} {code} {place} {code} {error}'mul' not implemented for 'Half'")
    assert first["location"] == "errors/#half"


def test_what_stands_above_a_cut_traceback_counts(ask):
    place = 'File "~/nodes.py", line 1429, in sample'
    cut = f"Traceback (most recent call last): {place} return gadget() {place} return gadget()"
    [[[first], *_]] = ask(f"!!! 'mul' not implemented for 'Half' {cut}")
    assert first["location"] == "errors/#half"
