"""Output shown on pages is what the commands print today."""

from pathlib import Path

import pytest

from tools.checks.compare_output import compare, compared_part
from tools.record_output import machine_traits, repeated, run
from tools.recordings import FOLDER, read_machines, read_recordings

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = read_recordings(ROOT)
# Recipes need no process of their own: tests/snippets/test_recipes.py compares what they print.
COMMANDS = [name for name in ENTRIES if not name.startswith("recipe_")]


def recorded(name):
    return (ROOT / FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if ENTRIES[name].get("long") else []) for name in COMMANDS],
)
def test_command_still_prints_this(name, default_training):
    missing = set(ENTRIES[name].get("needs", [])) - machine_traits()
    if missing:
        pytest.skip(
            f"the recording {name} was made on another kind of machine: needs {', '.join(sorted(missing))}"
        )
    entry = ENTRIES[name]
    printed = run(repeated(entry), ROOT, trained=default_training)
    texts = (compared_part(entry, text) for text in (recorded(name), printed))
    lines, differences = compare(*texts, entry["compare"])
    assert not differences, "\n" + "\n".join(differences)
    assert lines > 0
    print(f"compared {lines} lines of {name}")


def test_files_belong_together():
    assert ENTRIES
    assert {path.stem for path in (ROOT / FOLDER).glob("*.txt")} == ENTRIES.keys()
    kept = {stored for entry in ENTRIES.values() for stored in entry.get("keep", {}).values()}
    others = {path.name for path in (ROOT / FOLDER).iterdir() if path.suffix not in (".txt", ".yaml")}
    assert others == kept
    assert {entry["machine"] for entry in ENTRIES.values()} == read_machines(ROOT).keys()
