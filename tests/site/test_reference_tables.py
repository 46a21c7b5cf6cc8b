"""Tables that people wrote: complete, every entry with its source, and every place that they name exists."""

import re
from pathlib import Path

import pytest
from data_tables import render, renderers
from origins import DATA, load

from snippets.watermarks import DEFAULTS
from tools.checks.terms import load_glossary
from tools.expressions import column, ratios

ROOT = Path(__file__).resolve().parents[2]
COVERAGE = load("coverage", DATA)
ITEMS = [item for source in COVERAGE["sources"] for item in source["items"]]
CASES = load("wrong_results", DATA)["cases"]
READ = load("wrong_results", DATA)["read"]


# ---- What the guides name ----


def test_items_are_numbered_by_source_without_gaps():
    for source in COVERAGE["sources"]:
        for number, item in enumerate(source["items"], 1):
            assert item["id"] == f"{source['id']}-{number:02d}"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["id"])
def test_every_named_place_exists(item):
    """Pages and headings are links of the table, which a build follows."""
    named = [place for place in item["where"] if "page" in place]
    assert named or item["treatment"] == "open", "what is built names a page"
    assert all((ROOT / place["code"]).is_file() for place in item["where"] if "code" in place)


def test_every_text_has_exactly_both_languages():
    # An unquoted comma in YAML's short form would cut a text and leave its rest as a key of its own.
    for entry in [*COVERAGE["sources"], *ITEMS]:
        texts = [entry[key] for key in ("name", "title", "about", "note") if key in entry]
        texts += [place["title"] for place in entry.get("where", []) if "page" in place]
        assert texts and all(text.keys() == {"en", "zh"} for text in texts), entry["id"]


def test_the_programs_of_all_guides_are_mapped():
    scripts = COVERAGE["scripts"]
    assert {script["guide"] for script in scripts} == COVERAGE["guides"].keys()
    for script in scripts:
        assert all((ROOT / path).is_file() for path in script["here"]), script["name"]
        assert bool(script["here"]) == (script["treatment"] in ("built", "corrected")), script["name"]
    rendered = render("coverage-scripts", "zh")
    assert "| `monitor_training.py` | " in rendered and "| `examples/monitor.py` |" in rendered


# ---- Wrong results ----


def test_every_case_is_complete_and_open_cases_come_first():
    assert len(CASES) >= 30
    assert {case["topic"] for case in CASES} == load("wrong_results", DATA)["topics"].keys()
    for case in CASES:
        assert case.keys() == {"topic", "what", "versions", "state", "newest", "sources"} and case["sources"]
        # What is read before it was written was not read.
        assert case["newest"] <= READ and {kind for kind, *_ in case["sources"]} <= {
            "issue",
            "pull",
        }
        state = case["state"]
        assert state["is"] in ("open", "fixed", "closed") and ("in" in state) == (state["is"] == "fixed")
        for texts in (case["what"], case["versions"], state.get("note", {"en": "x", "zh": "x"})):
            assert texts.keys() == {"en", "zh"} and all(texts.values())
    states = [case["state"]["is"] == "open" for case in CASES]
    assert states == sorted(states, reverse=True)


# ---- Environment variables and terms ----


def test_every_variable_is_complete_and_in_one_table():
    entries = load("environment_variables", DATA)
    keys = {"name", "group", "default", "effect", "read", "source"}  # and `since: null`: not of PyTorch
    assert all(entry.keys() - {"since"} == keys and entry["source"] for entry in entries)
    assert all(entry.get("since") is None for entry in entries)
    tables = "".join(render(name, "en") for name in renderers() if name.startswith("variables-"))
    shown = re.findall(r"^\| `(\w+)` \|", tables, re.MULTILINE)
    assert sorted(shown) == sorted({entry["name"] for entry in entries}) and len(shown) >= 17


def test_defaults_are_those_that_the_code_assumes():
    shown = render("variables-memory", "zh")
    assert all(f"| `{name}` | {value} |" in shown for name, value in DEFAULTS.items())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_glossary_has_every_term(language):
    rows = [row.strip("| ").split(" | ") for row in render("glossary", language).splitlines()]
    assert len(rows) == 2 + len(load_glossary())
    decay = next(row for row in rows if "weight decay" in row[0])
    assert "权重衰减" in decay[1] and "体重衰减" in decay[3]
    assert '<span lang="zh">' in decay[1] if language == "en" else '<span lang="en">' in decay[0]


# ---- Speeds that others published ----


def test_every_table_of_speeds_names_its_sources():
    for name in load("published_speeds", DATA):
        assert "[" in render(name, "en").rpartition("Source: ")[2], name


def test_linear_layers_are_equal_from_m3_on():
    pairs = column(load("published_speeds", DATA)["speeds-mlx-microbenchmarks"], "Linear")
    newer = [name for name in pairs if re.search("M[34]", name)]
    assert len(newer) == 6 and all(0.91 < pairs[name][1] / pairs[name][0] < 1.09 for name in newer)
    assert all(ratio > 1.1 for ratio in ratios({name: pairs[name] for name in pairs.keys() - set(newer)}))
