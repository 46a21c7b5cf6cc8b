"""The search finds a package, a model or an operator among words that stand everywhere."""

from pathlib import Path

import pytest

from tests.browser.test_search_worker import ASK, WORKER
from tools.measuring.search import FOLDERS
from tools.read_yaml import read_yaml

PAGES = {
    "M#": "facts/models-and-libraries/#",
    "I#": "facts/images-and-sound/#",
    "C#": "guides/cuda-only-packages/#",
}
QUERIES = read_yaml(Path(__file__).with_name("names_in_search.yaml"))
LOOKED_AT = 2  # results
FOUND = 0.9


def answers(location: str, beginnings: str) -> bool:
    """Return whether an address is one of those that a row names."""
    for short, page in PAGES.items():
        beginnings = beginnings.replace(short, page)
    return location.startswith(tuple(beginnings.split()))


@pytest.mark.parametrize("locale", ["en", "zh"])
def test_a_name_decides_among_common_words(browser, site_url, built_site, locale):
    [worker] = (built_site / FOLDERS[locale] / "assets/javascripts/workers").glob("search.*.js")
    queries = [row[("en", "zh").index(locale)] for row in QUERIES]
    page = browser.new_page()
    page.goto(site_url)
    found = page.evaluate(ASK.replace(WORKER, f"{site_url}{worker.relative_to(built_site)}"), queries)
    page.close()
    missed = [
        query
        for query, items, row in zip(queries, found, QUERIES, strict=True)
        if not any(answers(item["location"], row[2]) for [item] in items[:LOOKED_AT])
    ]
    assert len(missed) <= (1 - FOUND) * len(queries), missed


def test_this_test_knows_a_miss():
    assert answers("facts/images-and-sound/#yolo", "I#yolo")
    assert not answers("facts/faq/#install", "I#yolo")
