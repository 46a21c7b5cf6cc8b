"""The report as a gate: what fails a run, what is known, what is written, and the plugin's cost."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from simulated_mps import outputs
from simulated_mps.__main__ import main
from simulated_mps.errors import SimulationError
from simulated_mps.findings import Finding
from simulated_mps.gate import FAIL_ON, Gate
from simulated_mps.pytest_plugin import Expectation, release_of_device
from simulated_mps.reports import Report, from_json, to_json, together

HERE = Path("/project")
EIG = Finding("MISSING", "aten::linalg_eig", "/project/src/model.py", 12, "tests/test_a.py::test_b")
DOUBLE = Finding("refused Double", "", "/project/tests/test_a.py", 3, "tests/test_a.py::test_c")
ITEM = Finding("item", "", "/project/src/train.py", 40, "")
UNPLACED = Finding("wait", "aten::nonzero", "", 0, "")
SHADER = Finding("limit", "torch.mps.compile_shader", "/project/src/metal.py", 5, "")
COPY = Finding("cpu to mps", "", "/project/src/train.py", 41, "")


def report_of(findings, operators=None):
    return Report("2.13", 1, operators or {"aten::add.Tensor": 5}, findings, 100)


@pytest.fixture
def gate(tmp_path):
    """Return a function that makes a gate of options; the text of its baseline is in `tmp_path`."""

    def make(baseline=None, **options):
        given = {name.replace("_", "-"): value for name, value in options.items()}
        if baseline is not None:
            (tmp_path / "known.txt").write_text(baseline)
            given["baseline"] = str(tmp_path / "known.txt")
        return Gate(given.get, HERE)

    return make


def test_nothing_fails_unless_asked(gate):
    assert gate().failing(report_of({EIG: 1, ITEM: 1})) == []


def test_limits_of_the_simulation_fail_no_gate(gate):
    everything = gate("limit torch.mps.* src/*\n", fail_on=",".join(FAIL_ON))
    assert everything.failing(report_of({SHADER: 1})) == []
    assert everything.knows(SHADER)  # so that a test which ends with it passes
    assert report_of({SHADER: 1}).lines(root=HERE)[3:] == [
        "  not simulated, a Mac may do it: torch.mps.compile_shader: 1",
        "      src/metal.py:5",
    ]
    with pytest.raises(SimulationError, match="--fail-on limit: there are missing"):
        gate(fail_on="limit")


def test_errors_name_what_and_where(gate):
    whole = report_of({ITEM: 7, UNPLACED: 1, EIG: 1, DOUBLE: 2, COPY: 9})
    _, _, errors = gate(fail_on="missing, float64,waits").conclude(whole)
    assert errors == [
        "missing: aten::linalg_eig at src/model.py:12 (tests/test_a.py::test_b)",
        "float64: float64 at tests/test_a.py:3 (tests/test_a.py::test_c)",
        "waits: item at src/train.py:40",
        "waits: aten::nonzero at outside your code",
    ]


@pytest.mark.parametrize(
    ("baseline", "left"),
    [
        ("# known\n\nmissing aten::linalg_eig src/model.py\n", [ITEM]),
        ("missing aten::linalg_* src/*\n* * *.py", []),
        ("waits item src/train.py", [EIG]),
        ("missing aten::linalg_eig tests/*", [EIG, ITEM]),
    ],
)
def test_what_the_baseline_knows_does_not_fail(gate, baseline, left):
    assert gate(baseline, fail_on="missing,waits").failing(report_of({EIG: 1, ITEM: 2})) == left


def test_baseline_that_knows_too_much_is_reported(gate):
    known = "missing aten::linalg_eig src/model.py\nmissing aten::lgamma src/*"
    _, notes, errors = gate(known).conclude(report_of({EIG: 1}))
    assert (notes, errors) == (["baseline: did not occur: missing aten::lgamma src/*"], [])


def test_baseline_is_completed(gate, tmp_path):
    whole = report_of({EIG: 1, DOUBLE: 1, ITEM: 1, COPY: 1, SHADER: 1})
    _, notes, errors = gate("# ours\nfloat64 * tests/*\n", write_baseline=True).conclude(whole)
    text = (tmp_path / "known.txt").read_text()
    assert text == (
        "# ours\nfloat64 * tests/*\nlimit torch.mps.compile_shader src/metal.py\n"
        "missing aten::linalg_eig src/model.py\n"
    )
    assert (len(notes), errors) == (1, [])
    gate(text, write_baseline=True, fail_on="waits").conclude(whole)
    assert (tmp_path / "known.txt").read_text() == text + "waits item src/train.py\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fail_on": "missing,speed"}, "--fail-on speed: there are missing, fallback"),
        ({"write_baseline": True}, "--write-baseline needs --baseline FILE"),
        ({"json": "/no/folder/a.json"}, "there is no folder for /no/folder/a.json"),
        ({"baseline": "missing aten::x"}, r"known.txt:1: expected kind, operator and file"),
        ({"baseline": "slow aten::x a.py"}, r"known.txt:1: expected kind, operator and file"),
    ],
)
def test_mistakes_get_one_line(gate, options, message):
    with pytest.raises(SimulationError, match=message):
        gate(**options)


def test_missing_baseline_gets_one_line(tmp_path, capsys):
    assert main(["--baseline", str(tmp_path / "none.txt"), __file__]) == 2
    assert re.fullmatch(
        r"error: there is no baseline .*; --write-baseline makes one\n", capsys.readouterr().err
    )


# ---- What is written ---------------------------------------------------------------------------


def test_annotations_stand_beside_the_code(monkeypatch):
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    odd = Finding("fell back", "aten::x", "/project/src/a,b%.py", 2, "")
    found = {ITEM: 3, UNPLACED: 1, COPY: 1, SHADER: 1, odd: 1, EIG: 4}
    lines = outputs.annotations(report_of(found), [EIG], HERE)
    assert lines == [
        "::error file=src/model.py,line=12,title=simulated MPS::missing on MPS, PyTorch 2.13: "
        "aten::linalg_eig (4 times)",
        "::warning file=src/a%2Cb%25.py,line=2,title=simulated MPS::fallback on MPS, PyTorch 2.13: "
        "aten::x (1 times)",
        "::warning file=src/metal.py,line=5,title=simulated MPS::not simulated, a Mac may do it, "
        "PyTorch 2.13: torch.mps.compile_shader (1 times)",
    ]


def test_markdown_has_a_row_for_each_place():
    odd = Finding("MISSING", "aten::x", "/project/a.py", 1, "t.py::test[a|b]")
    lines = outputs.as_markdown(report_of({ITEM: 3, odd: 1}), [ITEM], HERE).splitlines()
    assert lines[-3:-1] == [
        "| **fails** | waits: `item` | 3 | `src/train.py:40` |  |",
        "|  | missing: `aten::x` | 1 | `a.py:1` | `t.py::test[a\\|b]` |",
    ]


def test_the_summary_of_a_step_is_appended_to(gate, tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    make = gate(markdown=str(path))
    path.write_text("before\n")
    make.conclude(report_of({}))
    assert not path.read_text().startswith("before")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    path.write_text("before\n")
    make.conclude(report_of({}))
    assert path.read_text().startswith("before\n### Simulated MPS")


def test_places_of_processes_are_summed():
    first, second = report_of({EIG: 1, ITEM: 2}), report_of({replace(EIG, test="another"): 3, DOUBLE: 1})
    whole = together([first, from_json(json.loads(json.dumps(to_json(second))))])
    assert whole.findings == {EIG: 4, ITEM: 2, DOUBLE: 1}
    assert (whole.missing, whole.processes) == ({"aten::linalg_eig": 4}, 2)


def test_the_report_names_the_first_places():
    many = {Finding("item", "", "/project/a.py", line, ""): line for line in range(1, 6)}
    lines = report_of({**many, EIG: 1}).lines(root=HERE)
    assert lines[3:] == [
        "  MISSING      aten::linalg_eig (1 calls)",
        "      src/model.py:12, in tests/test_a.py::test_b",
        "  waits for one number (.item(), float(), if tensor): 15",
        "      a.py:5, 5 times",
        "      a.py:4, 4 times",
        "      a.py:3, 3 times",
        "      and 2 more places",
    ]


# ---- Whole runs --------------------------------------------------------------------------------

MODEL = """
import torch

