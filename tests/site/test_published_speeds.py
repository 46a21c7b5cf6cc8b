"""The tables of published speeds: complete, equal in both languages, every figure with its source."""

import re

import pytest

from docs.hooks import published_speeds

NAMES = [
    "speeds-mlx-microbenchmarks",
    "speeds-mlx-trainings",
    "speeds-trainings",
    "speeds-batch-sizes",
    "speeds-bert",
    "speeds-single",
]


def test_the_tables():
    assert list(published_speeds.tables()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_table_is_regular_and_names_its_sources(name):
    english, chinese = (published_speeds.render(name, language) for language in ("en", "zh"))
    links = re.findall(r"\]\((https://[^)]+)\)", english)
    assert links and links == re.findall(r"\]\((https://[^)]+)\)", chinese)
    for text in (english, chinese):
        table = [line for line in text.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in table}) == 1 and len(table) > 3
        assert "None" not in text and "{" not in text


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_state_the_same_figures(name):
    def figures(language):
        table, _note = published_speeds.render(name, language).split("\n\n")
        found = sorted(re.findall(r"\d+(?:[.,]\d+)*", table))
        return [f for f in found if f not in ("125.8", "1.258")] if name == "speeds-single" else found

    english, chinese = figures("en"), figures("zh")
    months = {"6", "8", "9", "1"}  # "June" and 6 月
    assert [f for f in english if f not in months] == [f for f in chinese if f not in months]
    assert len(english) > 10


def test_the_clearly_faster_time_of_a_pair_is_bold():
    assert published_speeds._cell([4.39, 5.25], "en", 2) == "**4.39** / 5.25"
    assert published_speeds._cell([2.52, 0.67], "en", 2) == "2.52 / **0.67**"
    assert published_speeds._cell([6.37, 6.2], "en", 2) == "6.37 / 6.20"  # within 3 %


def test_figures_as_published():
    bert = published_speeds.render("speeds-bert", "en")
    assert "| 64 × 128 | 512 | 177 | 49 | 156 | 73 | 41 | 120 |" in bert
    assert "`4559602` of 2023-12-20" in bert
    trainings = published_speeds.render("speeds-mlx-trainings", "zh")
    assert "**426.0** / 912.5" in trainings


def test_an_unknown_table_is_an_error():
    with pytest.raises(KeyError):
        published_speeds.render("speeds-of-light", "en")
