"""What reports from Macs found stands beside code, operators, claims and messages; without one, nothing."""

import re
from pathlib import Path

import claims
import code_badges
import data_tables
import error_messages
import mac_marks
import operator_tables
import pytest
import verified_on
from bs4 import BeautifulSoup

from examples import verify_mac
from tests.mac_reports import reading, report, with_counts, without_steps, write
from tools.checks.page_code import pages
from tools.checks.sections import all_sections

ROOT = Path(__file__).resolve().parents[2]
DEVICE, PRECISION = ("snippets/recipes/device.py:recipe", "snippets/recipes/precision.py:recipe")
PRO = "M3 Pro (simulated), macOS 26.1, PyTorch 2.15"
DIFFERENCES = "@home/project/verified-on/#m3-pro-18-36-26-1-2-15-0"


@pytest.fixture
def folder(tmp_path):
    """Yield the folder of reports that the hooks read."""
    with reading(tmp_path / "macs"):
        yield tmp_path / "macs"


def other(date="2026-11-20", **machine) -> dict:
    """Return an older report of another Mac."""
    found = report(**{"chip": "Apple M1", "macos": "26.0", "gpu_cores": 7, "memory_gb": 8.0} | machine)
    return found | {"date": date}


def found_otherwise(content: dict, place: int, found: str, text: str = "") -> dict:
    """Return a report in which a check found something else."""
    content["checks"][place] |= {"found": found, "text": text, "agrees": False}
    return with_counts(content)


def lines_under(includes: list[str], language: str = "en") -> list[BeautifulSoup]:
    """Return the lines under blocks that show these sections."""
    markdown = "\n".join(f'```text\n--8<-- "{include}"\n```\n' for include in includes)
    made = code_badges.add_badges(markdown, code_badges.Facts(ROOT), language, "")
    return [BeautifulSoup(line, "html.parser") for line in made.splitlines() if "code-origin" in line]


def line_under(include: str, language: str = "en") -> BeautifulSoup:
    """Return the line under one block."""
    (line,) = lines_under([include], language)
    return line


def mac_badges(include: str, language: str = "en") -> list[str]:
    """Return the texts about Macs under a block."""
    return [badge.get_text() for badge in line_under(include, language).select("[class*=--mac]")]


@pytest.mark.slow
def test_without_a_report_pages_stay_as_they_are(folder, monkeypatch):
    def texts():
        tables = {
            (name, language): render(language)
            for name, render in data_tables.renderers().items()
            if name.startswith(("operators", "error-messages", "claims", "wrong-results", "verified-on"))
            for language in ("en", "zh")
        }
        known = code_badges.Facts(ROOT)
        markdown = {
            path: code_badges.add_badges(path.read_text(encoding="utf-8"), known, path.parts[-3], "")
            for path in pages(ROOT)
            if path.suffix == ".md" and path.parent.name in ("guides", "start")
            if path.parts[-3] in ("en", "zh")
        }
        return tables | markdown

    first = texts()
    assert len(first) > 100
    assert not [
        where for where, text in first.items() if re.search(r"mac-mark|badge--mac|@home/project", text)
    ]
    # Marks that fail when they are asked for anything: what is empty cannot change a page.
    monkeypatch.setattr(mac_marks, "badges", lambda runs, digest, language: [] if not runs else 1 / 0)
    for name in ("operators", "claims", "messages", "wrong_results"):
        monkeypatch.setattr(mac_marks, name, lambda language: {})
    monkeypatch.setattr(mac_marks, "operators_counted", lambda language: "")
    assert texts() == first


@pytest.mark.parametrize(
    ("language", "ran", "failed"),
    [
        ("en", f"ran on {PRO}", f"failed on {PRO}"),
        (
            "zh",
            "已在 M3 Pro（模拟），macOS 26.1，PyTorch 2.15 上运行",
            "在 M3 Pro（模拟），macOS 26.1，PyTorch 2.15 上失败",
        ),
    ],
)
def test_a_block_names_the_mac_that_ran_it(folder, language, ran, failed):
    write(folder, "a.json", report())
    assert mac_badges(DEVICE, language) == mac_badges("snippets/shell/which_mac.sh:mac", language) == [ran]
    for include in (PRECISION, "snippets/recipes/fp16_scaler.py:recipe"):
        line = line_under(include, language)
        assert [badge.get_text() for badge in line.select(".code-badge--mac-failed")] == [failed]
        assert [link["href"] for link in line.select(".code-badge a")] == [DIFFERENCES]
    assert mac_badges("snippets/recipes/compile.py:recipe", language) == []  # not tried
    assert mac_badges("snippets/recipes/memory.py:recipe", language) == []
    assert mac_badges("snippets/shell/memory_mac.sh:allocator", language) == []  # another section failed


