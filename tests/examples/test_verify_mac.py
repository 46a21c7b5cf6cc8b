"""verify_mac.py: its tables against the data of the pages, its checks with faked defects, and its report."""

import ast
import contextlib
import functools
import json
import os
import platform
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
import yaml
from torch.nn import functional as F

from examples import verify_mac
from examples.verify_mac import CASES, OPERATORS, Expected, Tensors, all_checks, run_case, run_operator

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(verify_mac.__file__)
RULES = ROOT / "tests" / "simulated_mps" / "simulated_mps" / "rules.json"
RELEASES = range(verify_mac.FIRST, verify_mac.LATEST + 1)
FACTS = {"torch": "2.15.0", "available": True, "built": True, "gpu": "Apple M3", "gpu_cores": 10}
DEVICE = "cpu:0"  # the CPU, with another name than that of the reference

# ---- The tables ----


def test_it_parses_on_python_3_9():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 9))


@functools.cache
def data(name):
    """Return the content of a file of docs/data."""
    read = json.loads if name.endswith(".json") else yaml.safe_load
    return read((ROOT / "docs" / "data" / name).read_text(encoding="utf-8"))


def marks_since_2_9(name):
    """Return the marks of an operator, or of the first overload that has a kernel of its own."""
    table = data("operators.json")
    first = list(table["releases"]).index("2.9")
    found = {
        entry: marks[first:]
        for marks, entries in table["marks"].items()
        for entry in entries.split()
        if entry == name or (entry.startswith(f"{name}.") and "out" not in entry)
    }
    assert found, name
    return found.get(name) or next(iter(found.values()))


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.call[:40])
def test_operators_are_those_of_the_operator_table(op):
    there = [mark in "xc" for mark in marks_since_2_9(op.name)]
    assert there == [op.since is not None and release >= op.since for release in RELEASES]


def refusals():
    """Return (operator, since, until, text) of each rule of the simulated device."""

    def number(release):
        return int(release.removeprefix("2."))

    return {
        (
            operator.partition(".")[0],
            number(rule.get("since", f"2.{verify_mac.FIRST}")),
            number(rule.get("until", f"2.{verify_mac.LATEST}")),
            rule["text"],
        )
        for rule in json.loads(RULES.read_text(encoding="utf-8"))["refused"]
        if "text" in rule
        for operator in rule["operators"]
    }


def test_refusals_are_those_of_the_simulated_device():
    known = refusals()
    ours = {(op.name, max(op.since, verify_mac.FIRST), op.until, op.text) for op in OPERATORS if op.text}
    assert len(ours) >= 12
    elsewhere = (RULES.parent / "only_mps.h").read_text(encoding="utf-8")  # in every release
    assert {rule for rule in ours - known if rule[3] not in elsewhere} == set()


@pytest.mark.parametrize("known", CASES, ids=lambda known: str(known.source))
def test_cases_are_rows_of_the_wrong_results(known):
    (row,) = [row for row in data("wrong_results.yaml")["cases"] if row["sources"][0][1] == known.source]
    state, texts = (
        row["state"],
        " ".join([str(row["versions"]["en"]), row["state"].get("note", {}).get("en", "")]),
    )
    if state["is"] == "fixed":
        assert known.right == int(state["in"].removeprefix("2."))
    elif known.right:
        assert f"2.{known.right}" in texts
    if known.wrong:
        first, last = known.wrong
        assert first <= last < (known.right or 99)
        assert f"2.{last}" in texts or last + 1 == known.right
        assert f"2.{first}" in texts or first in (verify_mac.FIRST, last)


def test_the_amounts_that_the_page_names():
    assert 60 <= len(OPERATORS) <= 70
    assert 20 <= len(CASES) <= 24
    assert len({check.name for check in all_checks()}) == len(all_checks())


# ---- Each check can fail ----


@pytest.fixture
def on_device(monkeypatch):
    """Return a function that is true while tensors are made for the device, not for the reference."""
    current = []
    real = Tensors.__init__

    def noted(self, device):
        current[:] = [device]
        real(self, device)

    monkeypatch.setattr(Tensors, "__init__", noted)
    return lambda: current == [DEVICE]


