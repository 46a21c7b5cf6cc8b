"""Figures of pages come from docs/data, are all used, and a wrong one is a sentence."""

import re
from pathlib import Path

import pytest

from tools import figures
from tools.figures import FigureError, with_figures

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def data(tmp_path):
    """Return a folder with two results, a table of speeds and a recorded output."""
    files = {
        "figures/plans.yaml": "",
        "results/plans.yaml": "- {name: default, closed: 0.0471}\n- {name: long, closed: 0.5}\n",
        "results/json.json": '{"before": [3, 5], "after": [4, 4]}',
        "speeds.json": '{"columns": [{"en": "Chip"}, "A", {"en": "B", "zh": "C"}],'
        ' "rows": [["M1", 3, [4, 2]], [{"en": "M2"}, null, [2, 3]]]}',
        "recorded/plans.txt": "epoch F1\n    1 0.75\ndone   F1 0.99, after 3 s\n",
    }
    for name, text in files.items():
        tmp_path.joinpath(name).parent.mkdir(exist_ok=True)
        tmp_path.joinpath(name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "expression, text",
    [
        ('(results.plans | one(name="default")).closed | percent', "4.7%"),
        ("results.plans | map(attribute='closed') | max | fixed(2)", "0.50"),
        ("results.plans | map(attribute='closed') | mean | digits", "0.274"),
        ("(1e6 * results.plans[1].closed) | count", "500,000"),
        ("speeds | column('A') | items | list | string", "[('M1', 3)]"),
        ("speeds | column('B') | ratios | max", "1.5"),
        ("results.json.after | minus(results.json.before) | min", "-1"),
        ("recorded.plans | find('^done +F1 ([0-9.]+)')", "0.99"),
    ],
)
def test_a_figure_is_computed_from_its_data(data, expression, text):
    data.joinpath("figures/plans.yaml").write_text(f"it: {expression!r}\n")
    assert with_figures("is {{ plans.it }} of {{plans.it}}", data) == f"is {text} of {text}"


@pytest.mark.parametrize(
    "expression, reason",
    [
        ('(results.plans | one(name="other")).closed', "0 entries have {'name': 'other'}"),
        ("results.plans[0].open | percent", "has no attribute 'open'"),
        ("results.missing.x", "'missing'"),
        ("speeds | column('C')", "0 columns are called C"),
        ("recorded.plans | find('accuracy (.+)')", "nothing matches accuracy (.+)"),
        ("1 +", "unexpected"),
        ("results.json.after", "[4, 4] is no text"),
        ("results.json.none | fixed", "has no attribute 'none'"),
    ],
)
def test_an_expression_that_fails_is_named(data, expression, reason):
    data.joinpath("figures/plans.yaml").write_text(f"it: {expression!r}\n")
    with pytest.raises(FigureError, match=f"plans.yaml: it: .*{re.escape(reason)}"):
        with_figures("{{ plans.it }}", data)


def test_names_of_a_file_are_used_by_its_figures(data):
    text = "set:\n  plan: results.plans[1]\n  share: 100 * plan.closed\nit: share | count\n"
    data.joinpath("figures/plans.yaml").write_text(text)
    assert with_figures("{{ plans.it }}", data) == "50"
    assert "plans.share" not in figures.figures(data)


@pytest.mark.parametrize("file", ["figures/plans.yaml", "results/plans.yaml"])
def test_a_file_that_is_no_yaml_is_named(data, file):
    data.joinpath("figures/plans.yaml").write_text("it: results.plans[0].closed\n")
    data.joinpath(file).write_text('it: recorded.plans | find("done: (.+)")\n')
    with pytest.raises(FigureError, match=f"docs/data/{file}: mapping values are not allowed"):
        with_figures("{{ plans.it }}", data)


@pytest.mark.parametrize("text", ["", "it results.plans\n"])
def test_a_file_without_names_is_named(data, text):
    data.joinpath("figures/plans.yaml").write_text(text)
    with pytest.raises(FigureError, match=r"^docs/data/figures/plans\.yaml: write `name: expression`"):
        with_figures("{{ plans.it }}", data)


@pytest.mark.parametrize("wrong", ["{{ plans.other }}", "{{ plans }}", "{{ 3 }}"])
def test_an_unknown_figure_is_named(data, wrong):
    data.joinpath("figures/plans.yaml").write_text("it: '1'\n")
    with pytest.raises(FigureError, match=f"^{re.escape(wrong)} is no figure: write it as"):
        with_figures(f"of {wrong}", data)


def test_what_belongs_to_a_workflow_stays():
    assert with_figures("${{ matrix.os }}") == "${{ matrix.os }}"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_figure_is_used_in_both_languages(language):
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / language).rglob("*.md"))
    assert {match["name"] for match in figures.FIGURE.finditer(pages)} == figures.figures().keys()