def test_two_macs_are_named_and_others_counted(folder):
    write(folder, "a.json", other())
    write(folder, "b.json", report())
    assert mac_badges(DEVICE) == [f"ran on {PRO}; M1 (simulated), macOS 26.0, PyTorch 2.15"]
    write(folder, "c.json", other("2026-11-22", chip="Apple M4"))
    failing = other("2026-11-21", chip="Apple M2")
    failing["handbook"]["steps"][0] |= {"outcome": "failed"}
    write(folder, "d.json", failing)
    ran, failed = mac_badges(DEVICE)
    assert ran == f"ran on {PRO}; M4 (simulated), macOS 26.0, PyTorch 2.15 and 1 more"
    assert failed == "failed on M2 (simulated), macOS 26.0, PyTorch 2.15"
    links = [link["href"] for link in line_under(DEVICE).select(".code-badge--mac a")]
    assert links == ["@home/project/verified-on/"]
    assert mac_badges(DEVICE, "zh")[0].endswith("PyTorch 2.15 和另外 1 个环境上运行")


def test_links_of_marks_lead_to_the_differences(folder):
    write(folder, "a.json", found_otherwise(report(), 4, "there"))
    write(folder, "b.json", other())
    texts = [str(line_under(PRECISION)), data_tables.render("operators-missing", "en")]
    anchors = {
        anchor for text in texts for anchor in re.findall(r'"@home/project/verified-on/#([\w-]+)"', text)
    }
    assert anchors == set(re.findall(r"^### .* \{ #([\w-]+) \}$", verified_on.render("en"), re.MULTILINE))
    assert len(anchors) == 2


def test_code_that_changed_since_has_no_badge(folder):
    content = report()
    digest = all_sections(ROOT)[0][DEVICE].hash
    content["handbook"]["steps"][0]["figures"] = {"code": digest}
    content["handbook"]["steps"][1]["figures"] = {"code": "0" * 16}
    write(folder, "a.json", content)
    assert len(mac_badges(DEVICE)) == 1
    assert mac_badges(PRECISION) == []


@pytest.mark.slow
def test_what_is_copied_stays_what_it_was(folder):
    sections = [key for key in all_sections(ROOT)[0] if key.startswith("snippets/")]
    before = lines_under(sections)
    write(folder, "a.json", report())
    after = lines_under(sections)
    assert [line.span.attrs for line in before] == [line.span.attrs for line in after]
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 5  # ran or failed


def test_each_operator_has_a_place_in_the_tables():
    assert mac_marks.operator_of() == {op.call: op.name for op in verify_mac.OPERATORS}
    tables = operator_tables.tables()
    known = {
        *tables["changed"],
        *tables["missing"],
        *(name for key in operator_tables.LISTS for name in tables[key]),
    }
    assert set(mac_marks.operator_of().values()) <= known


