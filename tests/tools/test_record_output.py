"""Recording output: what is stored, and commands that must not be recorded."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from tools import record_output
from tools.checks.compare_output import compared_part
from tools.record_output import RecordingFailed, record, repeated, run
from tools.recordings import MACHINES, note, read_machines, read_recordings

PROGRAM = """
import pathlib, sys
pathlib.Path("runs/one").mkdir(parents=True)
pathlib.Path("runs/one/metrics.jsonl").write_text('{"loss": 1}\\n')
print("hello", pathlib.Path("examples").resolve(), pathlib.Path.cwd())
print("loss 2.5   ")
"""
ENTRY = {"name": "hello", "command": "python examples/hello.py", "compare": "masked"}
HELLO = """\
# Says hello.
command: python examples/hello.py
compare: masked
keep: {metrics.jsonl: m.jsonl}
"""


@pytest.fixture
def repository(plant, tmp_path):
    """Return a small repository with a program whose output is to be recorded."""
    plant("examples/hello.py", PROGRAM)
    plant("examples/fails.py", "import sys\nprint('half')\nsys.exit('error: no')\n")
    plant("examples/silent.py", "")
    plant("runs/old/metrics.jsonl", "{}\n")
    plant("docs/data/recorded/hello.yaml", HELLO)
    return tmp_path


@pytest.mark.program
def test_recording_stores_text_files_and_provenance(repository):
    record([], repository)
    text = (repository / "docs/data/recorded/hello.txt").read_text(encoding="utf-8")
    assert text == "hello ~/mps-handbook/examples ~/mps-handbook\nloss 2.5\n"
    described = (repository / "docs/data/recorded/hello.yaml").read_text(encoding="utf-8")
    assert described.startswith(f"{HELLO}date: ")
    (name,) = read_machines(repository)
    assert described.endswith(f"\nmachine: {name}\n")
    assert read_machines(repository)[name]["cpu_cores"] > 0
    assert read_machines(repository)[name]["versions"].keys() == {"python", "torch", "torchvision"}
    kept = (repository / "docs/data/recorded/m.jsonl").read_text(encoding="utf-8")
    assert json.loads(kept) == {"loss": 1}  # of this run, not of the old one


@pytest.mark.program
def test_what_runs_before_is_not_recorded(repository):
    """The second command finds what the first one left; a first one that fails is an error."""
    first = "python examples/hello.py"
    second = shlex.join(["python", "-c", "print(open('runs/one/metrics.jsonl').read())"])
    assert run(ENTRY | {"before": [first], "command": second}, repository) == '{"loss": 1}\n'
    with pytest.raises(RecordingFailed, match="error: no"):
        run(ENTRY | {"before": ["python examples/fails.py"]}, repository)


@pytest.mark.program
def test_an_expected_failure_is_recorded(repository):
    failing = {"command": "python examples/fails.py", "exit_code": 1}
    assert run(ENTRY | failing, repository) == "half\n"
    with pytest.raises(RecordingFailed, match="exit code 0"):
        run(ENTRY | {"exit_code": 1}, repository)


@pytest.mark.program
def test_simulated_device_uses_own_python_and_stderr(repository, monkeypatch):
    """Here another program of that name says which of its streams are kept."""
    programs = repository / "other" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").write_text("#!/bin/sh\necho own python\necho report >&2\n", encoding="utf-8")
    (programs / "python").chmod(0o755)
    monkeypatch.setattr(record_output, "ROOT", repository)
    monkeypatch.setattr(record_output, "SIMULATED_PYTHON", Path("other/bin/python"))
    assert "simulated-mps" in record_output.machine_traits()
    assert run(ENTRY | {"needs": ["simulated-mps"]}, repository) == "own python\nreport\n"
    (programs / "python").unlink()
    assert "simulated-mps" not in record_output.machine_traits()


@pytest.mark.program
def test_commands_write_nothing_into_the_repository(repository):
    before = sorted(repository.rglob("*"))
    run(ENTRY, repository)
    assert sorted(path for path in repository.rglob("*") if "__pycache__" not in path.parts) == before


@pytest.mark.program
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"command": "python examples/fails.py"}, "error: no"),
        ({"command": "python examples/silent.py"}, "printed nothing"),
        ({"keep": {"curves.png": "x.png"}}, "expected one curves.png in its run folder, found 0"),
    ],
)
def test_failed_commands_are_not_recorded(repository, change, message):
    with pytest.raises(RecordingFailed, match=message):
        run(ENTRY | change, repository)


def test_machines_are_stored_while_a_recording_uses_them(repository, plant):
    plant("docs/data/recorded/other.yaml", HELLO)
    machine = {"system": "Linux x86-64", "cpu_cores": 2, "versions": {"torch": "2.15.0"}}
    note(repository, "hello", "2026-11-20", machine)
    note(repository, "other", "2026-11-21", machine)
    assert read_machines(repository) == {"torch-2.15.0": machine}
    note(repository, "other", "2026-11-22", machine | {"cpu_cores": 4})
    used = [recording["machine"] for recording in read_recordings(repository).values()]
    assert used == ["torch-2.15.0", "torch-2.15.0-other"]
    note(repository, "hello", "2026-11-22", machine | {"cpu_cores": 4})
    assert read_machines(repository) == {"torch-2.15.0-other": machine | {"cpu_cores": 4}}
    assert len((repository / MACHINES).read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("command: x", r"a\.yaml: give it `command:` and `compare: exact` or"),
        ("{command: x, compare: roughly}", r"a\.yaml: give it"),
        ("{command: x, compare: exact, needs: [luck]}", r"a\.yaml: needs: luck: choose from arm64, cpu"),
    ],
)
def test_wrong_descriptions(plant, tmp_path, text, message):
    plant("docs/data/recorded/a.yaml", text)
    with pytest.raises(ValueError, match=message):
        read_recordings(tmp_path)


def test_unknown_names_and_unsuitable_machines(repository, monkeypatch, capsys):
    with pytest.raises(ValueError, match="no recording is named nope; choose from: hello"):
        record(["nope"], repository)
    path = repository / "docs/data/recorded/hello.yaml"
    path.write_text(f"{HELLO}needs: [mps]\n", encoding="utf-8")
    monkeypatch.setattr(record_output, "this_machine", lambda: ("cpu", {}))
    record([], repository)
    assert "left as it is: hello needs mps" in capsys.readouterr().out
    assert not (repository / "docs/data/recorded/hello.txt").exists()


def test_command_line_errors_are_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["record_output.py", "nope"])
    monkeypatch.setattr(record_output, "read_recordings", lambda root: {"hello": ENTRY})
    assert record_output.main() == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert Path(record_output.ROOT, "tools/record_output.py").is_file()


def test_output_is_compared_up_to_the_named_line():
    text = "first\nslowest calls:\n  b\n  a\n"
    assert compared_part(ENTRY, text) == text
    assert compared_part(ENTRY | {"until": "slowest calls"}, text) == "first\nslowest calls:"
    with pytest.raises(ValueError, match="no line of the output contains 'fastest'"):
        compared_part(ENTRY | {"until": "fastest"}, text)


def test_shorter_command_is_compared_without_row_count():
    entry = ENTRY | {"repeat": "python examples/hello.py --quick"}
    assert repeated(entry) == ENTRY | {"command": entry["repeat"]}
    assert repeated(ENTRY) == ENTRY
    recorded, printed = "epoch loss\n1 2.5\n2 1.5\ndone\n", "epoch loss\n1 9.5\ndone\n"
    assert compared_part(entry, recorded) == compared_part(entry, printed)
    assert compared_part(ENTRY, recorded) != compared_part(ENTRY, printed)
    for other in ("epoch loss\ndone\n", "epoch loss\n1 9.5\nstopped\n", "epoch loss\n1 9.5 nan\ndone\n"):
        assert compared_part(entry, recorded) != compared_part(entry, other)
