"""Pages of questions: the same ones in both languages, each with a short answer and a page behind it."""

import re
import unicodedata
from pathlib import Path

import pytest

from tools.checks.readings import QUESTIONS

ROOT = Path(__file__).resolve().parents[2]
ENTRY = re.compile(
    r"^### (?P<question>[^\n]+) \{ #(?P<ident>[a-z0-9-]+) \}\n\n(?P<answer>.+?)\n*(?=^##|\Z)", re.M | re.S
)
LINK = re.compile(r"\]\(([^)]+)\)")
LANGUAGES = ("en", "zh")
LONGEST_SENTENCE = 160  # widths of a Latin letter; a Chinese one is two wide
LONGEST_ANSWER = 600


def texts(language):
    return [(ROOT / "docs" / language / page).read_text(encoding="utf-8") for page in QUESTIONS]


def entries(language):
    found = [entry for text in texts(language) for entry in ENTRY.finditer(text)]
    return {entry["ident"]: (entry["question"], entry["answer"]) for entry in found}


ENTRIES = {language: entries(language) for language in LANGUAGES}


def shown(text):
    """Return what a reader sees of a text: without the addresses of links and the marks of code."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text).replace("`", "")


def width(text):
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def first_sentence(answer):
    return re.split(r"(?<=[.?!])\s|(?<=。)", shown(answer))[0]


def test_sixty_questions_are_equal_in_both_languages():
    assert len(ENTRIES["en"]) >= 60
    assert list(ENTRIES["en"]) == list(ENTRIES["zh"])
    for language in LANGUAGES:
        assert sum(text.count("\n### ") for text in texts(language)) == len(ENTRIES[language]), (
            "an entry that the pattern does not see"
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_differ(language):
    questions = [question for question, _ in ENTRIES[language].values()]
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ident", ENTRIES["en"])
def test_answer_is_short_and_links_a_page(language, ident):
    _, answer = ENTRIES[language][ident]
    assert width(first_sentence(answer)) <= LONGEST_SENTENCE
    assert width(shown(answer)) <= LONGEST_ANSWER
    assert any(not link.startswith("https:") for link in LINK.findall(answer))


@pytest.mark.parametrize("ident", ENTRIES["en"])
def test_both_languages_name_the_same_sources(ident):
    english, chinese = (ENTRIES[language][ident][1] for language in LANGUAGES)
    assert sorted(LINK.findall(english)) == sorted(LINK.findall(chinese))
    assert ("Source:" in english) == ("来源：" in chinese)


def test_the_pattern_sees_what_a_page_leaves_out():
    assert first_sentence("Yes, [it does](a.md#b). More.") == "Yes, it does."
    assert first_sentence("能，[可以](a.md)。还有。") == "能，可以。"
