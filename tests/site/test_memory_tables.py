"""The tables about memory and environment variables: equal in both languages, and known cells."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["memory-optimizers", "memory-batches", "memory-sweep", "variables-memory"]


@pytest.fixture(scope="module")
def render(import_hook):
    environment_variables, memory_tables = map(import_hook, ("environment_variables", "memory_tables"))

    def table(name, language):
        if name.startswith("variables-"):
            return environment_variables.render(name, language)
        return memory_tables.TABLES[name](language)

    return table


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_shape_and_figures(render, name, assert_same_shape_and_figures):
    assert_same_shape_and_figures(*(render(name, language) for language in ("en", "zh")))


def test_cells(render):
    assert "| SGD with momentum | 44.7 MB | 44.7 MB | 44.7 MB | 134.1 MB |" in render(
        "memory-optimizers", "en"
    )
    assert "| 256 | 1,203.3 MB | 1,382.2 MB |" in render("memory-batches", "zh")
    assert "| 2048 | 88.5 | 23,143 | 15,555 MB | 10,072 MB |" in render("memory-sweep", "en")
    assert "| `PYTORCH_MPS_LOW_WATERMARK_RATIO` | 1.4 |" in render("variables-memory", "en")


def test_every_variable_is_complete_and_in_one_group(render):
    import yaml

    entries = yaml.safe_load((ROOT / "docs/data/environment_variables.yaml").read_text(encoding="utf-8"))
    keys = {"name", "group", "default", "effect", "read", "since", "source"}
    assert all(entry.keys() == keys and entry["source"] for entry in entries)
    assert len({entry["name"] for entry in entries}) == len(entries) >= 17
    shown = [render(f"variables-{group}", "en") for group in {entry["group"] for entry in entries}]
    assert sum(table.count("\n") - 2 for table in shown) == len(entries)
    for language in ("en", "zh"):
        for group in {entry["group"] for entry in entries}:
            table = render(f"variables-{group}", language)
            assert "None" not in table and "{" not in table


def test_both_languages_name_the_same_code(render):
    for group in ("memory", "fallback", "kernels", "profiling", "compile", "cpu", "lightning"):
        english, chinese = (re.findall(r"`([^`]+)`", render(f"variables-{group}", x)) for x in ("en", "zh"))
        assert english and sorted(english) == sorted(chinese)


def test_defaults_are_those_that_the_code_assumes(render):
    from snippets.watermarks import DEFAULTS

    for name, value in DEFAULTS.items():
        assert f"| `{name}` | {value} |" in render("variables-memory", "zh")


def test_an_unknown_table_is_an_error(render):
    with pytest.raises(KeyError):
        render("variables-nothing", "en")