def spectrum(x):
    return torch.linalg.eig(x)

def positive(x):
    return x[x > 0]
"""
TESTS = """
import pytest, torch
from model import positive, spectrum

def square():
    return torch.eye(2, device="mps")

def test_spectrum():
    spectrum(square())

def test_caught():
    with pytest.raises(NotImplementedError):
        spectrum(square())

def test_positive():
    assert positive(square()).shape == (2,)

@pytest.mark.xfail_on_mps("linalg_eig", until="2.13")
def test_marked():
    spectrum(square())
"""
STRICT = """
import pytest, torch

@pytest.mark.xfail_on_mps("linalg_eig", until="2.13")
def test_that_passes():
    assert (torch.eye(2, device="mps") + 1).shape == (2, 2)

@pytest.mark.xfail_on_mps("linalg_eig", until="2.12")
def test_of_a_later_release():
    pass

@pytest.mark.xfail_on_mps("linalg_eig")
def test_with_another_error():
    torch.linalg.eigvals(torch.eye(2, device="mps"))

@pytest.mark.xfail_on_mps("input sizes must be divisible")
def test_with_words_of_the_error():
    torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 1, 7, 7, device="mps"), 3)
"""


@pytest.fixture
def python(tmp_path):
    """Return a function that runs Python in a folder with the module and its tests."""
    for name, text in {"model.py": MODEL, "test_model.py": TESTS}.items():
        (tmp_path / name).write_text(text)

    def call(*words):
        command = [sys.executable, *words]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "GITHUB"))
        }
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False
        )

    return call


PYTEST = ["-m", "pytest", "-p", "simulated_mps.pytest_plugin", "-p", "no:cacheprovider", "-q", "--tb=line"]


def test_without_its_option_the_plugin_imports_no_pytorch(python, tmp_path):
    """Nor anything else that could warn: pytest may be told to take warnings as errors."""
    (tmp_path / "test_empty.py").write_text(
        "import sys, pytest\n@pytest.mark.xfail_on_mps('linalg_eig')\ndef test_empty():\n"
        "    assert 'torch' not in sys.modules and 'simulated_mps.device' not in sys.modules"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    done = python(*PYTEST, "--strict-markers", "test_empty.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("1 passed")


@pytest.mark.long
def test_known_findings_neither_fail_a_test_nor_the_run(python, tmp_path):
    words = [*PYTEST, "--simulated-mps", "--simulated-mps-fail-on", "missing", "test_model.py"]
    fails = python(*words, "--simulated-mps-json", "a.json")
    assert fails.returncode == 1
    assert "1 failed, 2 passed, 1 xfailed" in fails.stdout
    assert "error: missing: aten::linalg_eig at model.py:5 (test_model.py::test_spectrum)\n" in fails.stdout
    content = json.loads((tmp_path / "a.json").read_text())
    found = {(entry["file"], entry["line"], entry["expected"]): entry for entry in content["findings"]}
    assert found["model.py", 5, False]["count"] == 2
    assert found["model.py", 5, False]["fails"]
    assert (found["model.py", 5, True]["count"], found["model.py", 5, True]["fails"]) == (1, False)
    assert found["model.py", 8, False]["operator"] == "aten::nonzero"

    python(*words, "--simulated-mps-baseline=known.txt", "--simulated-mps-write-baseline")
    assert (tmp_path / "known.txt").read_text() == "missing aten::linalg_eig model.py\n"
    passes = python(*words, "--simulated-mps-baseline=known.txt", "-n", "2", "--simulated-mps-json", "b.json")
    assert passes.returncode == 0, passes.stdout
    assert "2 passed, 2 xfailed" in passes.stdout
    parallel = json.loads((tmp_path / "b.json").read_text())["findings"]
    assert {(entry["file"], entry["line"], entry["expected"]): entry["count"] for entry in parallel} == {
        key: entry["count"] for key, entry in found.items()
    }


def test_marks_are_strict(python, tmp_path):
    (tmp_path / "test_strict.py").write_text(STRICT)
    done = python(*PYTEST, "--simulated-mps", "-ra", "test_strict.py")
    assert "2 failed, 1 passed, 1 xfailed" in done.stdout
    assert "[xfail_on_mps] the error of linalg_eig did not come on the device of PyTorch 2.13" in done.stdout
    assert "FAILED test_strict.py::test_with_another_error" in done.stdout


def test_marks_hold_on_a_mac_as_well(monkeypatch):
    config = SimpleNamespace(stash={})
    for available, release in ((True, "2.14.1"), (False, None)):
        backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda found=available: found))
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="2.14.1", backends=backends))
        assert release_of_device(config) == release
    monkeypatch.delitem(sys.modules, "torch")
    assert release_of_device(config) is None
    until = {
        until: Expectation("linalg_eig", until).holds_in("2.14.1")
        for until in (None, "2.9", "2.13", "2.14", "3.0")
    }
    assert until == {None: True, "2.9": False, "2.13": False, "2.14": True, "3.0": True}


def test_an_operator_is_named_as_a_whole_word():
    error = NotImplementedError("The operator 'aten::linalg_eig' is not currently implemented")
    fits = {
        name: Expectation(name, None).fits(error)
        for name in ("linalg_eig", "aten::linalg_eig", "eig", "linalg_eigh")
    }
    assert fits == {"linalg_eig": True, "aten::linalg_eig": True, "eig": False, "linalg_eigh": False}


@pytest.mark.parametrize("mark", ["()", "('x', until='soon')", "('x', since='2.9')"])
def test_marks_that_cannot_be_read(python, tmp_path, mark):
    (tmp_path / "test_mark.py").write_text(
        f"import pytest\n@pytest.mark.xfail_on_mps{mark}\ndef test_a(): pass"
    )
    done = python(*PYTEST, "test_mark.py")
    assert done.returncode == 4
    assert "xfail_on_mps" in done.stderr


def test_command_fails_on_what_it_must_not_find(python, tmp_path):
    """Its report comes after the traceback of the program, which looks as without it."""
    (tmp_path / "program.py").write_text(
        "import torch\nfrom model import *\npositive(torch.ones(2, device='mps'))\n"
        "if '--eig' in __import__('sys').argv:\n    spectrum(torch.eye(2, device='mps'))"
    )
    command = ["-m", "simulated_mps", "--fail-on", "waits", "--annotations", "program.py"]
    done = python(*command)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "error: waits: aten::nonzero at model.py:8"
    assert done.stdout.startswith("::error file=model.py,line=8,title=simulated MPS::waits on MPS")
    done = python(*command, "--eig")
    assert done.returncode == 1
    assert re.match(
        r'Traceback \(most recent call last\):\n  File ".*program.py", line 5, in <module>', done.stderr
    )
    assert done.stderr.index("NotImplementedError") < done.stderr.index("simulated MPS, operators")
    assert "      model.py:5\n" in done.stderr
