"""The forms of pairs of docs/data/data_forms/: encoded by the real program, or refused as is said there."""

import json
from pathlib import Path

import pytest

from examples.two_tower import encode
from examples.two_tower.pair_files import read_pairs
from snippets.errors import exit_with_one_line
from tests.examples.two_tower import data_forms
from tests.examples.two_tower.data_files import ROWS
from tools.read_yaml import read_yaml

FORMS = read_yaml(Path(__file__).resolve().parents[3] / "docs/data/data_forms/two_tower.yaml")


@pytest.fixture(params=FORMS, ids=lambda form: form["name"]["en"])
def form(request, tmp_path):
    """Write the file of a form, and return both."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name, text in request.param.get("files", {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    if made := request.param.get("made_by"):
        getattr(data_forms, made)(folder)
    (path,) = folder.iterdir()
    return request.param, path


def test_forms_are_read_or_refused_as_said(form, tmp_path, capsys):
    what, path = form
    if path.suffix == ".npz":
        assert len(read_pairs(path)) == ROWS
        return
    words = [str(path), "--out", str(tmp_path / "vectors"), *what.get("options", [])]
    code = exit_with_one_line(encode.main, words)
    printed = capsys.readouterr()
    if what["result"] == "refused":
        assert (code, printed.err.count("\n")) == (2, 1)
        assert what["message"] in printed.err and str(path) in printed.err
        assert [entry.name for entry in tmp_path.iterdir()] == ["data"]
        return
    assert (code, printed.err) == (0, "")
    lines = (tmp_path / "vectors/texts.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == what["pairs"]
    assert len(read_pairs(tmp_path / "vectors")) == len(what["pairs"])
