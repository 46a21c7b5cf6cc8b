"""The search's worker alone, with sections of a few characters: what it answers to what nobody types."""

import itertools
import json
import shutil
import time
from pathlib import Path

import pytest

from tests.static_server import static_server

WORKER = Path(__file__).resolve().parents[2] / "docs/assets/javascripts/search-worker.js"
CHARACTERS = [chr(number) for number in (*range(0x4E00, 0x9FFF), *range(0x20000, 0x2A6DF))]
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


@pytest.fixture
def ask(browser, tmp_path):
    """Return a function that gives the worker's answers to queries, one after the other."""
    worker = tmp_path / "assets/javascripts/workers/search.js"
    worker.parent.mkdir(parents=True)
    shutil.copy(WORKER, worker)
    docs = [
        {"location": f"page-{number}/", "title": one, "text": one + another}
        for number, (one, another) in enumerate(itertools.pairwise(CHARACTERS[:2000]))
    ]
    (tmp_path / "search").mkdir()
    sections = {"docs": docs, "pages": {}, "synonyms": {"一": "丁"}, "machines": "mac"}
    (tmp_path / "search/sections.json").write_text(json.dumps(sections), encoding="utf-8")
    (tmp_path / "index.html").write_text("<!doctype html>", encoding="utf-8")
    page = browser.new_page()
    with static_server(tmp_path) as port:
        page.goto(f"http://127.0.0.1:{port}/")
        yield lambda *queries: page.evaluate(ASK, queries)
    page.close()


def test_a_query_is_cut_before_anything_reads_it(ask):
    """The pattern that marks what was asked for would have every word of it."""
    begun = time.monotonic()
    query = "，".join("".join(CHARACTERS[number:] + CHARACTERS[:number]) for number in (0, 1))
    assert len(query) > 100_000
    whole, beginning = ask(query, query[:1000])
    assert whole == beginning != []
    assert time.monotonic() - begun < 30
    assert ask(" " * 3, "丂")[0] == []
