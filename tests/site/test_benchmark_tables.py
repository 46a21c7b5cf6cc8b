"""The stored benchmarks: what their files say follows from their readings, and the tables show it."""

import json
import re
from pathlib import Path

import pytest
import yaml

from examples.benchmarking.report import last_loss, losses_differ
from snippets.timing import spread

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "data" / "results"
FILES = sorted(RESULTS.glob("benchmark_*.json"))
NAMES = [
    "benchmark-cifar-digits",
    "benchmark-cifar-large",
    "benchmark-indicator-origin",
    "benchmark-loop-overhead",
    "benchmark-loop-saving",
    "benchmark-waiting",
]


@pytest.fixture(scope="module")
def tables(import_hook):
    return import_hook("benchmark_table")


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def content(request):
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_every_stored_benchmark_is_shown(tables, import_hook):
    sizes = import_hook("indicator_speed")
    in_one_table = {sizes.FILE.format(size=size) for size in sizes.SIZES}
    assert {path.name for path in FILES} == {*tables.BENCHMARKS.values(), *in_one_table}
    assert set(NAMES) == {*tables.BENCHMARKS, *tables.OTHERS}


def test_figures_follow_from_the_readings(content):
    measured = [row for row in content["rows"] if row["status"] == "measured"]
    assert len(measured) >= 3
    for row in measured:
        found = spread(row["seconds"])
        assert (row["median_s"], row["low_s"], row["high_s"]) == pytest.approx(
            (found.median, found.low, found.high)
        )
        assert len(row["seconds"]) == content["plan"]["readings"]
        assert row["samples_per_s"] == pytest.approx(row["samples_per_step"] / found.median)
        assert row["speed_up"] == pytest.approx(row["samples_per_s"] / measured[0]["samples_per_s"])
        assert row["last_loss"] == pytest.approx(last_loss(row["losses"]))
        assert row["loss_differs"] is losses_differ(measured[0]["losses"], row["losses"])


def test_a_benchmark_says_where_it_comes_from(content):
    assert content["machine"]["chip"] and content["machine"]["gpu"]
    source = content["provenance"]
    assert source["command"].startswith("python examples/benchmark.py ")
    assert re.fullmatch(r"[0-9a-f]{40}", source["git_commit"])
    assert source["torch"] and source["python"] and source["cpu_threads"]


def test_the_loop_costs_what_the_page_says():
    entries = yaml.safe_load((RESULTS / "training_loop.yaml").read_text(encoding="utf-8"))
    ratios = {
        (entry["system"], entry["device"], found["data"], found["against"]): found["ratio"]
        for entry in entries
        for found in entry["overhead"]
    }
    images = {key: ratio for key, ratio in ratios.items() if key[0] == "cifar_optimizers"}
    indicators = {key: ratio for key, ratio in ratios.items() if key[0] == "indicator_transformer"}
    assert (len(images), len(indicators)) == (8, 6)
    assert max(ratio["median"] for key, ratio in images.items() if key[3] == "steps") < 1.02
    assert max(ratio["median"] for key, ratio in indicators.items() if key[3] == "bare") < 1.03
    assert max(ratio["median"] for ratio in indicators.values()) == pytest.approx(1.04, abs=0.005)
    on_the_cpu = [ratio for key, ratio in ratios.items() if key[1] == "cpu"]
    assert len(on_the_cpu) == 6
    assert all(ratio["low"] < 1 < ratio["high"] for ratio in on_the_cpu)


def test_checkpoints_cost_what_the_page_says():
    entries = yaml.safe_load((RESULTS / "training_loop.yaml").read_text(encoding="utf-8"))
    before_the_last = [found["share_before_the_last"] for entry in entries for found in entry["saving"]]
    assert len(before_the_last) == 7 and max(before_the_last) < 0.01


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_shape_and_figures(tables, name, assert_same_shape_and_figures):
    assert_same_shape_and_figures(*(tables.render(name, language) for language in ("en", "zh")))


def test_cells(tables):
    large = tables.render("benchmark-cifar-large", "en")
    assert "| `cuda` | 7.40 | 7.37 to 7.45 | 17,297 | 40.65 | 3.13 | 1,220 | 2.681 |" in large
    assert "NVIDIA H200 with 16 x86-64 CPU cores, 16 threads; PyTorch 2.11.0" in large
    assert "| `mps` | not available |" in tables.render("benchmark-cifar-digits", "en")
    assert "| 等 GPU 算完 | 2.682 | 2.678 到 2.700 | 51.2 |" in tables.render("benchmark-waiting", "zh")


def test_a_loss_that_was_not_a_number_is_a_dash(tables, monkeypatch, tmp_path):
    name = "benchmark_cifar_large_h200.json"
    content = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    content["rows"][1]["last_loss"] = None
    (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setattr(tables, "DATA", tmp_path)
    assert "| 1,220 | – |" in tables.levels(name, "en")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.01234, "0.0123"), (7.4, "7.40"), (300.8, "301"), (15271.4, "15,271")],
)
def test_three_digits(tables, value, text):
    assert tables.figures(value) == text


def test_the_arithmetic_on_the_page():
    """The page divides the work of a step by peaks and by measured times."""
    data = yaml.safe_load((RESULTS / "resnet18.yaml").read_text(encoding="utf-8"))
    work = 128 * next(n["training_flop"] for n in data["networks"] if n["id"] == "cifar")
    m2 = next(chip["fp32_tflops"] for chip in data["chips"] if chip["name"] == "M2") * 1e12
    rows = json.loads((RESULTS / "benchmark_cifar_large_h200.json").read_text(encoding="utf-8"))["rows"]
    by_level = {row["level"]: row for row in rows}
    found = [work / 1e9, 1e3 * work / m2]
    found += [work / by_level[level]["median_s"] / 1e12 for level in ("cuda", "cpu")]
    page = (ROOT / "docs" / "en" / "guides" / "benchmarking.md").read_text(encoding="utf-8")
    for value, text in zip(found, ("426 GFLOP", "119 ms", "58 TFLOPS", "1.4 TFLOPS"), strict=True):
        digits = len(text.split()[0].partition(".")[2])
        assert f"{value:.{digits}f}" == text.split()[0] and text in page
    digits = json.loads((RESULTS / "benchmark_cifar_digits_h200.json").read_text(encoding="utf-8"))["rows"]
    plain, compiled = digits[0], next(row for row in digits if row["level"] == "cpu+compile")
    saved = plain["median_s"] - compiled["median_s"]
    extra = compiled["start_s"] - plain["start_s"]
    assert (round(extra), round(1e3 * saved, 1), round(extra / saved, -3)) == (43, 1.9, 23_000)
