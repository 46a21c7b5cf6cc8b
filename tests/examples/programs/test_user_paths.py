"""Home folders in paths that were typed."""

from pathlib import Path

import pytest

from examples.programs.command_line import expanded
from snippets.errors import UsageError


def test_home_folders_are_put_in(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expanded("~/bars") == tmp_path / "bars"
    assert expanded(Path("bars/~")) == Path("bars/~")


def test_an_unknown_user_is_named():
    with pytest.raises(UsageError, match="~nobody-here/bars: there is no user nobody-here; write the whole"):
        expanded("~nobody-here/bars")