def doubled(x):
    """Return equal values that pass twice the gradient on."""
    return x * 2 - x.detach()


def without_late_rows(x):
    """Return equal values, of which only the first 64 rows pass a gradient on."""
    return torch.cat([x[:64], x[64:].detach()])


def every_16th_row(product):
    return product * (torch.arange(len(product)) % 16 == 0)[:, None]


def all_the_rest(real, indices, table, offsets, **options):
    return real(indices, table, torch.cat([offsets[:-1], torch.tensor([len(indices)])]), **options)


def other_numbers(real, function, *arguments, **options):
    return real(function, *arguments, preserve_rng_state=False, **options)


# The defect, as the row describes it: where it is, and what the function becomes.
DEFECTS = {
    195163: (torch, "bmm", lambda real, *a: real(*a) * 1.5),
    127676: (verify_mac, "checkpoint", other_numbers),
    96225: (F, "conv1d", lambda real, x, w: real(x, doubled(w))),
    190060: (F, "embedding_bag", all_the_rest),
    180201: (torch.Tensor, "__matmul__", lambda real, a, b: every_16th_row(real(a, b))),
    189233: (F, "avg_pool2d", lambda real, x, size: real(doubled(x), size)),
    175189: (F, "batch_norm", lambda real, x, *a, **k: real(doubled(x), *a, **k)),
    192934: (F, "linear", lambda real, *a: real(*a) + 3.8),
    196949: (F, "pad", lambda real, x, *a, **k: real(doubled(x), *a, **k)),
    194813: (torch.Tensor, "__pow__", lambda real, x, n: real(x, n) / x * x),
    194922: (F, "pad", lambda real, x, size: real(x, size).roll(1)),
    197715: (torch.Tensor, "copy_", lambda real, target, source: target),
    190056: (torch.nn, "LSTM", lambda real, *a, **k: real(*a, **k | {"dropout": 0.0})),
    190064: (F, "adaptive_max_pool2d", lambda real, x, size: F.max_pool2d(x, 2)),
    189565: (F, "linear", lambda real, x, w: real(without_late_rows(x), w)),
    193487: (torch.Tensor, "__matmul__", lambda real, a, b: real(a, b) * 1.2),
    192212: (F, "conv2d", lambda real, x, w: real(x, w.contiguous().view(-1).roll(1).view(w.shape))),
    189563: (torch.Tensor, "to", lambda real, x, *a: real(x.roll(1) if len(a) == 2 else x, *a)),
    180744: (torch.nn, "LSTM", lambda real, *a, **k: real(*a, **k | {"dropout": 0.0})),
    185119: (F, "embedding", lambda real, i, table, padding_idx: real(i, table)),
    184122: (F, "scaled_dot_product_attention", lambda real, *a, scale: real(*a, scale=1.0)),
    183825: (F, "layer_norm", lambda real, x, size, w, b: real(x, size, doubled(w), b)),
    175187: (torch.Tensor, "sort", lambda real, x, d: real(x.roll(1, 0), d)),
    174345: (F, "batch_norm", lambda real, x, *a, **k: real(x.roll(1, -1), *a, **k)),
}


@pytest.mark.parametrize("known", CASES, ids=lambda known: str(known.source))
def test_each_defect_is_found(known, on_device, monkeypatch):
    assert run_case(known, DEVICE)["found"] == "right"
    where, name, defect = DEFECTS[known.source]
    real = getattr(where, name)

    def maybe(*arguments, **options):
        return defect(real, *arguments, **options) if on_device() else real(*arguments, **options)

    monkeypatch.setattr(where, name, maybe)
    assert run_case(known, DEVICE)["found"] == "wrong"


def test_an_error_in_place_of_a_result_is_noted(monkeypatch):
    known = next(known for known in CASES if known.source == 175189)
    monkeypatch.setattr(
        F, "batch_norm", lambda *a, **k: (_ for _ in ()).throw(RuntimeError("no such layout"))
    )
    assert run_case(known, DEVICE) == {"found": "error", "text": "no such layout"}


