"""The pages of the floor-plan system: typed tables are the program's, words fit what was measured."""

import re
from pathlib import Path
from textwrap import dedent

import numpy
import pytest
from data_tables import render

from examples.floorplan_diffusion.options import EDGE_RECIPES, NODE_RECIPES
from examples.floorplan_diffusion.plans import KINDS
from examples.floorplan_diffusion.published_files import ARRAYS, OTHERS, SEVEN
from tests.site.page_parts import below, rows
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/data/results"
FOLDERS = NODE_RECIPES["folder"], EDGE_RECIPES["folder"]
TRAINED = "examples/floorplan_diffusion/trained.py"
OUTLINES = "examples/floorplan_diffusion/named_outlines.py"
GENERATED = NODE_RECIPES["generated"], EDGE_RECIPES["generated"]


def read(name):
    return read_yaml(RESULTS / f"floorplan_{name}.yaml")


QUALITY = {entry["name"]: entry for entry in read("quality")}


PAGES = ("index", "how-it-works", "results", "source-guide", "data")


@pytest.fixture(scope="module", params=["en", "zh"])
def pages(request):
    folder = ROOT / f"docs/{request.param}/examples/floorplan-diffusion"
    return {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}


def test_kinds_are_made_from_the_columns_of_the_table(pages):
    found = rows(below(pages["source-guide"], "formats"))
    named = {
        row[0]: tuple(map(int, re.split("[,、] ?", row[1])))
        for row in found
        if re.fullmatch(r"[\d,、 ]+", row[1])
    }
    for kind, columns in zip(KINDS, SEVEN, strict=True):
        assert [value for name, value in named.items() if kind in name] == [columns]


def test_every_published_key_is_in_the_table(pages):
    named = {
        key for row in rows(below(pages["source-guide"], "formats")) for key in re.findall(r"`(\w+)`", row[0])
    }
    assert named == {*ARRAYS, *OTHERS}
    assert len(named) == 16


def test_settings_are_those_of_the_programs(pages):
    """First those of generated plans, then those of folders; each of the corners, then of the walls."""
    note = below(pages["index"], "settings").partition("\n??? note ")[2].partition("\n")[2]
    settings = {name: " ".join(values) for name, *values in rows(dedent(note))}
    recipes = *GENERATED, *FOLDERS
    corners = GENERATED[0], FOLDERS[0]
    for option in ("epochs", "batch-size"):
        numbers = list(map(int, re.findall(r"\d+", settings[f"`--{option}`"])))
        assert numbers == [recipe[option.replace("-", "_")] for recipe in recipes], option
    assert list(map(float, settings["`--lr`"].split())) == [recipe["lr"] for recipe in recipes]
    for option in ("place-weight", "focus"):
        numbers = list(map(float, re.findall(r"\d+", settings[f"`--{option}`"])))
        assert numbers == [recipe[option.replace("-", "_")] for recipe in corners], option
    assert re.findall(r"`(\w+)`", settings["`--optimizer`"]) == [recipe["optimizer"] for recipe in corners]
    assert re.findall(r"`(\w+)`", settings["`--size`"]) == [recipe["size"] for recipe in recipes]


def test_messages_in_headings_are_those_of_the_programs(pages):
    """What differs from run to run is a field of the program's text."""
    headings = re.findall(r"^### `(.+)` {", below(pages["index"], "troubleshooting"), re.MULTILINE)
    texts = {
        "device 'mps' cannot be used": ("snippets/device.py", "device {wanted!r} cannot be used"),
        "there is no trained run of stage 1": (TRAINED, "trained run of stage {stage.number}"),
        "closed lines whose name is not known": (OUTLINES, "closed lines whose name is not known"),
    }
    assert texts.keys() <= {*headings}
    for file, text in texts.values():
        assert text in (ROOT / file).read_text(encoding="utf-8")


def test_no_folder_of_a_machine_is_shown():
    for language in ("en", "zh"):
        assert not re.search(r"(?<![\w.])/(tmp|work|root|home)", render("floorplan-trainings", language))


def drawn_of(entry):
    """Return the share of closed plans that a training draws as the programs do by default."""
    (row,) = (row for row in entry["drawn"] if row["snap"] == 4)
    return row["closed"]


def test_the_words_about_drawn_plans_fit_what_was_measured():
    default, longer = QUALITY["default"], QUALITY["quality"]
    assert default["edges"]["val_f1"] > 0.98  # "nearly all walls"
    assert longer["nodes"]["batch_size"] == 4 * default["nodes"]["batch_size"]
    (row,) = (row for row in longer["samplers"] if (row["sampler"], row["steps"]) == ("ddpm", 1000))
    assert row["line_median"] == 0  # "to the very pixel"
    assert 0.7 < row["closed"] < 0.75  # "nearly three in four"
    better = [drawn_of(entry) for entry in read("settings") if entry["name"] == "better"]
    assert 0.38 < numpy.mean(better) < 0.42  # "two in five"


def row_of(entry, name):
    """Return the shares of corners in line of one training, by seed."""
    (row,) = (row for row in entry["rows"] if row["name"] == name)
    return row["in_line"]


def test_three_options_and_memory_fit_the_measurements():
    (entry,) = read("ablation")
    mean = {row["name"]: numpy.mean(row["in_line"]) for row in entry["rows"]}
    assert mean["no_place_weight"] < 1.2 * QUALITY["default"]["random"]["in_line"]
    for name in ("no_focus", "no_muon"):
        assert 1 / 3 < mean[name] / mean["all"] < 0.4
    assert mean["no_muon_slower"] < mean["no_muon"]
    for name in ("no_focus", "no_place_weight", "no_muon"):  # "all three are needed"
        assert max(row_of(entry, name)) < min(row_of(entry, "all"))
    memory = next(one for one in read("memory") if (one["device"], one["corners"]) == ("cuda", 53))
    (once,) = (form for form in memory["forms"] if form["form"] == "once")
    assert once["ratio"]["median"] == pytest.approx(1 / 3, abs=0.02)


def test_commands_of_the_longer_training_were_measured():
    commands = (ROOT / "snippets/shell/floorplans_mac.sh").read_text(encoding="utf-8").splitlines()
    for stage in ("nodes", "edges"):
        typed, *shown = [
            set(re.findall(r"--\S+ \S+", line))
            for line in (QUALITY["quality"][stage]["trained_by"], *commands)
            if f"train_{stage}" in line
        ]
        assert typed - {"--device cuda"} in shown


def test_more_steps_take_longer_and_ddpm_aligns_more():
    found = {(row["sampler"], row["steps"]): row for row in QUALITY["default"]["samplers"]}
    for steps in (50, 100, 250):
        assert found["ddpm", steps]["in_line"] > 1.1 * found["ddim", steps]["in_line"]
    assert found["ddpm", 25]["in_line"] == pytest.approx(found["ddim", 25]["in_line"], rel=0.05)
    for sampler in ("ddpm", "ddim"):
        rows_of_one = sorted(
            (steps, row["seconds"]["median"]) for (name, steps), row in found.items() if name == sampler
        )
        assert [time for _, time in rows_of_one] == sorted(time for _, time in rows_of_one)
