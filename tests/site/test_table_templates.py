"""A table's specification puts each value under its heading, in both languages; a mistake is one sentence."""

import re

import pytest
import table_templates
import yaml
from jinja2.defaults import DEFAULT_FILTERS
from origins import DATA
from rendering import TableError
from table_language import FUNCTIONS, environment

WORDS = {"some": {"en": "one", "zh": "一"}}
ROWS = """
rows:
  - dict(name="a", what=words.some, seconds=dict(median=0.0074, low=0.007, high=1), low=0.1, high=0.25)
  - dict(name="b", what=none, low=0)
"""
COLUMNS = """
columns:
  - Name / 名称: "`{{ name }}`"
  - What / 内容: what
  - ms / 毫秒: seconds | ms | spread
  - From to / 范围: "[low, high] | times(10) | fixed | range"
"""


def shown(text, language="en", **names):
    return table_templates.rendered(yaml.safe_load(text), WORDS | names, language).splitlines()


def test_cells():
    assert shown(ROWS + COLUMNS) == [
        "| Name | What | ms | From to |",
        "| --- | ---: | ---: | ---: |",
        "| `a` | one | 7.40 (7.00 to 1,000) | 1.0 to 2.5 |",
        "| `b` | – | – | – |",
    ]
    assert shown(ROWS + COLUMNS, "zh")[2] == "| `a` | 一 | 7.40（7.00 到 1,000） | 1.0 到 2.5 |"


def test_columns_are_repeated_and_the_table_turned():
    text = """
    data: "[3, 5]"
    set: {last: data | last}
    rows: ["[[1, 2]]", "[[8, 9]]"]
    turned: true
    left: true
    columns:
      - Of {{ last }} / {{ last }} 的: row | sum
      - for seed in data:
          - Seed {{ seed }} / 种子 {{ seed }}: row[index]
    """
    assert shown(text, "zh") == [
        "| 5 的 | 3 | 17 |",
        "| --- | --- | --- |",
        "| 种子 3 | 1 | 8 |",
        "| 种子 5 | 2 | 9 |",
    ]


def test_what_stands_around_a_table():
    text = """
    each: "[1, 2]"
    class: wide
    rows: "[data]"
    columns: [A / 甲: row]
    above: ["# {{ data }}"]
    below: [{en: B., zh: 乙。}, "'' if data == 1 else 'C.'"]
    """
    one = ['<div class="wide" markdown>', "", "# 1", "", "| A |", "| --- |", "| 1 |", "", "B.", "", "</div>"]
    assert shown(text) == [*one, "", *(line.replace("1", "2").replace("B.", "B. C.") for line in one)]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("seconds | ms", "second | ms", "column 'ms / 毫秒': `second | ms | spread`: 'second' is undefined"),
        ("What / 内容: what", "What: what", "the heading `What` is not in both languages"),
        ("| times(10)", "| by(10)", "No filter named 'by'"),
        (": what\n", ": seconds\n", "is no text"),
        (": what\n", ": {en: x}\n", "a text needs en and zh"),
        ("columns:", "colums: []\ncolumns:", "colums is no key of a table"),
        (ROWS, "", "a table has rows and columns"),
        (ROWS, "rows: '[]'\n", "`[]` gives no row"),
        (ROWS, "each: '[]'\nrows: '[1]'\n", "`[]` has no entry"),
        ("what=words.some", "what=words.other", "has no attribute 'other'"),
    ],
)
def test_a_mistake_is_named(old, new, reason):
    text = ROWS + COLUMNS
    assert old in text
    with pytest.raises(TableError, match=re.escape(reason)):
        shown(text.replace(old, new))


def test_the_file_and_the_table_are_named(tmp_path, monkeypatch):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/a.yaml").write_text("b: {rows: nothing, columns: []}", encoding="utf-8")
    monkeypatch.setattr(table_templates, "files", lambda: table_templates.Files(tmp_path))
    monkeypatch.setattr(table_templates, "FOLDER", tmp_path / "tables")
    with pytest.raises(TableError, match=r"^docs/data/tables/a\.yaml: b: `nothing`: 'nothing' is undefined$"):
        table_templates.tables()["b"]("en")
    (tmp_path / "tables/b.yaml").write_text("b: {}", encoding="utf-8")
    with pytest.raises(TableError, match=r"^docs/data/tables/b\.yaml: b: another file has this table, too$"):
        table_templates.tables()
    (tmp_path / "tables/b.yaml").rename(tmp_path / "tables/c.yaml").write_text("d: [", encoding="utf-8")
    with pytest.raises(TableError, match=r"^docs/data/tables/c\.yaml: while parsing"):
        table_templates.tables()
    (tmp_path / "tables/a.yaml").write_text("", encoding="utf-8")
    with pytest.raises(TableError, match=r"^docs/data/tables/a\.yaml: a table needs a name$"):
        table_templates.tables()


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("0.01234 | digits", "0.0123"),
        ("15271.4 | digits", "15,271"),
        ("47 | duration", "47 s"),
        ("800 | duration", "13 min"),
        ("[0.96, 0.97, 0.98] | with_deviation('%')", "97.00% ± 1.00"),  # of a sample; of all it would be 0.82
        ("[1, 2, 6] | at('mean')", "3.0"),
        ("[4.39, 5.25] | lower_bold(2)", "**4.39** / 5.25"),
        ("[6.37, 6.2] | lower_bold(2)", "6.37 / 6.20"),  # within 3 %
        ("[[1, 2], [3, 5]] | map('around') | map(attribute='high') | join", "25"),
        ("links([['pull', 5, 'a/b'], ['issue', 6]]) | join", "[a/b#5](https://github.com/a/b/pull/5)"),
        (
            "links([['text', 'https://github.com/a/b/blob/x.md'], ['text', 'https://c.org/d/']])",
            "['[a/b](https",
        ),
        ("none | ms | unit('s')", "None"),
    ],
)
def test_filters_and_functions(expression, text):
    assert str(environment().compile_expression(expression)(language="en")).startswith(text)


def test_every_filter_and_function_is_used():
    used = "".join(path.read_text(encoding="utf-8") for path in table_templates.FOLDER.glob("*.yaml"))
    used += "".join(path.read_text(encoding="utf-8") for path in (DATA / "figures").glob("*.yaml"))
    filters = environment().filters.keys() - DEFAULT_FILTERS.keys()
    assert [name for name in filters if not re.search(rf"\| {name}\b", used)] == []
    assert [name for name in FUNCTIONS if not re.search(rf"\b{name}\(", used)] == []