def test_wrong_values_of_each_operator_are_found(monkeypatch):
    monkeypatch.setattr(
        verify_mac, "with_gradients", lambda call, device: [torch.tensor(1.0 + (device == DEVICE))]
    )
    assert {run_operator(op, DEVICE)["found"] for op in OPERATORS} == {"wrong values"}


def test_every_call_works_on_the_cpu():
    assert [op.call for op in OPERATORS if run_operator(op, "cpu")["found"] != "there"] == []


@pytest.mark.parametrize(
    ("name", "error", "found"),
    [
        ("take", "The operator 'aten::take.out' is not currently implemented for the MPS device. If", True),
        ("take", "The operator 'aten::take' is not currently implemented for the MPS device. If", True),
        ("take", "The operator 'aten::takes' is not currently implemented for the MPS device. If", False),
        ("take", "The operator 'aten::take' cannot do this", False),
    ],
)
def test_missing_operators_are_known_by_their_error(name, error, found, monkeypatch):
    op = next(op for op in OPERATORS if op.name == name)
    monkeypatch.setattr(torch, "take", lambda *a: (_ for _ in ()).throw(NotImplementedError(error)))
    answer = run_operator(op, DEVICE)
    assert verify_mac.agrees(op.expect(14), answer) is found
    assert verify_mac.agrees(op.expect(15), answer) is False
    assert verify_mac.agrees(op.expect(8), answer) is None


def test_a_refusal_with_another_text_differs():
    wanted = Expected("refused", "MPS does not do this")
    assert verify_mac.agrees(wanted, {"found": "refused", "text": "MPS does not do this"})
    assert verify_mac.agrees(wanted, {"found": "refused", "text": "MPS does not do that"}) is False
    assert verify_mac.agrees(wanted, {"found": "there"}) is False


def test_checks_of_the_device_can_fail(monkeypatch):
    checks = {check.name: check for check in all_checks() if check.group == "device"}
    assert checks["float64"].run("cpu") == {"found": "there"}
    assert checks["torch.accelerator"].run("another")["found"] == "wrong"
    assert checks["autocast bfloat16"].run("cpu")["found"] == "right"
    monkeypatch.setattr(torch, "autocast", lambda *a, **k: contextlib.nullcontext())
    assert checks["autocast bfloat16"].run("cpu")["found"] == "wrong"


@pytest.mark.parametrize(
    ("other", "gap"),
    [([1.0, 2.002], 1e-3), ([1.0, float("nan")], 1e99), ([1.0], 1e99), ([1.0, float("inf")], 1e99)],
)
def test_differences(other, gap):
    found = verify_mac.difference([torch.tensor(other)], [torch.tensor([1.0, 2.0])])
    assert found == pytest.approx(gap, rel=1e-3)
    assert verify_mac.difference([torch.ones(2)], [torch.ones(2)] * 2) == verify_mac.NOT_COMPARABLE


# ---- The child process ----

FAKE_CHILD = """
import json, os, signal, sys, time
first, plan = int(sys.argv[-1]), {plan!r}
print("noise")
print("verify_mac>" + json.dumps({facts!r}), flush=True)
for number in range(first, {amount}):
    what = plan.get(number, "right")
    if what == "dies":
        print("verify_mac>" + '{{"name": "cut o', end="", flush=True)
        print("/Volumes/erika/net.mm:12: failed assertion 'of erika'", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGABRT)
    if what == "hangs":
        time.sleep(600)
    print("verify_mac>" + json.dumps({{"name": "", "found": what, "seconds": 0.1}}), flush=True)
"""


@pytest.fixture
def fake_child(tmp_path, monkeypatch):
    """Return a function that puts a child in place that answers by a plan: number of the check → answer."""

    def put(plan, facts=FACTS):
        script = tmp_path / "child.py"
        script.write_text(FAKE_CHILD.format(plan=plan, facts=facts, amount=len(all_checks())))
        monkeypatch.setattr(verify_mac, "COMMAND", [sys.executable, "-I", "-S", str(script)])
        monkeypatch.chdir(tmp_path)

    return put


