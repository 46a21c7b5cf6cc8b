"""The table of wrong results: regular, equal in both languages, every row with its source."""

import re

import pytest

from docs.hooks import wrong_results

CASES = wrong_results.load()
ORDER = {"open": 0, "unknown": 1}


def test_every_case_is_complete():
    assert len(CASES) >= 15
    for case in CASES:
        assert case.keys() == {"what", "versions", "state", "sources"}
        state = case["state"]
        assert state["is"] in wrong_results.STATES and ("in" in state) == (state["is"] == "fixed")
        for texts in (case["what"], case["versions"], state.get("note", {"en": "x", "zh": "x"})):
            assert texts.keys() == {"en", "zh"} and all(texts.values())
        assert case["sources"] and all(kind in ("issue", "pull") for kind, _ in case["sources"])


def test_open_cases_come_first():
    ranks = [ORDER.get(case["state"]["is"], 2) for case in CASES]
    assert ranks == sorted(ranks)


def test_both_languages_link_the_same_sources_and_name_the_same_code():
    english, chinese = wrong_results.render("en"), wrong_results.render("zh")
    for pattern in (r"\]\((https://[^)]+)\)", r"`([^`]+)`", r"\b\d+\.\d+(?:\.\d+)?\b"):
        found = sorted(re.findall(pattern, english))
        assert found and found == sorted(re.findall(pattern, chinese)), pattern
    for table in (english, chinese):
        lines = table.splitlines()
        assert len(lines) == len(CASES) + 2
        assert {line.count("|") for line in lines} == {5}
        assert "None" not in table and "{" not in table


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"is": "open"}, "**open**"),
        ({"is": "fixed", "in": "2.14", "note": {"en": "not all"}}, "fixed in 2.14; not all"),
    ],
)
def test_states_in_words(state, words):
    assert wrong_results._state(state, "en") == words
    assert wrong_results._source("pull", 7) == "[#7](https://github.com/pytorch/pytorch/pull/7)"
