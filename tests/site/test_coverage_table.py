"""The list of what the sources name is complete, and every place that it names exists in both languages."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data" / "coverage.yaml"
ITEMS = {"0": 36, "1": 32}  # how many items each source names
SOURCES = yaml.safe_load(DATA.read_text(encoding="utf-8"))["sources"]
ENTRIES = [item for source in SOURCES for item in source["items"]]
HEADING = re.compile(r"^#+ .*\{ #([a-z0-9-]+) \}$", re.MULTILINE)


@pytest.fixture(scope="module")
def table(import_hook):
    return import_hook("coverage_table")


def anchors(page):
    return set(HEADING.findall(page.read_text(encoding="utf-8")))


def test_ids_are_complete_and_in_order():
    assert {source["id"]: len(source["items"]) for source in SOURCES} == ITEMS
    for source in SOURCES:
        expected = [f"{source['id']}-{number:02d}" for number in range(1, ITEMS[source["id"]] + 1)]
        assert [item["id"] for item in source["items"]] == expected


@pytest.mark.parametrize("item", ENTRIES, ids=lambda item: item["id"])
def test_every_named_place_exists(item):
    for place in item["where"]:
        if "code" in place:
            assert (ROOT / place["code"]).is_file()
            continue
        path, _, anchor = place["page"].partition("#")
        for language in ("en", "zh"):
            page = ROOT / "docs" / language / path
            assert page.is_file()
            assert anchor in anchors(page), f"{page}: no heading {anchor!r}"


def test_every_text_is_there_in_both_languages_and_nothing_else():
    # An unquoted comma in YAML's short form would cut a text and leave its rest as a key of its own.
    for entry in [*SOURCES, *ENTRIES]:
        texts = [entry[key] for key in ("name", "title", "about", "note") if key in entry]
        texts += [place["title"] for place in entry.get("where", []) if "page" in place]
        assert texts
        assert all(text.keys() == {"en", "zh"} for text in texts), entry["id"]


def test_only_open_items_may_lead_nowhere(table):
    assert {item["treatment"] for item in ENTRIES} <= table.TREATMENTS.keys()
    assert all(item["where"] for item in ENTRIES if item["treatment"] != "open")


def test_what_is_built_names_a_page():
    for item in ENTRIES:
        if item["treatment"] != "open":
            assert any("page" in place for place in item["where"]), item["id"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_shows_every_item_once(table, language):
    rendered = table.render(language)
    for item in ENTRIES:
        assert rendered.count(f">{item['id']}</span> | {item['name'][language]} |") == 1
    assert all(f"{{ #source-{source['id']} }}" in rendered for source in SOURCES)


def test_the_programs_of_all_guides_are_mapped(table):
    guides, scripts = table.load_scripts()
    counts = {guide: [script["guide"] for script in scripts].count(guide) for guide in guides}
    assert counts == {"0": 6, "1": 3, "2": 2, "3": 8, "4": 5}
    for script in scripts:
        assert all((ROOT / path).is_file() for path in script["here"]), script["name"]
        assert bool(script["here"]) == (script["treatment"] in ("built", "corrected")), script["name"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_of_programs(table, language):
    _, scripts = table.load_scripts()
    rendered = table.render_scripts(language)
    assert len(rendered.splitlines()) == len(scripts) + 2
    assert "| `monitor_training.py` | " in rendered
    assert "| `examples/monitor.py` |" in rendered


def test_an_unknown_treatment_is_an_error(table, monkeypatch):
    wrong = [SOURCES[0] | {"items": [ENTRIES[0] | {"treatment": "perhaps"}]}]
    monkeypatch.setattr(table, "load", lambda: wrong)
    with pytest.raises(KeyError):
        table.render("en")
