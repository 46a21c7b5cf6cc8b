"""The figures on the page about torch.compile are those that were measured."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = yaml.safe_load((ROOT / "docs/data/results/compile_check.yaml").read_text(encoding="utf-8"))


def in_16_bits_of_the_resnet(row):
    return row["network"] == "resnet" and row["format"] != "fp32"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_has_the_measured_figures(language):
    page = (ROOT / "docs" / language / "guides/compile.md").read_text(encoding="utf-8")
    (text,) = [line for line in page.splitlines() if "compile_check.yaml" in line]
    expected = {"4", "3", "5", "32", "16"}  # networks, formats, seeds; float32 and 16 bits
    expected |= {"200"} | {"2026", "11", "22"}
    for entry in ENTRIES:
        rows = entry["rows"]
        expected |= {str(sum(row["comparisons"] for row in rows))}
        expected |= {f"{100 * max(row['most_of_a_limit'] for row in rows):.0f}"}
        expected |= {entry["versions"]["torch"].partition("+")[0]}
        hard = [row for row in rows if in_16_bits_of_the_resnet(row)]
        expected |= {
            str(sum(row[name] for row in hard)) for name in ("gradients", "doubled", "zero", "reversed")
        }
    assert set(re.findall(r"\d+(?:\.\d+)*", text)) == expected


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["device"])
def test_what_the_page_says_without_figures_holds(entry):
    assert all(row["rejected"] == 0 for row in entry["rows"])
    easy = [row for row in entry["rows"] if not in_16_bits_of_the_resnet(row)]
    assert len(easy) == len(entry["rows"]) - 2
    for row in easy:
        assert {row["doubled"], row["zero"], row["reversed"]} == {row["gradients"]}
