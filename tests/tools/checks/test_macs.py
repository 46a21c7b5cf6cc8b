"""Reports from Macs: what is no complete report of a Mac that can exist is not taken in, with one line."""

import json
import re
from pathlib import Path

import pytest

from tests.mac_reports import STORED, report, without_steps, write
from tools.checks.mac_steps import OUTCOMES, STOPPED
from tools.checks.macs import FIRST, LATEST, MOST_BYTES, SCHEMA, read_macs, wrong_macs, wrong_report

PROGRAM = Path(__file__).resolve().parents[3] / "examples" / "verify_mac.py"
HOME = "/".join(["", "Users", ""])  # no file of the project may hold such a path
SIMULATED = "it is of the simulated device, not of a Mac"


def test_the_constants_are_those_of_the_program():
    text = PROGRAM.read_text(encoding="utf-8")
    found = re.search(r"^SCHEMA = (\d+)\nFIRST, LATEST = (\d+), (\d+) ", text, re.M)
    assert [int(value) for value in found.groups()] == [SCHEMA, FIRST, LATEST]


def test_only_reports_of_macs_are_taken_in(tmp_path):
    assert wrong_report(report(), simulated=True) == ""
    assert wrong_report(report(gpu="Apple M3 Pro")) == wrong_report(report(gpu="")) == ""
    assert wrong_report(report()) == wrong_report(json.loads(STORED.read_text())) == SIMULATED
    assert "of the device 'cpu', which verifies nothing" in wrong_report(report(gpu="") | {"device": "cpu"})
    write(tmp_path, "a.json", report())
    assert wrong_macs(tmp_path) == [f"docs/data/macs/a.json: {SIMULATED}"]


def test_each_outcome_of_a_kind_is_taken_in():
    assert wrong_report(without_steps(), simulated=True) == ""
    kinds = set()
    for place, step in enumerate(report()["handbook"]["steps"]):
        kinds.add(step["kind"])
        for outcome in (*OUTCOMES[step["kind"]], "not tried", *STOPPED):
            content = report()
            changed = content["handbook"]["steps"][place]
            changed |= {"outcome": outcome}
            changed.pop("why", "")
            changed.setdefault("figures", {"lowest": 1, "median": 1.5, "highest": 2, "unit": "samples/s"})
            assert wrong_report(content, simulated=True) == "", outcome
    assert kinds == OUTCOMES.keys()


