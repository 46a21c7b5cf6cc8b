"""The forms that the page lists: each is written, and read or refused as the list says."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from examples.floorplan_diffusion import check_data, convert
from examples.floorplan_diffusion.open_forms import find_drawings, read_drawings, to_plans
from snippets.errors import exit_with_one_line
from tests.examples.floorplan_diffusion import data_forms
from tests.examples.program_runs import assert_refused
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[3]
FORMS = read_yaml(ROOT / "docs/data/data_forms/floorplan_diffusion.yaml")
UNITS = {"flat.svg": "cm"}  # the others say theirs
CORNERS = [[41, 12], [41, 99], [41, 244], [157, 12], [157, 99], [215, 12], [215, 99], [215, 244]]
BED, BATH, BOTH, LIVING = (
    [0, 1, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 1, 0, 1],
    [0, 1, 0, 0, 1, 0, 1],
    [1, 0, 0, 0, 0, 0, 1],
)
KINDS = [BED, [1, 1, 0, 0, 0, 0, 1], LIVING, BOTH, [1, 1, 0, 0, 1, 0, 0], BATH, [1, 0, 0, 0, 1, 0, 1], LIVING]
WALLS = [[0, 1], [0, 3], [1, 2], [1, 4], [2, 7], [3, 4], [3, 5], [4, 6], [5, 6], [6, 7]]


@pytest.fixture
def call(capsys):
    """Return a function that calls a program and gives its exit code, output and errors."""

    def run(main, *words):
        capsys.readouterr()
        code = exit_with_one_line(main, [str(word) for word in words])
        return SimpleNamespace(code=code, **capsys.readouterr()._asdict())

    return run


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["name"]["en"].split(",")[0])
def test_each_form_is_read_or_refused_as_listed(form, tmp_path, call):
    for name, text in form.get("files", {}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    if "made_by" in form:
        getattr(data_forms, form["made_by"])(tmp_path)
    if form["result"] == "refused":
        source = tmp_path if form["made_by"] == "rplan_pictures" else next(tmp_path.iterdir())
        assert_refused(call(convert.main, source, "--out", tmp_path / "new"), form["message"])
    elif "made_by" in form:
        done = call(check_data.main, tmp_path, "--trust-pickle")
        assert (done.code, done.err) == (
            0 if "gsdiff" in form["made_by"] else 1,
            "",
        )  # ours: a plan is in two splits
        assert done.out.count(" plans, ") == 3 and "closed 100.0%" in done.out
    else:
        for file in find_drawings(tmp_path):
            plans, findings = to_plans(read_drawings([file], UNITS.get(file.name), {}), None, 0)
            assert not findings.bad and findings.scale.pixels_per_metre == 29  # 8 m are at most 232 pixels
            assert plans[0].corners.tolist() == CORNERS
            assert plans[0].kinds.astype(int).tolist() == KINDS
            assert plans[0].walls.tolist() == WALLS
