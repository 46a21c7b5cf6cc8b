"""The tables of the indicator transformer's speed show what was measured."""

import json

import benchmark_files as files
import indicator_sizes
import pytest
import table_templates
from origins import RESULTS

from tools.read_yaml import read_yaml


def table(name, data, language="en"):
    """Return the lines of a table, made from other data."""
    content = table_templates.files()["tables"]["benchmarks"]
    names = {"language": language, "words": content["words"], "data": data}
    return table_templates.one_table(content[name], names).splitlines()


@pytest.fixture(scope="module")
def entries():
    """Return the results of the machines that the page speaks of, by device."""
    found = read_yaml(RESULTS / "indicator_batches.yaml")
    return {entry["device"]: entry for entry in found if entry["machine"]["system"] == "Linux x86_64"}


def measured(entry):
    """Return the rows of the ways that did not fail, by batch size and way."""
    return {(row["batch_size"], row["way"]): row for row in entry["rows"] if "reason" not in row}


@pytest.fixture(scope="module")
def on_the_gpu(entries):
    return measured(entries["cuda"])


def test_each_size_was_measured_with_its_batch_size():
    for found in indicator_sizes.measured_sizes():
        for (_, batch_size), benchmark in found.items():
            measured = [row for row in benchmark.rows if row["status"] == "measured"]
            assert {row["samples_per_step"] for row in measured} == {batch_size}


def on_the_gpu_of_the_page():
    """Return the sizes that the machine measured of which the page speaks."""
    (found,) = [
        found
        for found in indicator_sizes.measured_sizes()
        if next(iter(found.values())).content["machine"]["gpu"] == "NVIDIA H200"
    ]
    return found


def without(entry, way, size=None, reason=None):
    """Return `entry` without the rows of `way` (of one batch size), or with the reason why they failed."""
    rows = []
    for row in entry["rows"]:
        if row["way"] != way or size not in (None, row["batch_size"]):
            rows.append(row)
        elif reason:
            rows.append({"batch_size": row["batch_size"], "way": way, "reason": reason})
    return entry | {"rows": rows}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_way_that_is_missing_takes_its_heading_along(entries, language):
    whole, *_ = table("indicator-batches", entries["cuda"], language)
    head, _, first, *_ = table("indicator-batches", without(entries["cuda"], "bf16"), language)
    assert head == whole.replace({"en": "bf16, ms | ", "zh": "bf16，ms | "}[language], "")
    assert first == "| 16 | 13.6 | 17.7 | 7.65 | 1,175 | 2,092 |"


@pytest.mark.parametrize(
    ("way", "size", "reason", "row"),
    [
        ("bf16", None, "no kernel", "| 16 | 13.6 | – | 17.7 | 7.65 | 1,175 | 2,092 |"),
        ("bf16", 16, None, "| 16 | 13.6 | – | 17.7 | 7.65 | 1,175 | 2,092 |"),
        ("bf16+compile+graphs", 16, "no compiler", "| 16 | 13.6 | 17.5 | 17.7 | – | 1,175 | 1,175 |"),
        ("fp32", 16, "out of memory", "| 16 | – | 17.5 | 17.7 | 7.65 | – | 2,092 |"),
    ],
)
def test_a_way_that_failed_is_a_dash(entries, way, size, reason, row):
    lines = table("indicator-batches", without(entries["cuda"], way, size, reason))
    assert lines[2] == row
    assert lines[-1].endswith(" A dash: this way failed; the reason is in the same file.")
    assert "A dash" not in table("indicator-batches", entries["cuda"])[-1]


def test_batch_size_that_always_failed_has_a_row(entries):
    entry = entries["cuda"]
    for way in {row["way"] for row in entry["rows"]}:
        entry = without(entry, way, 16, "out of memory")
    lines = table("indicator-batches", entry)
    assert lines[2] == "| 16 | – | – | – | – | – | – |"


def test_a_level_that_is_missing_is_a_dash():
    found = on_the_gpu_of_the_page()
    for (size, batch_size), benchmark in found.items():
        cpu, gpu, bf16, compiled = benchmark.rows
        bf16 = {"level": bf16["level"], "status": "unavailable", "reason": f"no room for {size}"}
        kept = [gpu, bf16, compiled] if size == "large" else [cpu, gpu, bf16]
        found[size, batch_size] = files.Benchmark(benchmark.path, benchmark.content | {"rows": kept})
    lines = table("indicator-sizes", indicator_sizes.of_machine(found))
    assert lines[2] == "| `small` | 36,130 | 64 | 11.8 | 7.57 | – | – | 1.6 |"
    assert lines[5] == "| `large` | 152,558,978 | 16 | – | 47.8 | – | 24.5 | – |"
    assert "`cuda+bf16` is not available here: `no room for large`." in lines[-1]


def test_levels_of_any_device_have_a_heading():
    data = indicator_sizes.of_machine(on_the_gpu_of_the_page())

    def heads(*levels):
        head, *_ = table("indicator-sizes", data | {"levels": indicator_sizes.levels(levels)})
        return head.split(" | ")[3:-1]

    assert heads("cpu", "mps", "mps+bf16") == ["CPU, ms", "GPU, ms", "bf16, ms"]
    assert heads("cpu", "cpu+bf16", "mps+fp16") == ["CPU, ms", "`cpu+bf16`, ms", "`mps+fp16`, ms"]
    assert heads("cuda", "mps") == ["`cuda`, ms", "`mps`, ms"]


def test_the_table_shows_every_way_that_is_measured(entries):
    ways = dict.fromkeys(row["way"] for entry in entries.values() for row in entry["rows"])
    assert list(ways) == list(table_templates.files()["tables"]["benchmarks"]["words"]["ways"])


def test_speeds_follow_from_the_times(entries):
    for entry in entries.values():
        rows = measured(entry).values()
        assert len(rows) > 5
        for row in rows:
            assert row["samples_per_s"] == pytest.approx(1e3 * row["batch_size"] / row["step_ms"], rel=3e-3)
            assert row["low_ms"] <= row["step_ms"] <= row["high_ms"]


def test_cpu_is_faster_in_bf16_and_slower_compiled(entries):
    rows = {key: row["step_ms"] for key, row in measured(entries["cpu"]).items()}
    for size in (16, 32, 64):
        assert 1.7 < rows[size, "fp32"] / rows[size, "bf16"] < 2.3
        assert rows[size, "bf16+compile"] > rows[size, "bf16"]


def test_the_stored_evaluation_is_of_the_default_run():
    """Its provenance names commands that can be repeated, and nobody's own folders."""
    stored = json.loads((RESULTS / "indicator_evaluation.json").read_text(encoding="utf-8"))
    assert stored["trained_by"].startswith("python examples/indicator_transformer/train.py")
    assert stored["provenance"]["command"].startswith("python examples/indicator_transformer/evaluate.py")
    assert stored["checkpoint"] == "runs/market/checkpoints/best.pt"
    assert stored["provenance"]["cpu_threads"] == 1
    losses = stored["losses"]
    assert losses["best"] < losses["network"] < losses["blind"] < losses["frequency"]