def test_no_report_of_the_site_is_wrong():
    assert wrong_macs() == []


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        ("program", "check_setup", "no report of examples/verify_mac.py"),
        ("schema", 2, "schema 2: only 1 is known"),
        ("complete", False, "it is not complete: run verify_mac.py to its end"),
        ("complete", "yes", "the report: complete is 'yes', not of type bool"),
        ("note", "hello", "the report cannot have 'note'"),
        ("date", "2026-11-31", "there is no day '2026-11-31'"),
        ("compared_with", "2.13", "compared_with is '2.13', and PyTorch is 2.15.0"),
        ("machine", [], "the report: machine is [], not of type dict"),
        ("machine.serial", "C02", "the report: machine cannot have 'serial'"),
        ("machine.gpu_cores", True, "the report: machine: gpu_cores is True, not of type int"),
        ("machine.system", "Linux", "it comes from 'Linux', not from macOS"),
        ("machine.chip", "Apple M3 Plus", "the chip 'Apple M3 Plus' is in neither published_speeds.yaml nor"),
        ("machine.chip", "Apple M1 (Virtual)", "belongs to a virtual machine, and virtual is false"),
        ("machine.torch", "2.15.7", "PyTorch '2.15.7' is no release of docs/data/wheels.json"),
        ("machine.torch", "2.16.0.dev1", "PyTorch '2.16.0.dev1' is no release"),
        ("machine.macos", "14.7.1", "PyTorch 2.15.0 needs macOS 15.0, and this is 14.7.1"),
        ("machine.macos", "17.0", "there is no macOS '17.0'"),
        ("counts.operators.differ", 1, "its counts are not those of its checks"),
        ("counts.more", {}, "its counts are not those of its checks"),
        ("checks", [], "it is not complete: there is no check of device"),
        ("checks.0.group", "other", "'float64': there is no group 'other'"),
        ("checks.0.found", 5, "check 1: found is 5, not of type str"),
        ("checks.0.agrees", None, "'float64': agrees is None, where 'refused' was expected"),
        ("checks.0.agrees", False, "'float64': agrees is False: expected 'refused', found 'refused'"),
        ("checks.8.agrees", True, "agrees is True: expected 'wrong', found 'right'"),
        ("checks.1.name", "float64", "'float64' is there twice"),
        (
            "checks.8.name",
            "EmbeddingBag",
            "'EmbeddingBag': a wrong result begins with the number of its report",
        ),
        (
            "checks.11.figures.lowest",
            1e6,
            "its figures need gflop, and lowest, median and highest in this order",
        ),
        ("handbook", [], "the report: handbook is [], not of type dict"),
        ("handbook.user", "me", "the report: handbook cannot have 'user'"),
        ("handbook.commit", "main", "the handbook has no commit 'main'"),
        ("handbook.seconds", 1e999, "the report: handbook: seconds is inf, not of type float"),
        ("handbook.steps.2", "ran", "step 3 is 'ran', not of type dict"),
        ("handbook.steps.0.path", "x", "step 1 cannot have 'path'"),
        ("handbook.steps.0.seconds", True, "step 1: seconds is True, not of type float"),
        ("handbook.steps.0.seconds", -1, "step 1: it took -1 seconds"),
        ("handbook.steps.0.kind", "page", "step 1: there is no kind 'page'"),
        ("handbook.steps.0.outcome", "holds", "step 1: 'holds' is no outcome of a recipe"),
        ("handbook.steps.6.outcome", "ran", "step 7: 'ran' is no outcome of a claim"),
        ("handbook.steps.12.outcome", "as said", "step 13: 'as said' is no outcome of a benchmark"),
        ("handbook.steps.0.name", "snippets/recipes/../x.py", "is no name of a recipe"),
        ("handbook.steps.0.name", "snippets/recipes/é.py", "is no name of a recipe"),
        ("handbook.steps.4.name", "examples/benchmark.py:main", "is no name of a block"),
        ("handbook.steps.4.name", "snippets/shell/which_mac.sh", "is no name of a block"),
        ("handbook.steps.6.name", "no-such-claim", "step 7: there is no claim 'no-such-claim'"),
        ("handbook.steps.8.name", "float-64", "step 9: there is no message 'float-64'"),
        ("handbook.steps.10.name", "cifar: losses", "step 11: there is no system 'cifar'"),
        ("handbook.steps.12.name", "cuda", "'cuda' is no name of a benchmark"),
        ("handbook.steps.1.found", "x" * 501, "step 2: found is not one line of at most 500 characters"),
        ("handbook.steps.1.found", "a\nb", "step 2: found is not one line of at most 500 characters"),
        ("handbook.steps.1.found", "a\u202eb", "step 2: found is not one line"),
        ("handbook.steps.1.found", f"in {HOME}ada/x.py", f"without a path: 'in {HOME}ada/x.py'"),
        ("handbook.steps.1.expected", None, "step 2: expected is None, not of type str"),
        ("handbook.steps.1.why", "no time", "step 2: only what was not tried says why, and this failed"),
        ("handbook.steps.10.figures.steps", [24], "step 11: the figure 'steps' is [24], no number and no"),
        ("handbook.steps.10.figures.steps", True, "step 11: the figure 'steps' is True, no number and no"),
        ("handbook.steps.10.figures.steps", "x" * 101, "no number and no short text"),
        ("handbook.steps.12.figures.lowest", 500, "lowest, median and highest in this order"),
        ("handbook.steps.12.figures.unit", "<i>/s", "its figures need a unit such as samples/s"),
        (
            "handbook.steps.1.name",
            "snippets/recipes/device.py",
            "the recipe 'snippets/recipes/device.py' is there twice",
        ),
    ],
)
def test_each_fault_has_its_sentence(place, value, sentence):
    content = report()
    *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    inner = content
    for part in way:
        inner = inner[part]
    inner[last] = value
    found = wrong_report(content, simulated=True)
    assert sentence in found and "\n" not in found


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"{", "it is not JSON"),
        (b"\xff", "it is not JSON"),
        (b"[" * 200_000, "it is not JSON"),
        (b'{"program": NaN}', "it is not JSON"),
        (b"[]", "no report of examples/verify_mac.py"),
        (b" " * (MOST_BYTES + 1), "it has 300,001 bytes: at most 300,000"),
    ],
)
def test_what_is_no_report_at_all(tmp_path, text, sentence):
    (tmp_path / "a.json").write_bytes(text)
    (tmp_path / ".DS_Store").write_bytes(b"\0")
    assert wrong_macs(tmp_path) == [f"docs/data/macs/a.json: {sentence}"]


def test_the_same_machine_macos_and_pytorch_only_once(tmp_path):
    write(tmp_path, "b.json", report())
    write(tmp_path, "c.json", report(memory_gb=18.0))
    write(tmp_path, "a.json", report(chip="Apple M1"))
    found = [one["machine"] for one in read_macs(tmp_path, simulated=True)]
    assert [(one["chip"][6:], one["memory_gb"]) for one in found] == [
        ("M1", 36),
        ("M3 Pro", 18),
        ("M3 Pro", 36),
    ]
    write(tmp_path, "d.json", report())
    with pytest.raises(
        ValueError, match=r"^docs/data/macs/d\.json: the same machine, macOS and .* as b\.json$"
    ):
        read_macs(tmp_path, simulated=True)
