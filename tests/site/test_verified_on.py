"""The page of reports from Macs, with none, one and two reports."""

import re
from pathlib import Path
from types import SimpleNamespace

import code_badges
import data_tables
import mac_reports
import pytest
import step_pages
import verified_on
import wrong_results
from mkdocs.exceptions import PluginError

from tests.mac_reports import reading, report, without_steps, write

ROOT = Path(__file__).resolve().parents[2]
PAGE = SimpleNamespace(file=SimpleNamespace(src_uri="en/project/verified-on.md"), meta={})


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """Yield the folder of reports that the page reads."""
    with reading(tmp_path / "macs"):
        yield tmp_path / "macs"


def rows(text):
    """Return the rows of the first table and of that of speeds."""
    first, *_, last = re.split(r"^## ", text, flags=re.MULTILINE)
    return [line for line in f"{first}\n{last}".splitlines() if line.startswith(("| M1", "| M3"))]


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
    write(folder, "a.json", without_steps())
    text = verified_on.render(language)
    (row, speed) = rows(text)
    assert row == f"| M3 Pro{mark} | 18 | 36 | 26.1 | 2.15.0 | 9 | 1 | 2026-11-27 |"
    assert "<br>" in speed and speed.count("GFLOP") == 2
    name = "[`190060 EmbeddingBag with include_last_offset`](../reference/wrong-results.md#report-190060)"
    (difference,) = [found for found in text.splitlines() if found.startswith("- ")]
    assert difference.startswith(f"- {name}") and difference.endswith(line)
    assert '<small id="report-190060">' in wrong_results.render(language)


def test_two_reports_stand_beside_each_other(folder):
    other = without_steps(
        chip="Apple M1", macos="15.6", torch="2.14.1", power="Battery Power, `low` |", gpu_cores=0
    )
    other["compared_with"] = "2.14"
    other["checks"][8] |= {"expected": "right", "agrees": True}
    other["counts"]["wrong results"] |= {"as said": 3, "differ": 0}
    fast = other["checks"][-1]
    fast["figures"] |= {"lowest": 2.0, "median": 2.5, "highest": 3.25, "gflop": 17.18}
    del other["checks"][-2]
    other["counts"]["speed"] |= {"tried": 1, "nothing said": 1, "found": {"measured": 1}}
    write(folder, "a.json", without_steps())
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
    assert mac_reports.code("a\n# b", "`<script>`\t") == "`` a # b: `<script>` ``"


def test_pages_of_the_checks():
    names = {("device", "torch.accelerator"): "device.md", ("device", "float64"): "precision.md"}
    names |= {
        ("operators", "torch.take(c(9), i(4))"): "operators.md",
        ("wrong results", "1 a"): "-results.md",
    }
    names[("memory", "256 MB")] = "verify-your-mac.md"
    for (group, name), page in names.items():
        assert step_pages.of_check({"group": group, "name": name}).endswith(page)


@pytest.mark.parametrize(
    "table", ["verified-on", "wrong-results", "claims", "operators-changed", "error-messages-dtypes"]
)
def test_a_wrong_report_ends_the_build(folder, table, monkeypatch):
    write(folder, "a.json", report())
    monkeypatch.setattr(mac_reports, "WITH_SIMULATED", False)
    with pytest.raises(PluginError) as raised:
        data_tables.on_page_markdown(f"<!-- table: {table} -->", PAGE, None, None)
    assert str(raised.value).endswith("docs/data/macs/a.json: it is of the simulated device, not of a Mac")
    assert "\n" not in str(raised.value)


def test_a_wrong_report_ends_any_build(folder, tmp_path):
    write(folder, "a.json", {})
    config = SimpleNamespace(config_file_path=str(tmp_path / "mkdocs.yml"), extra={})
    with pytest.raises(PluginError, match=r"^en/project/verified-on\.md: docs/data/macs/a\.json: no report"):
        code_badges.on_page_markdown("", PAGE, config, None)