@pytest.mark.parametrize(
    ("language", "counted", "mark"),
    [
        (
            "en",
            "agree with this page in 3 checks of operators and differ in 3",
            f"on {PRO}: expected there, found missing",
        ),
        (
            "zh",
            "有 3 项与本页一致，3 项不一致",
            "在 M3 Pro（模拟），macOS 26.1，PyTorch 2.15 上：预期 there，实际 missing",
        ),
    ],
)
def test_operators_are_marked_where_a_mac_differs(folder, language, counted, mark):
    content = found_otherwise(report(), 4, "there")
    content["checks"][5] |= {"name": "torch.take(c(9), i(4))", "expected": "there", "expected_text": ""}
    content = found_otherwise(content, 5, "missing", "not here")
    content["checks"][6] |= {"expected_text": "<b>this</b> text"}
    write(folder, "a.json", found_otherwise(content, 6, "missing", "another <i>"))
    write(folder, "b.json", without_steps(chip="Apple M1"))
    changed, missing = (data_tables.render(f"operators-{name}", language) for name in ("changed", "missing"))
    sentence, table = changed.split("\n\n")
    assert counted in sentence and "](../project/verified-on.md)" in sentence
    (row,) = [row for row in BeautifulSoup(table, "html.parser").select("tr") if row.select(".mac-mark")]
    assert row.code.get_text() == "take" and row.small.get_text() == "take.out"[4:]
    assert row.select_one(".mac-mark").get_text() == mark
    assert row.select_one(".mac-mark a")["href"] == DIFFERENCES
    rows = [row for row in BeautifulSoup(missing, "html.parser").select("tr") if row.select(".mac-mark")]
    assert [row.code.get_text() for row in rows] == ["_adaptive_avg_pool3d", "channel_shuffle"]
    assert (
        "<b>" not in missing and "&lt;b&gt;this&lt;/b&gt; text" in missing and "another &lt;i&gt;" in missing
    )


def test_an_operator_is_marked_in_a_list(folder):
    content = report()
    content["checks"][4] |= {"name": "F.gelu(x(99))", "expected": "there", "expected_text": ""}
    write(folder, "a.json", found_otherwise(content, 4, "wrong"))
    (item,) = BeautifulSoup(data_tables.render("operators-kernel", "en"), "html.parser").select(
        "li:has(.mac-mark)"
    )
    assert item.get_text() == f"geluon {PRO}: expected there, found wrong"


@pytest.mark.parametrize(
    ("language", "differ", "holds"),
    [
        (
            "en",
            f"**On {PRO}, the check finds something else:** expected `^mps$`, found `cpu`",
            "The check holds on M3 Pro (simulated).",
        ),
        (
            "zh",
            "**在 M3 Pro（模拟），macOS 26.1，PyTorch 2.15 上，核对结果不同：**预期 `^mps$`，实际 `cpu`",
            "在 M3 Pro（模拟） 上核对，结果成立。",
        ),
    ],
)
def test_claims_say_on_which_macs_they_hold(folder, language, differ, holds):
    write(folder, "a.json", report())
    blocks = {
        block.partition('id="')[2].partition('"')[0]: block
        for block in claims.render(language).split('<div class="claim"')[1:]
    }
    refuted, confirmed = blocks["fallback-forces-cpu"], blocks["automatic-mps"]
    assert refuted.index(differ) < refuted.index("<details") and holds not in refuted
    assert confirmed.index(holds) > confirmed.index("<details") and "**On" not in confirmed
    assert (
        sum(holds in block for block in blocks.values())
        == sum(differ in block for block in blocks.values())
        == 1
    )
    write(folder, "b.json", other())
    assert claims.render(language).count("`^mps$`") == 2  # one line for each Mac


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", f"**On {PRO}, the text was:** `TypeError: BFloat16 is there`"),
        ("zh", "**在 M3 Pro（模拟），macOS 26.1，PyTorch 2.15 上，报错是：**`TypeError: BFloat16 is there`"),
    ],
)
def test_another_text_of_a_message_is_shown(folder, language, line):
    write(folder, "a.json", report())
    text = data_tables.render("error-messages-dtypes", language)
    assert text.count(line) == text.count("M3 Pro") == 1
    assert text.index("{ #bfloat16-not-supported") < text.index(line) < text.index("{ #float8")
    content = report()
    (entry,) = [
        one for one in error_messages.topics()["dtypes"]["messages"] if one["id"] == "bfloat16-not-supported"
    ]
    step = next(step for step in content["handbook"]["steps"] if step["name"] == entry["id"])
    step["found"] = entry["text"]
    write(folder, "a.json", content)
    assert "M3 Pro" not in data_tables.render("error-messages-dtypes", language)
    step |= {"outcome": "hung", "found": "none"}
    write(folder, "a.json", content)
    text = data_tables.render("error-messages-dtypes", language)
    assert text.count("：**`hung`" if language == "zh" else ":** `hung`") == 1 and "`none`" not in text
