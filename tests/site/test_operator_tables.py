"""The operator tables agree with what simulates the device, with the installed PyTorch and with the page."""

import json
import re
from pathlib import Path

import operator_tables as page
import pytest
from bs4 import BeautifulSoup
from data_tables import render

from snippets.operator_support import (
    ELSEWHERE,
    FALLS_BACK,
    HAS_KERNEL,
    MISSING,
    installed_list,
    read_operators,
    support,
)
from tools.measuring.operator_tables import Release, registered_for_mps, write, write_simulated

ROOT = Path(__file__).resolve().parents[2]
KERNELS = json.loads((ROOT / "tests/simulated_mps/simulated_mps/kernels.json").read_text(encoding="utf-8"))
DATA = page.tables()
NEWEST = list(DATA["releases"])[-1]


def base(name):
    return name.partition(".")[0]


def test_releases_and_counts_are_those_of_the_simulated_device():
    assert list(DATA["releases"]) == list(KERNELS["releases"])
    for position, (release, found) in enumerate(DATA["releases"].items()):
        assert {key: found[key] for key in ("version", "commit")} == KERNELS["releases"][release]
        assert found["mps"] == sum(marks[position] == "x" for marks in KERNELS["kernels"].values())
    assert found["missing"] == len(DATA["missing"])
    last = render("operators-counts", "zh").splitlines()[-1]
    assert last == "| {version} | {entries:,} | {mps} | {cuda:,} | {cuda_only} | {missing} |".format(**found)


def test_changed_operators_are_those_of_the_simulated_device():
    expected = {name: marks for name, marks in KERNELS["kernels"].items() if set(marks) != {"x"}}
    assert {name: marks.replace(".", "-") for name, marks in DATA["changed"].items()} == expected
    always = {base(name) for name, marks in KERNELS["kernels"].items() if set(marks) == {"x"}}
    assert set(DATA["kernel"]) == always
    assert not set(DATA["missing"]) & KERNELS["kernels"].keys()  # in none of the releases


def test_the_installed_pytorch_agrees():
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith(NEWEST + "."):
        pytest.skip(f"the tables end with PyTorch {NEWEST}, here is {torch.__version__}")
    operators = read_operators(installed_list())
    newest = DATA["releases"][NEWEST]
    assert len(operators) == newest["entries"]
    devices = [operators[operator.delegate or operator.name].keys for operator in operators.values()]
    assert sum("CUDA" in keys for keys in devices) == newest["cuda"]
    assert sum("CUDA" in keys and "MPS" not in keys for keys in devices) == newest["cuda_only"]
    answers = {name: support(name, operators) for name in operators}
    assert sum(answer == HAS_KERNEL for answer in answers.values()) == newest["mps"]
    assert {name for name, answer in answers.items() if answer in (MISSING, FALLS_BACK)} == set(
        DATA["missing"]
    )
    elsewhere = {base(name) for name, answer in answers.items() if answer == ELSEWHERE}
    assert elsewhere == set(DATA["elsewhere"])


def test_no_operator_is_left_out():
    """Whoever types a name of the installed PyTorch finds it."""
    pytest.importorskip("torch")
    listed = {base(name) for group in ("changed", "missing", *page.LISTS) for name in DATA[group]}
    unknown = {base(name) for name in read_operators(installed_list())} - listed
    assert len(unknown) < 40, "another PyTorch than the newest of the table has some others"
    parts = (DATA["changed"], dict.fromkeys(DATA["missing"], "-"))
    rows = [name for part in parts for row in page.group(part) for name in row.names]
    assert sorted(rows) == sorted([*DATA["changed"], *DATA["missing"]])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_changed_operators_have_a_column_for_every_release(language):
    table = BeautifulSoup(page.TABLES["operators-changed"](language), "html.parser")
    heads = [head.get_text() for head in table.select("th")]
    assert heads[1:] == list(DATA["releases"])
    rows = table.select("tbody tr")
    assert len(rows) == len(page.group(DATA["changed"]))
    assert {len(row.select("td")) for row in rows} == {len(heads)}


def test_replacements_come_first_and_other_hardware_last():
    table = BeautifulSoup(page.TABLES["operators-missing"]("en"), "html.parser")
    rows = [[cell.get_text() for cell in row.select("td")] for row in table.select("tbody tr")]
    assert len(rows) == len(page.group(dict.fromkeys(DATA["missing"], "-")))
    cpu, texts = page.TEXT["en"]["cpu"], [text for _, text in rows]
    first = texts.index(cpu)
    assert len(table.select("td a")) == first  # links stand in the first rows and nowhere else
    assert all(texts)
    assert any(name.startswith("linalg_eig") for name, _ in rows[:first])


