"""The corrected GSDiff guide prints what was recorded, names every program and option, and computes right."""

import re
from pathlib import Path

import pytest
import torch
import yaml

from examples.floorplan_diffusion import (
    check_data,
    convert,
    export,
    generate,
    launch,
    make_data,
)
from examples.floorplan_diffusion.diffusion import STEPS
from examples.floorplan_diffusion.edge_network import all_pairs
from examples.floorplan_diffusion.generate_options import FASTER
from examples.floorplan_diffusion.options import (
    EDGE_RECIPES,
    EDGE_SIZES,
    NODE_RECIPES,
    read_edge_options,
    read_node_options,
)
from examples.floorplan_diffusion.plans import MOST_CORNERS
from snippets.errors import UsageError
from tools.checks.sections import all_sections
from tools.recordings import read_recordings

ROOT = Path(__file__).resolve().parents[2]
RECORDED = (ROOT / "docs/data/recorded/floorplans.txt").read_text(encoding="utf-8")
READERS = [
    read_node_options,
    read_edge_options,
    *(program.read_command_line for program in (generate, export, launch, make_data, check_data)),
    lambda words: convert.read_command_line(["folder", *words]),
]
OF_THE_STARTER = {"--cpu-fallback"}


@pytest.fixture(params=["en", "zh"])
def page(request):
    return (ROOT / f"docs/{request.param}/examples/floorplan-diffusion/index.md").read_text(encoding="utf-8")


def test_what_was_recorded_is_what_the_quick_start_says():
    sections, _ = all_sections(ROOT)
    commands = sections["snippets/shell/floorplans.sh:quick-start"].text.splitlines()
    assert len(commands) == 3
    assert read_recordings(ROOT)["floorplans"]["command"] == " && echo && ".join(commands)


def test_the_recording_has_the_default_number_of_epochs():
    epochs = [int(number) for number in re.findall(r"^ +(\d+) +\d+ +\d\.\d{3,4} ", RECORDED, re.MULTILINE)]
    wanted = [range(1, recipes["generated"]["epochs"] + 1) for recipes in (NODE_RECIPES, EDGE_RECIPES)]
    assert epochs == [*wanted[0], *wanted[1]]


def test_the_results_are_those_of_the_recording(page):
    found = [
        re.search(r"held-out loss (\d\.\d+),", RECORDED)[1],
        re.search(r"done +F1 (\d\.\d+),", RECORDED)[1],
        re.search(r"closed plans \(%\) +(\d+\.\d)", RECORDED)[1] + "%",
    ]
    section = page[page.index("{ #output }") : page.index("{ #make-data }")]
    for figure in found:
        assert re.search(rf"(?<![\d.]){re.escape(figure)}", section), figure


def test_every_program_of_the_guide_is_in_the_table(page):
    table = page[page.index("{ #commands }") : page.index("{ #use }")]
    scripts = yaml.safe_load((ROOT / "docs/data/coverage.yaml").read_text(encoding="utf-8"))["scripts"]
    of_the_guide = [script for script in scripts if script["guide"] == "3"]
    assert len(of_the_guide) == 8
    for script in of_the_guide:
        (row,) = (line for line in table.splitlines() if re.match(rf"\| `(python )?{script['name']}`", line))
        for path in script["here"]:
            assert Path(path).name in row, script["name"]


def test_the_files_in_the_tree_are_there(page):
    tree = page[page.index("{ #files }") : page.index("{ #monitoring }")]
    names = re.findall(r"\w+\.py", tree)
    assert len(names) == 8
    assert [name for name in names if not (ROOT / "examples/floorplan_diffusion" / name).is_file()] == []


def test_every_option_on_the_page_is_known(page):
    flags = set(re.findall(r"`[^`\n]*?(--[a-z][a-z-]+)", page)) - OF_THE_STARTER
    assert len(flags) > 15
    assert [flag for flag in flags if not any(knows(read, flag) for read in READERS)] == []
    assert not any(knows(read, "--pin-memory") for read in READERS)


def knows(read, flag):
    """Return whether a program has this flag, whatever value it needs."""
    try:
        read([flag])
    except UsageError as error:
        return not str(error).startswith("unknown option")
    return True


def test_the_counts_of_plans_are_right(page):
    assert 66_548 + 8_318 + 8_320 == 83_186 > 80_788 > 65_763 + 3_000 + 3_000 == 71_763
    for number in ("66,548", "8,318", "8,320", "83,186", "80,788", "71,763", "65,763", "3,000"):
        assert number in page


def test_the_sums_are_right(page):
    ordered, once = MOST_CORNERS**2, all_pairs(MOST_CORNERS, torch.device("cpu")).shape[1]
    assert (ordered, once) == (2_809, 53 * 52 // 2) and once == 1_378
    per_layer = [8 * 4 * pairs**2 * 4 / 1e9 for pairs in (ordered, once)]
    assert [round(gigabytes, 2) for gigabytes in per_layer] == [1.01, 0.24]
    for text in ("53² = 2,809", "53 × 52 ÷ 2 = 1,378", "8 × 4 × 2,809² × 4", "1.01 GB", "0.24 GB"):
        assert text in page
    assert EDGE_SIZES["origin"]["layers"] == 12 and EDGE_SIZES["origin"]["recompute"]
    assert (NODE_RECIPES["folder"]["batch_size"], EDGE_RECIPES["folder"]["batch_size"]) == (256, 8)
    assert f"{NODE_RECIPES['folder']['epochs']:,}" in page


def test_the_measured_memory_is_that_of_the_results(page):
    entries = yaml.safe_load((ROOT / "docs/data/results/floorplan_memory.yaml").read_text(encoding="utf-8"))
    (entry,) = (entry for entry in entries if entry["device"] == "cuda" and entry["corners"] == MOST_CORNERS)
    peaks = {form["form"]: form["peak_bytes"] / 1e9 for form in entry["forms"]}
    assert entry["batch_size"] == 8 and "H200" in entry["machine"]["gpu"]
    section = page[page.index("{ #batch-size }") : page.index("{ #loader }")]
    for form in ("ordered", "once"):
        assert f" {peaks[form]:.3g} " in section, form


def test_the_timeline_is_added_up_right(page):
    assert (7 + 3, 14 + 5) == (10, 19) and (2 + 1, 3 + 2) == (3, 5)
    weeks = 4.35  # in a month
    assert (round(3 * weeks / 3), round(5 * weeks / 2)) == (4, 11)
    assert round(60 * 21 * 24 / 1000) == 30
    rows = [line for line in page.splitlines() if line.startswith(("| MPS |", "| V100 |"))]
    assert [re.search(r"(\d+–\d+) (?:days|天) \|$", row)[1] for row in rows] == ["10–19", "3–5"]


def test_few_steps_are_twenty_times_as_fast(page):
    assert STEPS / FASTER == 20 and f"{STEPS:,}" in page and f"{FASTER} " in page
