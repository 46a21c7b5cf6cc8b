"""The tables of published speeds: complete, equal in both languages, every figure with its source."""

import re

import pytest

from docs.hooks import published_speeds

NAMES = [
    "speeds-mlx-microbenchmarks",
    "speeds-mlx-trainings",
    "speeds-mlx-threads",
    "speeds-trainings",
    "speeds-batch-sizes",
    "speeds-bert",
    "speeds-single",
]


def test_the_tables():
    assert list(published_speeds.tables()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_table_is_regular_and_names_its_sources(name):
    english, chinese = (published_speeds.render(name, language) for language in ("en", "zh"))
    links = re.findall(r"\]\((https://[^)]+)\)", english)
    assert links and links == re.findall(r"\]\((https://[^)]+)\)", chinese)
    for text in (english, chinese):
        table = [line for line in text.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in table}) == 1 and len(table) > 3
        assert "None" not in text and "{" not in text


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_state_the_same_figures(name):
    def figures(language):
        table, _note = published_speeds.render(name, language).split("\n\n")
        found = sorted(re.findall(r"\d+(?:[.,]\d+)*", table))
        return [f for f in found if f not in ("125.8", "1.258")] if name == "speeds-single" else found

    english, chinese = figures("en"), figures("zh")
    months = {"1", "3", "6", "8", "9", "11"}  # "June" and 6 月
    assert [f for f in english if f not in months] == [f for f in chinese if f not in months]
    assert len(english) > 10


def test_the_clearly_faster_time_of_a_pair_is_bold():
    assert published_speeds._cell([4.39, 5.25], "en", 2) == "**4.39** / 5.25"
    assert published_speeds._cell([2.52, 0.67], "en", 2) == "2.52 / **0.67**"
    assert published_speeds._cell([6.37, 6.2], "en", 2) == "6.37 / 6.20"  # within 3 %


def test_figures_as_published():
    bert = published_speeds.render("speeds-bert", "en")
    assert "| 64 × 128 | 512 | 177 | 49 | 156 | 73 | 41 | 120 |" in bert
    assert "`4559602` of 2023-12-20" in bert
    trainings = published_speeds.render("speeds-mlx-trainings", "zh")
    assert "**426.0** / 912.5" in trainings


def test_operations_as_published():
    """Checked with benchmarks/average_benchmark.md of TristanBilot/mlx-benchmark at 85c5376."""
    lines = published_speeds.render("speeds-mlx-microbenchmarks", "en").splitlines()
    machine = "| M4 Pro (20) | 0.24.1 | "
    row = next(line for line in lines if line.startswith(machine))
    assert row.removeprefix(machine).split(" | ") == [
        "**9.81** / 13.28",
        "6.37 / 6.20",
        "2.52 / **0.67**",
        "7.17 / **2.77**",
        "**0.42** / 0.84",
        "2.62 / **1.81** |",
    ]
    assert len(lines) == 2 + 11 + 2


def test_what_the_page_says_of_all_machines():
    """Matrix products: MLX everywhere; convolutions and softmax: PyTorch everywhere."""
    table = published_speeds.tables()["speeds-mlx-microbenchmarks"]
    rows = [dict(zip(map(str, table["columns"]), row, strict=True)) for row in table["rows"]]
    ratios = {
        name: [row[name][1] / row[name][0] for row in rows]
        for name in ("MatMul", "Linear", "Conv2d", "Softmax")
    }
    assert 1.1 < min(ratios["MatMul"]) < 1.2 and 2.5 < max(ratios["MatMul"]) < 2.6
    assert 1.9 < 1 / max(ratios["Conv2d"]) < 2 and 3.8 < 1 / min(ratios["Conv2d"]) < 3.9
    assert 1.5 < 1 / max(ratios["Softmax"]) < 1.6 and 3.0 < 1 / min(ratios["Softmax"]) < 3.1
    newer = [
        ratio
        for row, ratio in zip(rows, ratios["Linear"], strict=True)
        if "M3" in str(row) or "M4" in str(row)
    ]
    assert len(newer) == 6 and all(0.92 < ratio < 1.05 for ratio in newer)
    assert min(set(ratios["Linear"]) - set(newer)) > 1.1 and 3.4 < max(ratios["Linear"]) < 3.5


def test_an_unknown_table_is_an_error():
    with pytest.raises(KeyError):
        published_speeds.render("speeds-of-light", "en")
