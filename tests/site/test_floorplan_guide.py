"""The pages of the floor plans have a full recording, and name every program of the source guide."""

import re
from pathlib import Path

import pytest

from examples.floorplan_diffusion import (
    check_data,
    convert,
    export,
    generate,
    launch,
    make_data,
)
from examples.floorplan_diffusion.options import (
    EDGE_RECIPES,
    NODE_RECIPES,
    read_edge_options,
    read_node_options,
)
from snippets.errors import UsageError
from tools.checks.sections import all_sections
from tools.read_yaml import read_yaml
from tools.recordings import read_recordings

ROOT = Path(__file__).resolve().parents[2]
RECORDED = (ROOT / "docs/data/recorded/floorplans.txt").read_text(encoding="utf-8")
READERS = [
    read_node_options,
    read_edge_options,
    *(program.read_command_line for program in (generate, export, launch, make_data, check_data)),
    lambda words: convert.read_command_line(["folder", *words]),
]
OTHERS_OPTIONS = {"--cpu-fallback", "--help"}  # of start_run.sh, and of every program


PAGES = ("index", "how-it-works", "results", "source-guide", "data")


@pytest.fixture(scope="module", params=["en", "zh"])
def pages(request):
    folder = ROOT / f"docs/{request.param}/examples/floorplan-diffusion"
    return {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}


def test_what_was_recorded_is_what_the_quick_start_says():
    sections, _ = all_sections(ROOT)
    commands = sections["snippets/shell/floorplans.sh:quick-start"].text.splitlines()
    assert len(commands) == 3
    assert read_recordings(ROOT)["floorplans"]["command"] == " && echo && ".join(commands)


def test_the_recording_has_the_default_number_of_epochs():
    epochs = [int(number) for number in re.findall(r"^ +(\d+) +\d+ +\d\.\d{3,4} ", RECORDED, re.MULTILINE)]
    wanted = [range(1, recipes["generated"]["epochs"] + 1) for recipes in (NODE_RECIPES, EDGE_RECIPES)]
    assert epochs == [*wanted[0], *wanted[1]]


def test_every_program_of_the_guide_is_in_the_table(pages):
    page = pages["source-guide"]
    table = page[page.index("{ #commands }") : page.index("{ #claims }")]
    scripts = read_yaml(ROOT / "docs/data/coverage.yaml")["scripts"]
    of_the_guide = [script for script in scripts if script["guide"] == "3"]
    assert len(of_the_guide) == 8
    for script in of_the_guide:
        (row,) = (line for line in table.splitlines() if re.match(rf"\| `(python )?{script['name']}`", line))
        for path in script["here"]:
            assert Path(path).name in row, script["name"]


def test_every_option_on_the_pages_is_known(pages):
    flags = set(re.findall(r"`[^`\n]*?(--[a-z][a-z-]+)", "".join(pages.values()))) - OTHERS_OPTIONS
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
