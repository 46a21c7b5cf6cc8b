"""What the box of operators answers agrees with the marks, with the installed PyTorch and with the pages."""

import gzip
import json
import re
from pathlib import Path

import operator_finder as finder
import operator_states as page
import pytest
from operator_tables import family
from origins import DATA

from snippets.operator_support import installed_list, read_operators

ROOT = Path(__file__).resolve().parents[2]
SERIES = page.series()
NEVER = "No MPS kernel in any release up to 2.15"


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ("x" * 18, "MPS kernel since 1.12."),
        ("-" * 13 + "x" * 5, "MPS kernel since 2.11."),
        ("." * 3 + "x" * 15, "MPS kernel since 2.1."),
        ("c" * 15 + "xxx", "MPS kernel since 2.13. Before that, it was composed of other operators."),
        (
            "xx" + "-" * 15 + "x",
            "MPS kernel since 2.15. It also had one in 1.12 to 1.13, but not in between.",
        ),
        ("--" + "c" * 16, "Composed of other operators since 2.0: it works if"),
        (".." + "c" * 16, "Composed of other operators: it works if"),
        ("xx" + "c" * 16, "It had an MPS kernel in 1.12 to 1.13."),
        (
            "-" * 9 + "x" * 7 + "..",
            "No longer an operator of PyTorch since 2.14. It had an MPS kernel in 2.7 to",
        ),
        ("-" * 18, f"{NEVER}: "),
        ("o" * 18, "No MPS kernel for ordinary tensors up to 2.15, and none of CUDA"),
    ],
)
def test_a_series_becomes_a_sentence(marks, said):
    assert len(page.releases()) == len(marks)
    assert said in page.sentence("mode", marks, "en")
    assert page.sentence("mode", marks, "zh")


def test_each_sentence_is_true_of_the_marks():
    """Read back: the release in a sentence is the first of the last run of kernels; "never" means never."""
    states = page.states("en")
    for bases in states["stems"].values():
        for base, found in bases.items():
            for overload, number in found.items() if isinstance(found, dict) else [(None, found)]:
                names = [base] if overload == "" else [f"{base}.{overload}"]
                if overload is None:
                    names = [name for name in SERIES if name.partition(".")[0] == base]
                for name in names:
                    check(states["sentences"][number], SERIES[name])


def check(said, marks):
    """Compare a sentence with the marks of an entry."""
    releases = page.releases()
    if found := re.match(r"MPS kernel since ([\d.]+)\.", said):
        first = releases.index(found[1])
        assert set(marks[first:]) == {"x"} and marks[:first][-1:] != "x"
        assert ("It also had one" in said) == ("x" in marks[:first])
    elif said.startswith("No MPS kernel"):
        assert "x" not in marks and marks[-1] in "-o"
    elif said.startswith("No longer"):
        assert marks[-1] == "." and ("had an MPS kernel" in said) == ("x" in marks)
    else:
        assert said.startswith("Composed") and marks[-1] == "c"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_answers_are_small_and_complete(language):
    answers = finder.answers(language)
    text = json.dumps(answers, ensure_ascii=False, separators=(",", ":"))
    assert len(gzip.compress(text.encode())) <= 25_000
    assert "{cure}" not in text and "{since}" not in text and "{first}" not in text
    bases = {name.partition(".")[0] for name in SERIES}
    assert {base for stem in answers["stems"].values() for base in stem} == bases
    assert {used.partition(".")[0] for names in answers["calls"].values() for used in names.split()} <= bases


@pytest.mark.parametrize("language", ["en", "zh"])
def test_links_of_answers_lead_to_sections(language):
    text = json.dumps(finder.answers(language)) + finder.replacement_table(language) + finder.finder(language)
    places = set(re.findall(r'href=\\?"@home/([\w/-]+?)/(?:#([\w-]+))?\\?"', text))
    assert len(places) > 12
    for name, anchor in places:
        if name.startswith("reference/error-messages"):
            continue  # made from data: docs/data/error_messages/
        source = (ROOT / "docs" / language / f"{name}.md").read_text(encoding="utf-8")
        assert not anchor or f"{{ #{anchor} }}" in source, (name, anchor)
    assert "id: torchvision-nms-not-implemented" in (DATA / "error_messages/operators.yaml").read_text()


def test_what_is_sent_to_the_cpu_has_code_there():
    pytest.importorskip("torch")
    operators = read_operators(installed_list())
    sent = [
        name
        for name, marks in SERIES.items()
        if name in operators and "x.cpu()" in page.sentence(name, marks, "en")
    ]
    assert len(sent) > 25
    for name in sent:
        operator = operators[operators[name].delegate or name]
        assert any(key.endswith("CPU") or "Composite" in key for key in operator.keys), name


def test_every_missing_operator_that_modules_call_has_a_cure():
    for caller, used in page.calls().items():
        for name in used:
            if SERIES[name][-1] == "-":
                entry = family(name)[1]
                assert entry is None or entry.get("use") or entry.get("cpu"), (caller, name)


def test_replacements_are_short_and_lead_to_code():
    rows = page.replacements("en")
    assert 15 <= len(rows) <= 25
    assert any("linalg_eig" in row["names"] for row in rows)
    for row in rows:
        assert row["sentence"].startswith(("none up to 2.15: <a ", "MPS kernel since 2."))
    lines = finder.replacement_table("zh").splitlines()
    assert len(lines) == len(rows) + 2 and all(line.count("|") == 4 for line in lines)


def test_the_way_home_is_put_in_at_any_depth():
    class Page:
        url = "reference/error-messages/operators/"

    html = finder.on_page_content(finder.finder("en"), Page(), None, None)
    assert 'data-home="../../../"' in html and 'href="../../../reference/operators/"' in html
    assert "@home" not in html
    Page.url = "reference/operators/"
    assert "<a " not in finder.on_page_content(finder.finder("en"), Page(), None, None)
    Page.url = ""
    assert 'data-home="./"' in finder.on_page_content(finder.finder("en"), Page(), None, None)


def test_calls_are_those_of_the_installed_pytorch():
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith(page.releases()[-1] + "."):
        pytest.skip(f"recorded with PyTorch {page.releases()[-1]}, here is {torch.__version__}")
    from tools.measuring.operator_calls import calls

    assert calls() == {name: " ".join(used) for name, used in page.calls().items()}


def test_what_is_left_out_of_calls_was_never_missing():
    pytest.importorskip("torch")
    from tools.measuring.operator_calls import EVERYWHERE, ON_MPS

    for base in EVERYWHERE:
        variants = [marks for name, marks in SERIES.items() if name.partition(".")[0] == base]
        assert any(set(marks[2:]) <= {"x", "c"} for marks in variants), base  # from 2.0 on
    assert all(SERIES[name][-1] == "x" for used in ON_MPS.values() for name in used.split())
