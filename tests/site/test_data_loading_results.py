"""What the page about data loading says of measurements is what they are."""

import re
from datetime import date
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "data" / "results"
PROVENANCE = {"machine", "versions", "date", "command"}


def read(name):
    return yaml.safe_load((RESULTS / f"{name}.yaml").read_text(encoding="utf-8"))


def test_augmentation_of_a_whole_batch_is_ten_times_as_fast():
    entries = read("augmentation")
    assert entries
    for entry in entries:
        assert entry.keys() >= PROVENANCE
        assert isinstance(entry["date"], date)
        assert entry["pairs"] >= 30
        for name in ("whole_batch", "image_by_image", "ratio"):
            assert 0 < entry[name]["low"] <= entry[name]["median"] <= entry[name]["high"]
        assert entry["ratio"]["median"] >= 10
        quotient = entry["image_by_image"]["median"] / entry["whole_batch"]["median"]
        assert entry["ratio"]["median"] == pytest.approx(quotient, rel=0.5)  # medians of pairs, not of sides


@pytest.fixture
def tables(import_hook):
    return import_hook("data_loading_tables")


def test_augmentation_table(tables):
    line = next(line for line in tables.augmentation("en").splitlines() if line.startswith("| `cpu`"))
    cpu = next(entry for entry in read("augmentation") if entry["device"] == "cpu")
    numbers = [float(number) for number in re.findall(r"[\d.]+", line)]
    assert numbers[:3] == pytest.approx(
        [1e3 * cpu["whole_batch"][n] for n in ("median", "low", "high")], abs=6e-3
    )
    assert numbers[6] == pytest.approx(cpu["ratio"]["median"], abs=0.5)


def test_what_the_page_concludes_from_the_workers(tables):
    data = read("data_loading")["loader_workers"]
    assert data.keys() >= PROVENANCE
    none, one, two = data["rows"]
    assert [row["workers"] for row in data["rows"]] == [0, 1, 2]
    assert one["samples_per_s"] == pytest.approx(none["samples_per_s"], rel=0.1)  # no faster than none
    assert two["samples_per_s"] == pytest.approx(2 * none["samples_per_s"], rel=0.1)  # twice as fast
    assert two["first_batch"] == pytest.approx(1.5, abs=0.3)  # the start costs one and a half seconds
    assert "| 2 | 1.51 s | 935 |" in tables.loader_workers("zh")