@pytest.mark.parametrize(
    ("language", "differences", "counted", "speed"),
    [
        (
            "en",
            [
                "[`snippets/recipes/precision.py`](../guides/precision.md#precision): expected "
                "`exit code 0`, found `` exit code 1: RuntimeError: `bf16` | <b>is</b> not here ``",
                "[`snippets/recipes/fp16_scaler.py`](../guides/precision.md#scaler): expected `ran`, "
                "found `hung`",
                "[`fallback-forces-cpu`](../facts/claims.md#fallback-forces-cpu): expected `^mps$`, "
                "found `cpu`",
                "[`mps+bf16`](../guides/benchmarking.md): expected `measured`, found `exit code 1`",
            ],
            "| 2 of 5 | 1 of 2 | 1 of 2 | 1 of 2 | 2 |",
            "| 432 (410 to 440) samples/s | 62.2 (61 to 70) samples/s | failed | – |",
        ),
        (
            "zh",
            [
                "[`bfloat16-not-supported`](../reference/error-messages/dtypes.md#bfloat16-not-supported)"
                "：预期 `BFloat16 is not supported on MPS`，实际 `TypeError: BFloat16 is there`",
                "[`indicator_transformer: stopped and resumed`](../examples/indicator-transformer/index.md)"
                "：预期 `the losses of a run that was not stopped`，实际 "
                "`step 13: 0.6931 in place of 0.6917`",
            ],
            "| 2 / 5 | 1 / 2 | 1 / 2 | 1 / 2 | 2 |",
            "| 432（410 到 440）samples/s | 62.2（61 到 70）samples/s | 失败 | – |",
        ),
    ],
)
def test_what_verify_mac_adds(folder, language, differences, counted, speed):
    write(folder, "a.json", report())
    text = verified_on.render(language)
    lines = text.splitlines()
    assert {f"- {line}" for line in differences} <= set(lines)
    assert sum(line.startswith("- [") for line in lines) == 1 + 7 + 1  # of checks, of steps, a system as said
    assert rows(text)[0].split(" | ")[5:7] == ["14", "8"]
    assert [line for line in lines if line.endswith(counted)]
    assert [line for line in lines if line.endswith(speed)]
    assert "`largest difference: 1.2e-05`" in text
    stopped = report()
    stopped["handbook"] |= {"complete": False, "full": True}
    write(folder, "a.json", stopped)
    again = verified_on.render(language)
    assert {"en": "; not complete |", "zh": "；没有试完 |"}[language] in again
    assert "`--full` |" in again and "`--full` |" not in text  # its training is a larger one


def test_empty_cells_of_the_table_invite(folder):
    other = without_steps(chip="Apple M1", macos="15.6", torch="2.14.1", gpu_cores=7, memory_gb=8.0)
    other["compared_with"] = "2.14"
    write(folder, "a.json", report())
    write(folder, "b.json", other)
    write(folder, "c.json", without_steps(macos="26.0", memory_gb=18.0))
    _, text, *_ = re.split(r"^## ", verified_on.render("en"), flags=re.MULTILINE)
    invite = "[verify yours](../start/verify-your-mac.md)"
    assert text.split("\n\n")[3].splitlines() == [
        "| Chip | macOS 15, PyTorch 2.14 | macOS 26, PyTorch 2.15 |",
        "| --- | --- | --- |",
        f"| M1 (simulated) | [9 of 10](#m1-7-8-15-6-2-14-1) | {invite} |",
        f"| M3 Pro (simulated) | {invite} | "
        "[9 of 10](#m3-pro-18-18-26-0-2-15-0)<br>[14 of 22](#m3-pro-18-36-26-1-2-15-0) |",
        f"| another chip | {invite} | {invite} |",
    ]


def test_each_recipe_leads_to_its_page():
    recipes = [path.name for path in (ROOT / "snippets/recipes").glob("*.py")]
    for language in ("en", "zh"):
        for name in recipes:
            step = {"kind": "recipe", "name": f"snippets/recipes/{name}"}
            assert step_pages.of_step(step, language) != step_pages.VERIFY
    assert len(recipes) > 20
    gone = {"kind": "block", "name": "snippets/shell/gone.sh:part"}
    assert step_pages.of_step(gone, "en") == step_pages.VERIFY
