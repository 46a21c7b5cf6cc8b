"""Columns that are data put each value under its heading, in both languages."""

import markdown_tables as tables
import pytest


def test_cells():
    columns = [
        tables.Column("Name", "名称", "name", form="`{}`"),
        tables.Column("What", "内容", "what"),
        tables.Column("ms", "毫秒", "seconds", tables.milliseconds, tables.SPREAD),
        tables.Column("From to", "范围", ("low", "high"), tables.written(".1f", 10), tables.RANGE),
    ]
    rows = [
        {
            "name": "a",
            "what": {"en": "one", "zh": "一"},
            "seconds": {"median": 0.0074, "low": 0.007, "high": 1},
            "low": 0.1,
            "high": 0.25,
        },
        {"name": "b", "what": None, "low": 0},
    ]
    assert tables.table_of(columns, rows, "en").splitlines() == [
        "| Name | What | ms | From to |",
        "| --- | ---: | ---: | ---: |",
        "| `a` | one | 7.40 (7.00 to 1,000) | 1.0 to 2.5 |",
        "| `b` | – | – | – |",
    ]
    assert "| `a` | 一 | 7.40（7.00 到 1,000） | 1.0 到 2.5 |" in tables.table_of(columns, rows, "zh")


def test_words_are_aligned_to_the_left():
    assert tables.table(["a", "b"], [], right=False) == "| a | b |\n| --- | --- |\n"


def test_a_row_that_does_not_fit_its_head_is_an_error():
    with pytest.raises(ValueError, match="2 cells under 3 headings"):
        tables.table(["a", "b", "c"], [["1", "2", "3"], ["1", "3"]])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.01234, "0.0123"), (7.4, "7.40"), (300.8, "301"), (15271.4, "15,271")],
)
def test_three_digits(value, text):
    assert tables.figures(value) == text
