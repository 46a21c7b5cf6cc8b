"""The page of reports from Macs, and the marks at the known wrong results, with none, one and two reports."""

import re
from types import SimpleNamespace

import data_tables
import pytest
import verified_on
import wrong_results
from mkdocs.exceptions import PluginError

from tests.mac_reports import report, write

PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="en/project/verified-on.md"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Let the page read a folder of reports of the simulated device, which the site itself refuses."""
    monkeypatch.setattr(verified_on, "FOLDER", tmp_path / "macs")
    monkeypatch.setattr(verified_on, "WITH_SIMULATED", True)
    return tmp_path / "macs"


def rows(text):
    return [line for line in text.splitlines() if line.startswith(("| M1", "| M3"))]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_a_report_two_sentences_invite(language):
    text = verified_on.render(language)
    assert "../start/verify-your-mac.md" in text and "|" not in text and "#" not in text
    assert len(re.findall(r"\.(?: |$)|。", text)) == 2
    assert not re.search(r"seen on M\d[^:]*, macOS|在 M\d.{,30} 上：", wrong_results.render(language))


@pytest.mark.parametrize(
    ("language", "mark", "line"),
    [
        ("en", " (simulated)", "expected `wrong`, found `right`"),
        ("zh", "（模拟）", "预期 `wrong`，实际 `right`"),
    ],
)
def test_a_report_is_a_row_with_its_difference(folder, language, mark, line):
    write(folder, "a.json", report())
    text = verified_on.render(language)
    (row, speed) = rows(text)
    assert row == f"| M3 Pro{mark} | 18 | 36 | 26.1 | 2.15.0 | 9 | 1 | 2026-11-27 |"
    assert "<br>" in speed and speed.count("GFLOP") == 2
    name = "[`190060 EmbeddingBag with include_last_offset`](../reference/wrong-results.md#report-190060)"
    (difference,) = [found for found in text.splitlines() if found.startswith("- ")]
    assert difference.startswith(f"- {name}") and difference.endswith(line)
    assert '<small id="report-190060">' in wrong_results.render(language)


def test_two_reports_stand_beside_each_other(folder):
    other = report(chip="Apple M1", macos="15.6", torch="2.14.1", power="Battery Power, `low` |", gpu_cores=0)
    other["compared_with"] = "2.14"
    other["checks"][8] |= {"expected": "right", "agrees": True}
    other["counts"]["wrong results"] |= {"as said": 3, "differ": 0}
    fast = other["checks"][-1]
    fast["figures"] |= {"lowest": 2.0, "median": 2.5, "highest": 3.25, "gflop": 17.18}
    del other["checks"][-2]
    other["counts"]["speed"] |= {"tried": 1, "nothing said": 1, "found": {"measured": 1}}
    write(folder, "a.json", report())
    write(folder, "b.json", other)
    for language, few, spread in (
        ("en", "Nothing differs.", "2.5 (2 to 3.25)<br>17.18 GFLOP"),
        ("zh", "没有不一致的结果。", "2.5（2 到 3.25）<br>17.18 GFLOP"),
    ):
        text = verified_on.render(language)
        assert [row.split(" | ")[1:7] for row in rows(text)[:2]] == [
            ["–", "36", "15.6", "2.14.1", "10", "0"],
            ["18", "36", "26.1", "2.15.0", "9", "1"],
        ]
        assert text.count("\n- ") == text.count(few) == 1
        first, second = rows(text)[2:]
        assert first.endswith(f"| {spread} | – |")
        assert "M3 Pro" in second and spread not in second


@pytest.mark.parametrize(
    ("language", "right", "wrong"),
    [
        (
            "en",
            "seen on M3 Pro (simulated), macOS 26.1, PyTorch 2.15.0: right",
            "PyTorch 2.15.0: **wrong** · [#127676]",
        ),
        (
            "zh",
            "在 M3 Pro（模拟），macOS 26.1，PyTorch 2.15.0 上：正确",
            "PyTorch 2.15.0 上：**错误** · [#127676]",
        ),
    ],
)
def test_a_known_wrong_result_tells_where_it_was_seen(folder, language, right, wrong):
    write(folder, "a.json", report())
    text = wrong_results.render(language)
    assert text.count(right) == 2 and text.count(wrong) == 1


def test_what_a_report_holds_cannot_leave_its_code():
    assert verified_on.code("a\n# b", "`<script>`\t") == "`` a # b: `<script>` ``"


def test_pages_of_the_checks():
    names = {("device", "torch.accelerator"): "device.md", ("device", "float64"): "precision.md"}
    names |= {
        ("operators", "torch.take(c(9), i(4))"): "operators.md",
        ("wrong results", "1 a"): "-results.md",
    }
    names[("memory", "256 MB")] = "verify-your-mac.md"
    for (group, name), page in names.items():
        assert verified_on.page_of({"group": group, "name": name}).endswith(page)


@pytest.mark.parametrize("table", ["verified-on", "wrong-results"])
def test_a_wrong_report_ends_the_build(folder, table, monkeypatch):
    write(folder, "a.json", report())
    monkeypatch.setattr(verified_on, "WITH_SIMULATED", False)
    with pytest.raises(PluginError) as raised:
        data_tables.on_page_markdown(f"<!-- table: {table} -->", PAGE, None, None)
    assert str(raised.value).endswith("docs/data/macs/a.json: it is of the simulated device, not of a Mac")
    assert "\n" not in str(raised.value)
