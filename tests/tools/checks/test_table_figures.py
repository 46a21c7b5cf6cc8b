"""A figure after a quoted column is one of that column's values; planted wrong ones are found."""

from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest

from docs.hooks.data_tables import render
from tools.checks.table_figures import check, check_page, recorded_tables, values_of

ROOT = Path(__file__).resolve().parents[3]
RECORDED = """\
recipe     AdamW, lr 0.01, 4 steps
epoch   step  noise loss  held-out loss   plans/s
    1     62       7.479          3.974       116
    2    124       1.474          1.314     1,756
written    runs/x.npz
                          drawn     data
closed plans (%)            4.7    100.0
"""
TABLE = "| Batch | `MRR` | `time` |\n| --- | ---: | ---: |\n| 32 | 0.655 (0.641 to 0.66) | 3 min |\n"


def found(text, recorded=RECORDED):
    """Return the defects of a page with one table in Markdown, and how many figures were compared."""
    everywhere = {}
    for table in recorded_tables(recorded):
        everywhere |= values_of(table)
    result = check_page(
        f"# T {{ #t }}\n\n<!-- table: a -->\n\n{text}\n", {"a": TABLE}.__getitem__, everywhere
    )
    return result.defects, result.compared


def test_recorded_tables():
    first, second = map(values_of, recorded_tables(RECORDED))
    assert first["noise loss"] == {Decimal("7.479"), Decimal("1.474")}
    assert first["plans/s"] == {Decimal(116), Decimal(1756)}
    assert second["drawn"] == {Decimal("4.7")}


@pytest.mark.parametrize(
    "text",
    [
        "`noise loss` is what it misses, and 10 would be nothing. Here it falls to 1.474.",
        "`noise loss` falls to 1.47, and `held-out loss` to 1.31.",
        "Of `drawn` and `data`, 4.7% and 100% are closed.",
        "`MRR` is 0.655, at least 0.64.",
        "Up to 1.5 times as fast: see `noise loss`.",  # a figure of another kind comes first
        "`noise loss` is explained in 2.14.1 and [here](x.md#v1.314).",
        "The noise loss, not quoted, falls by 6.0.",
        "`time` is 5.5 times longer.",  # this column has words
    ],
)
def test_right_figures(text):
    assert found(text)[0] == []


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("`noise loss` is what it misses, and 10 would be nothing. Here it falls to 1.314.", "1.314"),
        ("`noise loss` falls to 1.48.", "1.48"),
        ("`MRR` is 65.6%.", "65.6%"),
        ("`held-out loss` ends at 1.474.", "1.474"),
    ],
)
def test_planted_figures(text, figure):
    (defect,), compared = found(text)
    assert f"line 5: {figure} is no value of" in defect
    assert compared == 1


def test_tables_of_other_sections_do_not_count():
    assert found("## Other { #other }\n\n`MRR` is 0.5.") == ([], 0)


def test_the_outputs_of_a_folder_count_on_all_its_pages(plant, tmp_path):
    plant("docs/data/recorded/run.txt", RECORDED)
    plant("docs/en/a/index.md", '# A { #a }\n\n```text\n--8<-- "docs/data/recorded/run.txt"\n```\n')
    plant("docs/en/a/more.md", "# B { #b }\n\n`noise loss` ends at 1.314.\n")
    plant("docs/en/b/other.md", "# C { #c }\n\n`noise loss` ends at 1.314.\n")
    result = check(tmp_path, lambda name: "")
    assert result.defects == ["docs/en/a/more.md: line 3: 1.314 is no value of `noise loss`"]


def test_figures_of_the_pages():
    result = check(ROOT, cache(lambda name: render(name, "en")))
    assert not result.defects, "\n".join(result.defects)
    assert result.compared > 0
