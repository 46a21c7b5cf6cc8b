"""Tables are put where pages name them, and every one says the same in both languages."""

import re
from pathlib import Path
from types import SimpleNamespace

import data_tables
import pytest
from mkdocs.exceptions import PluginError

from tools.checks.written_numbers import compare_numbers

pytestmark = pytest.mark.unmeasured

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="guides/speed.md"))
CODE_OR_LINK = re.compile(
    r"(?<!`)(?P<mark>`+)(?!`)[^\n]+?(?<!`)(?P=mark)(?!`)|<code>.*?</code>|\]\(https?://[^)]+\)|href=\"[^\"]+\""
)
PRESET_PRICE = re.compile(r'name="price"[^>]*>')  # in euros in English; in Chinese the reader fills it in


def put_in(markdown):
    return data_tables.on_page_markdown(markdown, PAGE, None, None)


@pytest.fixture(autouse=True)
def on_a_chinese_page(monkeypatch):
    monkeypatch.setenv("DOCS_LOCALE", "zh")


def test_table_replaces_its_marker_in_page_language(monkeypatch):
    monkeypatch.setitem(data_tables.error_messages.TABLES, "error-index", lambda language: f"| {language} |")
    assert put_in("Before\n\n<!-- table: error-index -->\n\nafter") == "Before\n\n| zh |\n\nafter"


def test_a_table_in_a_fold_is_indented(monkeypatch):
    monkeypatch.setitem(data_tables.error_messages.TABLES, "error-index", lambda language: "| a |\n\nbelow")
    folded = put_in('??? note "Title"\n\n    <!-- table: error-index -->\n')
    assert folded == '??? note "Title"\n\n    | a |\n\n    below\n'


@pytest.mark.parametrize("name", ["nothing", "operators-nothing", "speeds-", "variables-x"])
def test_an_unknown_name_is_told_with_its_page(name):
    with pytest.raises(PluginError) as raised:
        put_in(f"<!-- table: {name} -->")
    assert str(raised.value) == f"guides/speed.md: there is no table named {name!r}"


def test_failing_renderer_names_table_and_page(monkeypatch):
    def defective(language):
        return {"fp32": 1.0}["bf16"]

    monkeypatch.setitem(data_tables.error_messages.TABLES, "error-index", defective)
    with pytest.raises(KeyError, match="bf16") as raised:
        put_in("<!-- table: error-index -->")
    assert raised.traceback[-1].name == "defective"
    assert raised.value.__notes__ == ["guides/speed.md: the table 'error-index' could not be rendered"]


def test_a_wrong_specification_is_one_sentence(monkeypatch):
    tables = {"glossary": {"rows": "glossary", "columns": [{"A / 甲": "ene"}]}}
    monkeypatch.setitem(data_tables.table_templates.files()["tables"].known, "glossary", tables)
    with pytest.raises(PluginError) as raised:
        put_in("<!-- table: glossary -->")
    assert str(raised.value) == (
        "guides/speed.md: docs/data/tables/glossary.yaml: glossary: column 'A / 甲': "
        "`ene`: 'ene' is undefined"
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_tables_on_pages_are_those_that_exist(language):
    pages = [path.read_text(encoding="utf-8") for path in (DOCS / language).rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"<!-- table: (\S+) -->", page)}
    assert named == data_tables.renderers().keys() and len(named) > 30


@pytest.mark.parametrize("name", sorted(data_tables.renderers()))
def test_languages_have_equal_figures_code_and_links(name):
    english, chinese = (data_tables.render(name, language) for language in ("en", "zh"))
    numbers = [PRESET_PRICE.sub("", text) for text in (english, chinese)]
    assert compare_numbers(*numbers, exact=True)[1] == []
    code_and_links = [
        sorted(found[0] for found in CODE_OR_LINK.finditer(text)) for text in (english, chinese)
    ]
    assert code_and_links[0] == code_and_links[1]
    assert english != chinese
    shapes = [[line.count("|") for line in text.splitlines()] for text in (english, chinese)]
    assert shapes[0] == shapes[1]
    for table in english.split("\n\n"):  # each row has a cell under each heading
        assert len({line.count("|") for line in table.splitlines() if line.startswith("|")}) <= 1
    for text in (english, chinese):
        if name.startswith(("error-", "claims", "programs")):  # some of them speak of Python's None
            text = re.sub(r"<a .*?</a>", "", CODE_OR_LINK.sub("", text))
        assert not re.search(r"\bNone\b|\{\w*\} ", re.sub('data-found="[^"]+"', "", text))