def written(folder):
    return json.loads((folder / "verify-mac.json").read_text(encoding="utf-8"))


@pytest.mark.program
def test_a_child_that_dies_or_hangs_costs_one_check(fake_child, monkeypatch, tmp_path, capsys):
    fake_child({5: "dies", 9: "hangs", len(all_checks()) - 1: "dies"})
    monkeypatch.setattr(verify_mac, "LIMIT", 0.5)
    assert verify_mac.main([]) == 0
    report, text = written(tmp_path), capsys.readouterr().out
    assert report["complete"]
    found = [row["found"] for row in report["checks"]]
    assert len(found) == len(all_checks())
    died = f"ended the process (signal {signal.SIGABRT.value})"
    assert {number: what for number, what in enumerate(found) if what != "right"} == {
        5: died,
        9: "hung",
        len(found) - 1: died,
    }
    assert report["checks"][5]["agrees"] is False
    assert died in text and "erika/net" not in text + json.dumps(report)


@pytest.mark.program
@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"available": False}, "no MPS: "),
        ({"found": "x", "over": True, "text": "damaged"}, "PyTorch did not start: x damaged"),
    ],
)
def test_without_mps_one_line_tells_why(fake_child, facts, line, capsys, tmp_path):
    fake_child({}, FACTS | facts)
    assert verify_mac.main([]) == 1
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith(f"error: {line}") and printed.err.count("\n") == 1
    assert not (tmp_path / "verify-mac.json").exists()


@pytest.mark.parametrize(
    ("system", "built", "why"),
    [
        ("linux", False, "MPS exists on macOS only"),
        ("darwin", False, "built without"),
        ("darwin", True, "no GPU"),
    ],
)
def test_why_there_is_no_mps(system, built, why, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    assert why in verify_mac.why_no_mps(FACTS | {"built": built})


@pytest.mark.program
def test_ctrl_c_prints_and_writes_what_there_is(fake_child, monkeypatch, tmp_path, capsys):
    fake_child({7: "hangs"})
    add = verify_mac.Run.add

    def add_and_stop(run, *result):
        add(run, *result)
        if len(run.results) == 7:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    monkeypatch.setattr(verify_mac.Run, "add", add_and_stop)
    assert verify_mac.main([]) == 130
    text, report = capsys.readouterr().out, written(tmp_path)
    assert text.startswith("Stopped before the end: this report is not complete.\nThe handbook differs")
    assert not report["complete"] and len(report["checks"]) == 7
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_child_that_never_starts_again_ends_the_run(monkeypatch, tmp_path, capsys):
    answers = iter(
        [
            FACTS,
            {"found": "ended the process", "text": "", "over": True},
            {"over": True, "found": "x", "text": ""},
        ]
    )
    monkeypatch.setattr(verify_mac, "Child", lambda *a: Silent(answers))
    monkeypatch.chdir(tmp_path)
    assert verify_mac.main([]) == 130
    assert "not complete" in capsys.readouterr().out
    assert len(written(tmp_path)["checks"]) == 1


class Silent:
    """A child that takes its answers from a list."""

    def __init__(self, answers):
        self.answers = answers

    def next(self, limit):
        return next(self.answers)

    def stop(self):
        pass


# ---- The report ----


def run_with(found, texts="", agreed=None):
    """Return a finished run in which each check found the same."""
    run = verify_mac.Run("mps", 15)
    run.learn(FACTS)
    for check in all_checks():
        wanted = check.expect(15)
        answer = {"found": found or wanted.found or "right", "text": texts or wanted.text}
        if check.group == "speed":
            answer["figures"] = {"gflop": 17.18, "runs": 10, "median": 4.0, "lowest": 3.0, "highest": 5.0}
        if check.group == "memory":
            steps = ("before", "with 256 MB", "freed", "emptied")
            answer["figures"] = {"recommended": 65536, **{step: [123456, 123456] for step in steps}}
        run.add(check, answer)
    run.complete = True
    return verify_mac.as_report(run)


def test_the_report_begins_with_what_differs():
    report = run_with(None)
    assert verify_mac.as_text(report).startswith("The handbook and this machine agree in all ")
    row = next(row for row in report["checks"] if row["found"] == "there")
    row |= {"found": "missing", "text": "The operator is not there", "agrees": False}
    first, second = verify_mac.as_text(report).splitlines()[:2]
    assert re.fullmatch(r"The handbook differs from this machine in 1 of \d+ points:", first)
    assert second.startswith(f"- {row['name']}; handbook: there; here: missing")


@pytest.mark.parametrize("device", ["mps", "cpu"])
@pytest.mark.parametrize("complete", [True, False])
def test_at_most_60_lines_of_100_columns(device, complete, monkeypatch):
    monkeypatch.setattr(os, "environ", {f"PYTORCH_{number:040}": "word" for number in range(40)})
    report = run_with("ended the process (signal 6)", "a very long text " * 60)
    report |= {"device": device, "complete": complete}
    report["machine"] |= {"chip": "Apple M9 Ultra Extreme " * 3, "virtual": True}
    lines = [*verify_mac.as_text(report).splitlines(), "", "the last line"]
    assert 10 < len(lines) <= verify_mac.LINES
    assert max(map(len, lines)) <= verify_mac.COLUMNS
    if device == "mps":
        assert "more in the JSON file" in "\n".join(lines[:28])
        assert lines[-3].startswith("speed")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("/AppleInternal/Library/MPSCore/a.mm:76: failed", "(path):76: failed"),
        (
            "see https://github.com/pytorch/pytorch/issues/96056)",
            "see https://github.com/pytorch/pytorch/issues/96056)",
        ),
        ("in '~/erika/x.py', line 3", "in '(path)', line 3"),
        (f"no {Path.home()}/Erika M/x.py", "no (path) M/x.py"),
        ("3/4 of the values", "3/4 of the values"),
    ],
)
def test_paths_are_left_out(text, clean, monkeypatch):
    assert verify_mac.without_paths({"a": [text, 1, None]}) == {"a": [clean, 1, None]}


