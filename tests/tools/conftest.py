"""A small repository in a temporary folder, for planting defects."""

import textwrap
from pathlib import Path

import pytest


@pytest.fixture
def plant(tmp_path):
    """Return a function that writes a file of the small repository and returns its path."""
    for folder in ("snippets", "examples", "docs/en", "docs/zh", "docs/data"):
        (tmp_path / folder).mkdir(parents=True)

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    return write
