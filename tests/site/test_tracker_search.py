"""The record of the search of the trackers: every thread met has a place, and the place cites it."""

import re
from pathlib import Path

import error_messages
import pytest
from origins import DATA, load
from source_links import REPOSITORY, TRACKER

from tools.checks.readings import QUESTIONS

ROOT = Path(__file__).resolve().parents[2]
SEARCH = load("tracker_search", DATA)
THREADS = SEARCH["threads"]
QUESTION = re.compile(r"^### [^\n]+ \{ #(?P<ident>[a-z0-9-]+) \}\n(?P<answer>.+?)(?=^##|\Z)", re.M | re.S)
LANGUAGES = ("en", "zh")


def thread_of(source):
    """Return a source as the kind of thread, its number and its repository."""
    kind, number, *elsewhere = source
    return kind, number, elsewhere[0] if elsewhere else REPOSITORY


def answers(language):
    texts = [(ROOT / "docs" / language / page).read_text(encoding="utf-8") for page in QUESTIONS]
    return {found["ident"]: found["answer"] for text in texts for found in QUESTION.finditer(text)}


ROWS = {thread_of(source) for case in load("wrong_results", DATA)["cases"] for source in case["sources"]}
MESSAGES = {
    message["id"]: {thread_of(source) for source in message["sources"] if source[0] != "text"}
    for topic in error_messages.topics().values()
    for message in topic["messages"]
}
ANSWERS = [answers(language) for language in LANGUAGES]


def test_at_least_sixty_different_queries():
    queries = [entry["query"] for entry in SEARCH["queries"]]
    assert len(queries) == len(set(queries)) >= 60


def test_every_thread_that_was_met_has_one_place():
    met = {thread_of(source) for entry in SEARCH["queries"] for source in entry["met"]}
    placed = [thread_of(entry["thread"]) for entry in THREADS]
    assert len(placed) == len(set(placed)) and set(placed) == met


@pytest.mark.parametrize("entry", THREADS, ids=lambda entry: str(entry["thread"][1]))
def test_the_place_of_a_thread_cites_it(entry):
    thread = thread_of(entry["thread"])
    if "left_out" in entry:
        assert entry.keys() == {"thread", "left_out"} and entry["left_out"] in SEARCH["reasons"]
    elif entry["place"] == "row":
        assert thread in ROWS
    elif entry["place"] == "message":
        assert thread in MESSAGES[entry["id"]]
    else:
        assert entry["place"] == "question"
        kind, number, repository = thread
        address = f"{TRACKER}{repository}/{'pull' if kind == 'pull' else 'issues'}/{number})"
        assert all(address in texts[entry["id"]] for texts in ANSWERS)


def test_every_reason_is_used():
    assert {entry["left_out"] for entry in THREADS if "left_out" in entry} == set(SEARCH["reasons"])
