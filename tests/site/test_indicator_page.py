"""The first page of the indicator transformer quotes what its programs print."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/en/examples/indicator-transformer/index.md"
FOLDERS = ("examples/indicator_transformer", "examples/programs", "snippets")


@pytest.fixture(scope="module")
def printed():
    """Return the text of the programs, with strings joined that continue in the next line."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.py"))]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return re.sub(r'"\s*f?"', "", text)


def test_messages_in_headings_are_those_of_the_programs(printed):
    headings = re.findall(r"^### (?:[^`]*\()?`([^`]+)`\)? ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(headings) >= 12
    for heading in headings:  # names and numbers in a message are filled in, so three words have to be there
        words = re.split(r"[ :]+", heading)
        parts = [" ".join(words[first : first + 3]) for first in range(max(1, len(words) - 2))]
        assert any(part in printed for part in parts), heading
