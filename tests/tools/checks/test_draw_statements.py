"""A sample is the same for the same seed, has every kind in equal parts, and consists of whole statements."""

import pytest

from tools.checks import draw_statements
from tools.checks.draw_statements import draw, main, prose, sentences, statements

FOUND = {
    "few": [(f"f{n}", "x") for n in range(3)],
    "more": [(f"m{n}", "x") for n in range(40)],
    "many": [(f"n{n}", "x") for n in range(900)],
}


def test_sentences():
    text = (
        "No. Up to 2.14.1, `a. b` [fails](x.md#y). Then **it** works (e.g. on M1).\n"
        "- An item of four words. Source: [issue 1](https://x.y/1).\n\n| A | B |\n|---|---|\n| one | 1.5 |\n"
    )
    assert list(sentences(text)) == [
        "No. Up to 2.14.1, `a. b` fails.",
        "Then it works (e.g. on M1).",
        "An item of four words.",
        "A: one; B: 1.5",
    ]


def test_questions_titles_and_sources_are_no_statements():
    text = "# A title { #t }\n\nIs this a real statement? It is one, indeed.\nSource: the file x of 2.15."
    assert list(prose(text)) == ["It is one, indeed."]


def test_kinds_get_equal_parts_and_fill_up():
    drawn = draw(FOUND, 63, seed=26)
    assert {name: len(chosen) for name, chosen in drawn.items()} == {"few": 3, "more": 30, "many": 30}
    assert all(len(set(chosen)) == len(chosen) for chosen in drawn.values())
    assert sum(map(len, draw(FOUND, 5000, seed=26).values())) == 943


def test_the_seed_decides_for_each_kind_alone():
    drawn = draw(FOUND, 63, seed=26)
    assert draw(FOUND, 63, seed=26) == drawn != draw(FOUND, 63, seed=27)
    changed = FOUND | {"many": FOUND["many"][:-1]}
    assert draw(changed, 63, seed=26)["more"] == drawn["more"]


@pytest.mark.slow
def test_statements_of_this_project():
    found = statements()
    assert set(found) >= {
        *("error messages: cause", "error messages: cure", "error messages: range"),
        *("environment variables", "wrong results", "versions", "published speeds", "FAQ answers", "pages"),
    }
    texts = [text for chosen in found.values() for _, text in chosen]
    assert all(text.strip() and "\n" not in text for text in texts)
    assert not any(ord(char) >= 0xF0000 for text in texts for char in text), "masked code"


def test_command_line(capsys, monkeypatch):
    monkeypatch.setattr(draw_statements, "statements", lambda root: FOUND)
    assert main(["--seed", "26", "--number", "9"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(". ")[0] for line in lines[:9]] == list("123456789")
    assert lines[0].startswith("1. f")
    assert lines[-3:] == ["few: 3 of 3", "many: 3 of 900", "more: 3 of 40"]
