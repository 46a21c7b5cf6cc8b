"""Tables are put where pages name them; an unknown name is told from a defect in a renderer."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from mkdocs.exceptions import PluginError

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="guides/speed.md"))


@pytest.fixture
def hook(import_hook, monkeypatch):
    monkeypatch.setenv("DOCS_LOCALE", "zh")
    return import_hook("data_tables")


def test_a_table_replaces_its_marker_in_the_language_of_the_page(hook, monkeypatch):
    monkeypatch.setitem(hook.TABLES, "glossary", lambda language: f"| {language} |")
    markdown = "Before\n\n<!-- table: glossary -->\n\nafter"
    assert hook.on_page_markdown(markdown, PAGE, None, None) == "Before\n\n| zh |\n\nafter"


@pytest.mark.parametrize(
    "name", ["nothing", "benchmark-nothing", "operators-nothing", "speeds-", "variables-x"]
)
def test_an_unknown_name_is_told_with_its_page(hook, name):
    with pytest.raises(PluginError) as raised:
        hook.on_page_markdown(f"<!-- table: {name} -->", PAGE, None, None)
    assert str(raised.value) == f"guides/speed.md: there is no table named {name!r}"


@pytest.mark.parametrize("name", ["glossary", "memory-sweep"])
def test_a_defect_in_a_renderer_keeps_its_cause_and_names_table_and_page(hook, monkeypatch, name):
    def defective(language):
        return {"fp32": 1.0}["bf16"]

    monkeypatch.setitem(hook.TABLES, "glossary", defective)
    monkeypatch.setitem(hook.memory_tables.TABLES, "memory-sweep", defective)
    with pytest.raises(KeyError, match="bf16") as raised:
        hook.on_page_markdown(f"<!-- table: {name} -->", PAGE, None, None)
    assert raised.traceback[-1].name == "defective"
    assert raised.value.__notes__ == [f"guides/speed.md: the table {name!r} could not be rendered"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_name_on_a_page_is_a_table_and_every_table_is_on_a_page(hook, language):
    """Most groups of environment variables are data without a table of their own."""
    pages = [path.read_text(encoding="utf-8") for path in (DOCS / language).rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"<!-- table: (\S+) -->", page)}
    assert named <= hook.renderers().keys() and len(named) > 30
    unused = hook.renderers().keys() - named
    assert all(name.startswith("variables-") for name in unused), unused