def test_only_harmless_values_of_variables_are_shown(monkeypatch):
    given = {"OMP_NUM_THREADS": "4", "PYTORCH_ENABLE_MPS_FALLBACK": "1", "TORCH_HOME": "/Volumes/erika/x"}
    monkeypatch.setattr(
        os, "environ", given | {"PYTORCH_X": "erika", "MTL_Y": "true", "USER": "erika", "PATH": "/bin"}
    )
    assert verify_mac.machine()["variables"] == {
        "MTL_Y": "true",
        "OMP_NUM_THREADS": "4",
        "PYTORCH_ENABLE_MPS_FALLBACK": "1",
        "PYTORCH_X": "set",
        "TORCH_HOME": "set",
    }


def test_facts_of_a_mac(monkeypatch):
    answers = {
        "sysctl -n hw.memsize": str(18 << 30),
        "sysctl -n machdep.cpu.brand_string": "Apple M3 Pro",
        "sysctl -n kern.hv_vmm_present": "1",
        "sw_vers -productVersion": "26.1",
        "pmset -g batt": "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1234)\t87%; discharging",
        "pmset -g": " lowpowermode         1",
        "ioreg -rd1 -c AGXAccelerator": '"IOPlatformSerialNumber" = "C02X"\n  "gpu-core-count" = 14',
    }
    monkeypatch.setattr(verify_mac, "output_of", lambda *command: answers[" ".join(command)])
    facts = verify_mac.machine()
    assert (facts["chip"], facts["gpu_cores"], facts["memory_gb"]) == ("Apple M3 Pro", 14, 18.0)
    assert (facts["macos"], facts["virtual"]) == ("26.1", True)
    assert facts["power"] == "Battery Power, low power mode"
    assert "C02X" not in json.dumps(facts) and "1234" not in json.dumps(facts)


