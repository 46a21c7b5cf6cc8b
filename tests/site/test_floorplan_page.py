"""The page of the floor-plan system prints what was computed and measured, and its tables show the data."""

import re
from pathlib import Path

import floorplan_quality_tables as tables
import numpy
import pytest
import torch
import yaml

from examples.floorplan_diffusion.alignment import alignment_loss
from examples.floorplan_diffusion.edge_network import EdgeNetwork, all_pairs
from examples.floorplan_diffusion.generated_plans import generate_plans, generate_splits
from examples.floorplan_diffusion.metrics import accuracy, pairs_of_corners
from examples.floorplan_diffusion.node_network import CHANNELS, NodeNetwork
from examples.floorplan_diffusion.options import (
    EDGE_RECIPES,
    EDGE_SIZES,
    NODE_RECIPES,
    NODE_SIZES,
    PlanOptions,
)
from examples.floorplan_diffusion.plans import KINDS, MOST_CORNERS
from examples.floorplan_diffusion.published_files import ARRAYS, OTHERS, SEVEN
from examples.floorplan_diffusion.train_edges import FLIPPED, ROUND_UP, SPREAD

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/data/results"
FOLDERS = NODE_RECIPES["folder"], EDGE_RECIPES["folder"]
GENERATED = NODE_RECIPES["generated"], EDGE_RECIPES["generated"]


def read(name):
    return yaml.safe_load((RESULTS / f"floorplan_{name}.yaml").read_text(encoding="utf-8"))


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


def test_the_numbers_of_parameters_are_those_of_the_networks(page):
    for kind, sizes in ((NodeNetwork, NODE_SIZES), (EdgeNetwork, EDGE_SIZES)):
        size = sizes["origin"]
        with torch.device("meta"):
            network = kind(size["width"], size["layers"])
        assert f"{sum(weights.numel() for weights in network.parameters()):,}" in page
    assert (NODE_SIZES["origin"]["layers"], EDGE_SIZES["origin"]["layers"]) == (24, 12)


def test_the_numbers_of_pairs_and_scores(page):
    ordered, once = MOST_CORNERS**2, all_pairs(MOST_CORNERS, torch.device("cpu")).shape[1]
    assert f"{ordered:,}" in page and f"{once:,}" in page
    assert f"{8 * 4 * ordered**2 * 4 / 1e9:.2f} GB" == "1.01 GB"
    assert "1.01 GB" in section(page, "memory", "joining")
    assert ordered**2 / once**2 == pytest.approx(4, abs=0.2)


def test_a_loss_of_nothing_learned_is_the_number_of_channels(page):
    assert CHANNELS == 10
    assert f"**{CHANNELS}**" in section(page, "loss", "permutation")


def test_the_greatest_loss_of_a_corner(page):
    opposite = torch.tensor([[(-1.0, -1.0), (1.0, 1.0)]])
    found = alignment_loss(opposite, torch.ones(1, 2, dtype=torch.bool)).max().item()
    assert f"{found:.1f}" == "18.4"
    assert "18.4" in section(page, "alignment", "lines")
    half = numpy.float32(0.5)
    assert half - numpy.float32(1e-8) == half, "which is why the epsilon is larger"
    assert half - numpy.nextafter(half, numpy.float32(0)) == pytest.approx(3e-8, rel=0.01)


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


def test_generated_plans_need_19_places(page):
    splits = generate_splits(PlanOptions.plans, 0)
    assert splits.most_corners() == 19
    assert re.search(r"\D19\D", section(page, "formats", "stage-1"))


def test_no_wall_anywhere_is_right_for_most_pairs(page):
    plans = generate_plans(300, [0, 2])
    true = plans.walls[pairs_of_corners(plans)]
    assert round(accuracy(torch.zeros_like(true), true), 1) == 0.8
    assert "80%" in section(page, "disturbed", "padding")


def test_the_disturbance_is_what_the_page_says(page):
    assert (SPREAD, FLIPPED, ROUND_UP) == (1.0, 0.01, 4)


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


