"""The table of batch sizes shows what was measured, and the page says no more than it shows."""

from pathlib import Path

import pytest
import yaml

from tools.measure_indicator_batches import DATA, WAYS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "en" / "examples" / "indicator-transformer" / "index.md"


@pytest.fixture
def table(import_hook):
    return import_hook("indicator_batches")


@pytest.fixture(scope="module")
def entries():
    return {entry["device"]: entry for entry in yaml.safe_load(DATA.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def on_the_gpu(entries):
    return {(row["batch_size"], row["way"]): row for row in entries["cuda"]["rows"]}


def test_the_table_has_a_row_for_each_device_and_size(table, entries):
    lines = table.render("en").splitlines()
    assert lines[2].startswith("| NVIDIA H200 | 16 | 13.6 | 17.5 | 17.7 | 7.65 | 1,175 | 2,092 |")
    assert sum(line.startswith("| NVIDIA H200") for line in lines) == 6
    assert sum(line.startswith("| 2 x86-64 CPU cores") and "| – |" in line for line in lines) == 3
    assert all(entry["command"] in lines[-1] for entry in entries.values())


def test_languages_agree(table, assert_same_shape_and_figures):
    assert_same_shape_and_figures(table.render("en"), table.render("zh"))


def test_the_hook_shows_every_way_that_is_measured(table):
    assert tuple(WAYS) == table.WAYS


def test_speeds_follow_from_the_times(entries):
    for entry in entries.values():
        for row in entry["rows"]:
            assert row["samples_per_s"] == pytest.approx(1e3 * row["batch_size"] / row["step_ms"], rel=3e-3)
            assert row["low_ms"] <= row["step_ms"] <= row["high_ms"]


def test_the_page_says_what_was_measured(on_the_gpu):
    def ratio(slow, fast):
        return on_the_gpu[slow]["step_ms"] / on_the_gpu[fast]["step_ms"]

    graphs = "bf16+compile+graphs"
    assert f"{ratio((128, 'fp32'), (16, 'fp32')):.2f}" == "1.35"
    assert f"{ratio((512, 'fp32'), (512, 'bf16')):.1f}" == "2.7"
    assert f"{ratio((16, 'fp32'), (16, graphs)):.1f}" == "1.8"
    assert f"{ratio((256, 'fp32'), (256, graphs)):.1f}" == "5.0"
    starts = [row["first_step_s"] for (_, way), row in on_the_gpu.items() if way == graphs]
    assert (round(min(starts)), round(max(starts))) == (12, 16)
    page = PAGE.read_text(encoding="utf-8")
    for text in ("1.35 times as long", "2.7 times as fast", "1.8 times as fast", "5.0 times", "12 to 16 s"):
        assert text in page


def test_a_cpu_with_bf16_in_hardware_is_faster_with_it_and_slower_compiled(entries):
    rows = {(row["batch_size"], row["way"]): row["step_ms"] for row in entries["cpu"]["rows"]}
    for size in (16, 32, 64):
        assert 1.7 < rows[size, "fp32"] / rows[size, "bf16"] < 2.3
        assert rows[size, "bf16+compile"] > rows[size, "bf16"]