@functools.cache
def schema():
    """Return what the JSON file has to be; the site takes it in."""
    words = {"type": "string"}
    number = {"type": "number"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [
            "schema",
            "program",
            "complete",
            "date",
            "device",
            "compared_with",
            "machine",
            "counts",
            "checks",
        ],
        "properties": {
            "schema": {"const": 1},
            "program": {"const": "verify_mac"},
            "complete": {"type": "boolean"},
            "date": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
            "device": {"enum": ["mps", "cpu"]},
            "compared_with": {"type": "string", "pattern": r"^(2\.\d+)?$"},
            "machine": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    **dict.fromkeys(["gpu", "system", "chip", "macos", "power", "python", "torch"], words),
                    **dict.fromkeys(("gpu_cores", "memory_gb"), number),
                    "virtual": {"type": "boolean"},
                    "variables": {"type": "object", "additionalProperties": words},
                },
            },
            "counts": {"type": "object"},
            "checks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["group", "name", "expected", "expected_text", "found", "agrees", "seconds"],
                    "properties": {
                        **dict.fromkeys(
                            ["group", "name", "expected", "expected_text", "found", "text"], words
                        ),
                        "agrees": {"type": ["boolean", "null"]},
                        **dict.fromkeys(("seconds", "difference"), number),
                        "figures": {"type": "object"},
                    },
                },
            },
        },
    }


@pytest.mark.program
@pytest.mark.unmeasured
def test_a_whole_run_on_the_cpu_names_nobody(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    home = tmp_path / "erikahome"
    home.mkdir()
    copy = home / "verify_mac.py"
    copy.write_bytes(SCRIPT.read_bytes())
    names = {"HOME": str(home), "USER": "erikauser", "LOGNAME": "erikauser", "HOSTNAME": "erikahost"}
    done = subprocess.run(
        [sys.executable, copy.name, "--device", "cpu", "--json", "r.json"],
        cwd=home,
        env=os.environ | names | {"TORCH_HOME": "erikatorch", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Nothing is verified about MPS: all of this ran on the CPU."
    assert lines[-1] == "All details are in r.json. Nothing was sent anywhere."
    assert len(lines) <= verify_mac.LINES and max(map(len, lines)) <= verify_mac.COLUMNS
    text = (home / "r.json").read_text(encoding="utf-8")
    for secret in ("erika", platform.node(), str(tmp_path)):
        assert secret not in text + done.stdout
    report = json.loads(text)
    jsonschema.validate(report, schema())
    assert sorted(path.name for path in home.rglob("*") if path.is_file()) == ["r.json", "verify_mac.py"]
    found = {
        group: {row["found"] for row in report["checks"] if row["group"] == group}
        for group in ("operators", "wrong results", "speed")
    }
    assert found == {"operators": {"there"}, "wrong results": {"right"}, "speed": {"measured"}}


def test_what_it_did_not_write_stays(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for content in ("thesis", "[]", "{}", "\0"):
        (tmp_path / "verify-mac.json").write_text(content)
        with pytest.raises(SystemExit) as end:
            verify_mac.main([])
        assert end.value.code == 2
        assert (tmp_path / "verify-mac.json").read_text() == content
        assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "verify-mac.json").write_text(json.dumps(run_with(None)))
    assert verify_mac.why_not_written(Path("verify-mac.json")) == ""
    (tmp_path / "link").symlink_to("verify-mac.json")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        assert "no report of this program" in verify_mac.why_not_written(Path(name))
    assert "no such folder" in verify_mac.why_not_written(Path("nowhere/x.json"))
    assert verify_mac.why_not_written(tmp_path)
    assert verify_mac.why_not_written(Path("x" * 300))


@pytest.mark.parametrize(
    "words", [["--device", "cuda"], ["--jsn", "x"], ["file"], ["--json"], ["--json", "no/x"]]
)
def test_bad_options_get_one_line(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        verify_mac.main(words)
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_without_pytorch_one_line_tells_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr(verify_mac, "NO_TORCH", "ModuleNotFoundError: No module named 'torch'")
    assert verify_mac.main([]) == 1
    assert capsys.readouterr().err.endswith("python -m pip install torch\n")