def test_what_the_page_says_about_memory_was_measured(page):
    text = section(page, "memory", "joining")
    (entry,) = (
        one for one in read("memory") if one["machine"]["gpu"] == "NVIDIA H200" and one["corners"] == 53
    )
    forms = {row["form"]: row for row in entry["forms"]}
    for name in ("ordered", "once", "once_recomputed", "once_real_recomputed"):
        assert f"{forms[name]['peak_bytes'] / 1e9:.3g} GB" in text.replace("1.20 GB", "1.2 GB"), name
    assert forms["once"]["ratio"]["median"] == pytest.approx(1 / 3, abs=0.02)
    slower = forms["once_recomputed"]["seconds"]["median"] / forms["once"]["seconds"]["median"] - 1
    assert f"{slower:.0%}" in text
    assert (min(entry["real_corners"]), max(entry["real_corners"])) == (20, 40)


def test_no_folder_of_a_machine_is_shown():
    for language in ("en", "zh"):
        assert not re.search(r"(?<![\w.])/(tmp|work|root|home)", tables.trainings(language))


def test_what_the_page_says_about_drawn_plans_was_measured(page):
    entry = QUALITY["default"]
    row, text = tables.slowest(entry), section(page, "results", "resume")
    said = [entry["random"]["in_line"], *(row[name] for name in ("in_line", "closed", "closed_straightened"))]
    places = [text.index(f"{share:.1%}") for share in said]
    assert places == sorted(places)
    assert entry["data"]["in_line"] == entry["data"]["closed"] == 1
    assert round(entry["data"]["corners"]) == 14
    nodes, loss = entry["nodes"], section(page, "alignment", "lines")
    assert loss.index("0.0002") < loss.index("1.4")
    assert nodes["alignment_loss"] < 0.0002 and 1.4 < nodes["noise_loss"] < 1.5
    assert entry["edges"]["val_f1"] > 0.98


def test_what_the_page_says_about_a_longer_training_was_measured(page):
    entry, text = QUALITY["quality"], section(page, "longer", "resume")
    row = tables.slowest(entry)
    assert all(f"{row[name]:.1%}" in text for name in ("in_line", "closed"))
    assert row["line_median"] == 0, "which is why the page says: to the pixel"
    assert f"{entry['nodes']['steps']:,}" in text and f"{QUALITY['default']['nodes']['steps']:,}" in text
    assert entry["nodes"]["batch_size"] == 4 * QUALITY["default"]["nodes"]["batch_size"]
    assert f" {entry['nodes']['seconds']:.0f} " in text
    (fewer,) = (one for one in entry["samplers"] if (one["sampler"], one["steps"]) == ("ddpm", 250))
    assert all(f"{fewer[name]:.1%}" in section(page, "samplers", "stage-2") for name in ("in_line", "closed"))
    assert f" {row['rooms']:.1f} " in text and f"{entry['data']['rooms']:.1f}" in text
    commands = (ROOT / "snippets/shell/floorplans_mac.sh").read_text(encoding="utf-8")
    for stage in ("nodes", "edges"):
        options = set(re.findall(r"--\S+ \S+", entry[stage]["trained_by"])) - {"--device cuda"}
        assert options in [
            set(re.findall(r"--\S+ \S+", line)) for line in commands.splitlines() if f"train_{stage}" in line
        ]


def test_what_the_page_says_about_three_options_was_measured(page):
    (entry,) = read("ablation")
    mean = {row["name"]: numpy.mean(row["in_line"]) for row in entry["rows"]}
    random = QUALITY["default"]["random"]["in_line"]
    assert mean["no_place_weight"] < 1.2 * random
    for name in ("no_focus", "no_muon"):
        assert 1 / 3 < mean[name] / mean["all"] < 0.4
    assert mean["no_muon_slower"] < mean["no_muon"]
    steps = {step for row in entry["rows"] for step in row["steps"]}
    assert steps == {QUALITY["default"]["nodes"]["steps"]}
    assert f"{steps.pop():,}" in section(page, "lines", "sampling")
    assert all(row["name"] in tables.RECIPES for row in entry["rows"])


def test_more_steps_take_longer_and_ddpm_puts_more_corners_in_line():
    found = {(row["sampler"], row["steps"]): row for row in QUALITY["default"]["samplers"]}
    for steps in (50, 100, 250):
        assert found["ddpm", steps]["in_line"] > 1.1 * found["ddim", steps]["in_line"]
    assert found["ddpm", 25]["in_line"] == pytest.approx(found["ddim", 25]["in_line"], rel=0.05)
    for sampler in ("ddpm", "ddim"):
        rows_of_one = sorted(
            (steps, row["seconds"]["median"]) for (name, steps), row in found.items() if name == sampler
        )
        assert [time for _, time in rows_of_one] == sorted(time for _, time in rows_of_one)
