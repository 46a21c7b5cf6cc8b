"""The page of the floor-plan system: its typed tables are the program's, its words fit what was measured."""

import re
from pathlib import Path

import numpy
import pytest
from data_tables import render

from examples.floorplan_diffusion.options import EDGE_RECIPES, NODE_RECIPES, PlanOptions
from examples.floorplan_diffusion.plans import KINDS
from examples.floorplan_diffusion.published_files import ARRAYS, OTHERS, SEVEN
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/data/results"
FOLDERS = NODE_RECIPES["folder"], EDGE_RECIPES["folder"]
GENERATED = NODE_RECIPES["generated"], EDGE_RECIPES["generated"]


def read(name):
    return read_yaml(RESULTS / f"floorplan_{name}.yaml")


QUALITY = {entry["name"]: entry for entry in read("quality")}


@pytest.fixture(scope="module", params=["en", "zh"])
def page(request):
    return (ROOT / f"docs/{request.param}/examples/floorplan-diffusion/training.md").read_text(
        encoding="utf-8"
    )


def section(page, name, following):
    return page[page.index(f"{{ #{name} }}") : page.index(f"{{ #{following} }}")]


def rows(table):
    """Return the cells of a Markdown table without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_kinds_are_made_from_the_columns_of_the_table(page):
    found = rows(section(page, "formats", "stage-1"))
    named = {
        row[0]: tuple(map(int, re.split("[,、] ?", row[1])))
        for row in found
        if re.fullmatch(r"[\d,、 ]+", row[1])
    }
    for kind, columns in zip(KINDS, SEVEN, strict=True):
        assert [value for name, value in named.items() if kind in name] == [columns]


def test_every_published_key_is_in_the_table(page):
    named = {
        key for row in rows(section(page, "formats", "stage-1")) for key in re.findall(r"`(\w+)`", row[0])
    }
    assert named == {*ARRAYS, *OTHERS}
    assert len(named) == 16


def test_defaults_are_those_of_the_programs(page):
    options = dict(row[:2] for row in rows(section(page, "options", "tested")) if row[0].startswith("`--"))
    for option, key in (("--epochs", "epochs"), ("--batch-size", "batch_size")):
        numbers = list(map(int, re.findall(r"\d+", options[f"`{option}`"])))
        assert numbers == [recipe[key] for recipe in (*GENERATED, *FOLDERS)], option
    rates = list(map(float, re.findall(r"\de-\d", options["`--lr`"])))
    assert rates == [GENERATED[0]["lr"], GENERATED[1]["lr"], FOLDERS[0]["lr"]]
    assert FOLDERS[0]["lr"] == FOLDERS[1]["lr"]
    for option in ("place_weight", "focus"):
        numbers = list(map(float, re.findall(r"\d+", options[f"`--{option.replace('_', '-')}`"])))
        assert numbers == [GENERATED[0][option], FOLDERS[0][option]], option
    assert options["`--plans`"] == str(PlanOptions.plans)


def test_no_folder_of_a_machine_is_shown():
    for language in ("en", "zh"):
        assert not re.search(r"(?<![\w.])/(tmp|work|root|home)", render("floorplan-trainings", language))


def test_the_words_about_drawn_plans_fit_what_was_measured():
    default, longer = QUALITY["default"], QUALITY["quality"]
    assert default["edges"]["val_f1"] > 0.98  # "nearly all walls"
    assert longer["nodes"]["batch_size"] == 4 * default["nodes"]["batch_size"]
    (row,) = (row for row in longer["samplers"] if (row["sampler"], row["steps"]) == ("ddpm", 1000))
    assert row["line_median"] == 0  # "to the very pixel"


def test_three_options_and_memory_fit_the_measurements():
    (entry,) = read("ablation")
    mean = {row["name"]: numpy.mean(row["in_line"]) for row in entry["rows"]}
    assert mean["no_place_weight"] < 1.2 * QUALITY["default"]["random"]["in_line"]
    for name in ("no_focus", "no_muon"):
        assert 1 / 3 < mean[name] / mean["all"] < 0.4
    assert mean["no_muon_slower"] < mean["no_muon"]
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
