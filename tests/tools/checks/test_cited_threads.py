"""A second citation of a thread that drops a restriction is found, and stays found until it is reviewed."""

import pytest

from tools.checks import cited_threads
from tools.checks.cited_threads import REVIEWED, Citation, check, citations, differences, main, restrictions

CASES = """\
cases:
- what: {en: Random in-place operations on tensors that are not contiguous, zh: 原地随机操作}
  versions: {en: "macOS before 15", zh: 15 之前}
  state: {is: open}
  sources: [[pull, 165267], [issue, 5, other/one]]
"""
LINK = "[#165267](https://github.com/pytorch/pytorch/pull/165267)"
PAGE = "# Page { #page }\n\n## Errors { #errors }\n\n"
PLACE = "guides/a.md#errors: cites pytorch/pytorch#165267 without a restriction"


@pytest.fixture
def found(plant, tmp_path):
    """Return a function that writes a page and a list of reviews and returns the defects."""
    plant("docs/data/wrong_results.yaml", CASES)

    def defects(text, reviewed="", heading=PAGE):
        plant("docs/en/guides/a.md", heading + text + "\n")
        plant("docs/zh/guides/a.md", heading)
        plant(REVIEWED, reviewed)
        return check(tmp_path)[0]

    return defects


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        (f"| Random in-place operations did nothing on macOS before 15 | {LINK} |", "layout"),
        (f"Random in-place operations did nothing {LINK}.", "layout, macos"),
        (f"- Non-contiguous tensors stay as they are {LINK}.", "macos"),
    ],
)
def test_dropped_restrictions(found, text, lacking):
    assert found(text) == [f"{PLACE} ({lacking}) of wrong_results#165267"]


@pytest.mark.parametrize(
    "text",
    [
        f"Before macOS 15, non-contiguous tensors stay as they are {LINK}.",
        f"This concerns macOS before 15. Tensors that are not contiguous stay as they are {LINK}.",
        "Random operations: [another thread](https://github.com/pytorch/pytorch/pull/165268).",
        "The same number [elsewhere](https://github.com/other/one/pull/165267).",
    ],
)
def test_kept_restrictions_and_other_threads(found, text):
    assert found(text) == []


def test_lists_of_evidence_state_nothing(found):
    assert (
        found(
            f"Random in-place operations {LINK}.", heading="# Page { #page }\n\n## Evidence { #evidence }\n\n"
        )
        == []
    )


def test_restrictions_count_in_both_directions(found):
    (defect,) = found(f"Before macOS 15, non-contiguous tensors, in bf16 {LINK}.")
    assert defect.startswith("wrong_results#165267: cites")
    assert defect.endswith("without a restriction (dtype) of guides/a.md#errors")


def test_reviews(found):
    text, line = (
        f"Nothing happens on macOS 14 {LINK}.",
        "pytorch/pytorch#165267:\n  guides/a.md#errors: [{}]\n",
    )
    assert found(text, line.format("layout")) == []
    assert found(text, line.format("dtype, layout")) == []
    (defect,) = found(f"Nothing happens {LINK}.", line.format("layout"))
    assert defect == f"{PLACE} (macos) of wrong_results#165267"
    (defect,) = found(f"Before macOS 15, not contiguous {LINK}.", line.format("layout"))
    assert "nothing to review any more" in defect


def test_command_line(plant, tmp_path, capsys):
    plant("docs/data/wrong_results.yaml", CASES)
    assert main([], tmp_path) == 0
    assert "2 citations compared; 0 defects" in capsys.readouterr().out


@pytest.fixture(scope="module")
def real_citations():
    return citations()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("thread", "text", "lacking"),
    [
        ("pytorch/pytorch#165267", "Random in-place operations did nothing on macOS before 15", "layout"),
        ("pytorch/pytorch#193487", "Matrix product with an inner size above 32768, M1 and M2", "dimensions"),
        ("pytorch/pytorch#180776", "Other values with each call, in bf16 on M5, inputs of 3-D", "bias"),
    ],
)
def test_planted_among_the_real_citations(real_citations, thread, text, lacking):
    planted = Citation(thread, "planted", restrictions(text), restrictions(text))
    assert lacking in differences([*real_citations, planted])[thread, "planted"]


def test_citations_of_this_project(real_citations, monkeypatch):
    monkeypatch.setattr(cited_threads, "citations", lambda root: real_citations)
    defects, count = check()
    assert not defects, "\n".join(defects)
    assert count > 0
