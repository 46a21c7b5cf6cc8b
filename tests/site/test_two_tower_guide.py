"""The pages of the two-tower system: commands, options and messages are those of its programs."""

import re
from pathlib import Path

import pytest

from examples.two_tower.options import FORMER, read_command_line
from snippets.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
NOT_OF_TRAIN = {  # of the launcher, the miner, the encoder, powermetrics, and one of another program
    *(
        "--cpu-fallback",
        "--faiss",
        "--samplers",
        "--article",
        "--query",
        "--document",
        "--help",
        "--warmup-steps",
    )
}


def page(language, name):
    return (ROOT / f"docs/{language}/examples/two-tower/{name}.md").read_text(encoding="utf-8")


@pytest.fixture(params=["en", "zh"])
def guide(request):
    return page(request.param, "source-guide")


def test_every_former_flag_has_its_new_name_beside_it(guide):
    unnamed = FORMER.keys() - {"--nearmiss-bank"}  # in notes of the guide's project, not in its program
    assert [flag for flag in unnamed if f"`{flag}" not in guide] == []
    for old in unnamed:
        line = next(line for line in guide.splitlines() if f"`{old}" in line)
        assert f"`{FORMER[old]}" in line.partition(f"`{old}")[2]


@pytest.mark.parametrize("name", ["index", "how-it-works", "results", "source-guide"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_flag_on_a_page_is_known(language, name):
    flags = set(re.findall(r"`[^`\n]*?(--[a-z][a-z-]+)", page(language, name))) - FORMER.keys() - NOT_OF_TRAIN
    assert flags
    for flag in flags:
        try:
            read_command_line([flag])
        except UsageError as error:
            assert "expected one argument" in str(error), f"{flag}: {error}"


def test_messages_of_the_page_are_those_of_programs():
    headings = re.findall(r"^### `(.*?)` \{", page("en", "index"), re.M)
    files = *(ROOT / "examples/two_tower").glob("*.py"), *(ROOT / "snippets").glob("*.py")
    code = re.sub(r'"\s*\n\s*f?"', "", "".join(path.read_text(encoding="utf-8") for path in files))
    elsewhere = "MPS backend", "OMP:", "An attempt"  # of PyTorch, OpenMP and Python
    ours = [text for text in headings if not text.startswith(elsewhere)]
    assert len(ours) > 4
    for text in ours:
        assert re.sub("'mps'|nan$", "", text).strip().split("  ")[-1] in code, text