def test_variants_share_a_row_only_with_equal_marks():
    entries = {"a.out": "x-", "a_": "x-", "a": "x-", "_a_backward": "--", "a.dtype": "--", "b": "x-"}
    rows = [(row.names, row.marks) for row in page.group(entries)]
    assert rows == [(("a", "a_", "a.out"), "x-"), (("_a_backward", "a.dtype"), "--"), (("b",), "x-")]


def test_families_match_something():
    names = {base(name) for name in DATA["missing"]}
    for entry in page.families():
        assert any(re.fullmatch(entry["names"], name) for name in names), entry["names"]
    assert page.family("linalg_eig.out")[1]["link"] == "eig"
    assert page.family("mode")[1] is None


def test_every_page_stays_small(built_site):
    for path in ("reference/operators/index.html", "zh/reference/operators/index.html"):
        assert (built_site / path).stat().st_size < 150_000


def release(version, text, tmp_path, in_python=()):
    path = tmp_path / "native_functions.yaml"
    path.write_text(text, encoding="utf-8")
    return Release(version, "c0ffee", read_operators(path), frozenset(in_python))


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ('_lib = Library("aten", "IMPL")\n_lib.impl("native_group_norm", f, "MPS")\n', {"native_group_norm"}),
        (
            'mps = torch.library.Library("aten", "IMPL", "MPS")\nmps.impl("aten::solve.out", f)\n',
            {"solve.out"},
        ),
        ('cpu = Library("aten", "IMPL", "CPU")\ncpu.impl("aten::solve", f)\n', set()),
        ('lib = Library("aten", "IMPL")\nlib.impl("solve", f, "CUDA")\n', set()),
    ],
)
def test_registrations_in_python_are_found_however_they_are_written(code, names):
    assert registered_for_mps(code) == names


def test_what_python_composes_counts_for_every_release_that_does():
    """torch/_refs/linalg/__init__.py registers linalg_lu_solve.out in the wheels of 2.10 to 2.13."""
    assert list(DATA["releases"])[1:5] == ["2.10", "2.11", "2.12", "2.13"]
    assert DATA["changed"]["linalg_lu_solve.out"] == DATA["changed"]["linalg_lu_solve"] == "-ccccxx"


def test_tables_are_made_from_the_lists(tmp_path):
    both = "- func: both(Tensor self) -> Tensor\n  dispatch:\n    CUDA, MPS: both\n"
    parts = "- func: parts(Tensor self) -> Tensor\n"
    late = "- func: late.out(Tensor self) -> Tensor\n  dispatch:\n    CUDA: late\n"
    tail = "- func: tail(Tensor self) -> Tensor\n  dispatch:\n    CPU: tail\n"
    delegated = "- func: late(Tensor self) -> Tensor\n  structured_delegate: late.out\n"
    old = release("2.9.1", both + late + delegated + tail, tmp_path, {"late.out"})
    new = release("2.10.0", both + parts + late.replace("CUDA:", "CUDA, MPS:") + delegated + tail, tmp_path)
    write([old, new], tmp_path / "operators.json")
    written = json.loads((tmp_path / "operators.json").read_text(encoding="utf-8"))
    assert written["marks"] == {"xx": "both", "cx": "late late.out", ".c": "parts", "oo": "tail"}
    tables = page.grouped(written)
    assert list(tables["releases"]) == ["2.9", "2.10"]
    assert tables["releases"]["2.9"] | {"version": 0, "commit": 0} == {
        **{"version": 0, "commit": 0, "entries": 4, "mps": 1, "cuda": 3, "cuda_only": 2, "missing": 0}
    }
    assert tables["changed"] == {"late": "cx", "late.out": "cx"}  # late uses what late.out has
    assert (tables["missing"], tables["kernel"]) == ([], ["both"])
    assert (tables["composed"], tables["elsewhere"]) == (["parts"], ["tail"])
    write_simulated([old, new], tmp_path / "kernels.json")
    simulated = json.loads((tmp_path / "kernels.json").read_text(encoding="utf-8"))
    assert simulated["kernels"] == {"both": "xx", "late": "cx", "late.out": "cx"}
    assert simulated["releases"]["2.9"] == {"version": "2.9.1", "commit": "c0ffee"}


def test_releases_before_those_of_the_page_are_left_out(tmp_path):
    listed = "- func: one(Tensor self) -> Tensor\n  dispatch:\n    {}: one\n"
    found = [
        release("2.8.0", listed.format("CUDA"), tmp_path),
        release("2.9.1", listed.format("CUDA, MPS"), tmp_path),
    ]
    write(found, tmp_path / "operators.json")
    tables = page.grouped(json.loads((tmp_path / "operators.json").read_text(encoding="utf-8")))
    assert list(tables["releases"]) == ["2.9"] and tables["changed"] == {} and tables["kernel"] == ["one"]
