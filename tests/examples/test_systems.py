"""The registry of training systems: complete, true, and able to train with several programs."""

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples import systems
from examples.systems import SYSTEMS, Program, System, UnknownSystem, find, main, modules, names
from tests.examples import system_pieces
from tests.examples.system_pieces import FILES, LISTS, READMES, missing_pieces

ROOT = Path(__file__).resolve().parents[2]
NOTE_DOWN = """
import pathlib, sys, time
log = pathlib.Path(sys.argv[1])
log.open("a").write(pathlib.Path(__file__).stem[-1] + " ".join(sys.argv[2:]))
"""


def test_every_folder_with_a_training_program_is_there():
    files = [*(ROOT / "examples").glob("*/train.py"), *(ROOT / "examples").glob("*/train_*.py")]
    folders = {path.parent.name for path in files}
    known = {system.name for system in SYSTEMS}
    unknown = [f"examples/{name}/ is not in SYSTEMS of examples/systems.py" for name in folders - known]
    assert not unknown, "\n".join(unknown)
    assert known == folders


@pytest.mark.parametrize("name", modules())
def test_program_has_its_name_and_reads_tiny_options(name):
    """Runs lie in the folder of that name, so that `--resume auto` finds those of the same program."""
    program = importlib.import_module(modules()[name]).PROGRAM
    assert program.system == name
    (known,) = find(name)[1]
    typed = program.read_command_line(known.words(known.tiny))
    if known.speaks_hydra:  # some keys are named after where they stand
        assert sorted(typed.values()) == sorted(known.tiny.values())
    else:
        assert typed.items() >= known.tiny.items()


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_nothing_is_missing(system):
    missing = missing_pieces(system)
    assert not missing, "\n".join(["", *missing])


def test_a_new_system_is_told_what_it_lacks(tmp_path, monkeypatch):
    """Nine files that there are, besides the registry, the new ones, and a program without a command."""
    planted = System("planted", (Program("train", {}),), "planted")
    missing = missing_pieces(planted)
    named = [line.split()[0] for line in missing]
    there = {name for name in named if (ROOT / name).exists()}
    assert there == {*LISTS}
    new = {file.format("planted") for file in FILES} | {
        f"docs/{language}/{page}" for language in READMES for page in planted.pages
    }
    assert set(named) == there | new
    assert all("planted" in line for line in missing)
    monkeypatch.setattr(system_pieces, "ROOT", tmp_path)
    (tmp_path / "examples/planted").mkdir(parents=True)
    (tmp_path / "examples/planted/train.py").write_text("def main():\n")
    (tmp_path / "examples/planted/draw.py").write_text("def main():\n")
    (line,) = system_pieces.missing_commands(planted)
    assert line.startswith("examples/planted/draw.py is a program without a command: ")


def test_measured_trainings_are_called_something_in_both_languages():
    for system in SYSTEMS:
        for case in system.measured:
            assert case.title.keys() == {"en", "zh"} and all(case.title.values()), (system.name, case.name)


@pytest.mark.parametrize("names", [list(modules()), [system.name for system in SYSTEMS]])
def test_every_measured_training_is_found_once(names):
    """By the names of programs, and by those of systems."""
    measured = [case for name in names for case in systems.measured_trainings(name)]
    assert measured == [case for system in SYSTEMS for case in system.measured]


def test_shared_names_become_words_of_either_language():
    settings = {"max_steps": 3, "compile": True, "data": None, "lr": 0.1, "quick": False}
    assert Program("train", {}).words(settings) == ["--max-steps", "3", "--compile", "--lr", "0.1"]
    hydra = Program("train", {}, speaks_hydra=True)
    assert hydra.words(settings) == ["max_steps=3", "compile=true", "lr=0.1"]


@pytest.fixture
def two_programs(tmp_path, monkeypatch):
    """Register a system with two programs that write their letter and arguments into a file."""
    system = System("plans", (Program("train_a", {}), Program("train_b", {})), "plans")
    monkeypatch.setattr(systems, "SYSTEMS", (*SYSTEMS, system))
    monkeypatch.setattr(systems, "FOLDER", tmp_path)
    (tmp_path / "plans").mkdir()

    def write(a="", b=""):
        for name, end in (("a", a), ("b", b)):
            (tmp_path / "plans" / f"train_{name}.py").write_text(NOTE_DOWN + end, encoding="utf-8")
        return tmp_path / "log"

    return write


def test_a_system_of_several_programs_names_all_of_them(two_programs):
    assert find("plans")[1] == find("plans/train_a")[1] + find("plans/train_b")[1]
    assert modules()["plans/train_b"] == "examples.plans.train_b"
    assert "plans" in names() and "plans" not in modules()


@pytest.mark.parametrize("name", ["", "plan", "plans/", "plans/train", "plans/train_a/x", "/train_a"])
def test_other_names_are_one_line(two_programs, capsys, name):
    with pytest.raises(UnknownSystem):
        find(name)
    assert main([name]) == main(["--known", name]) == 2
    assert ", plans, plans/train_a, plans/train_b" in capsys.readouterr().err.splitlines()[0]


@pytest.mark.program
def test_programs_train_in_order_until_a_failure(two_programs):
    log = two_programs()
    assert main(["plans", str(log), "--quick"]) == 0
    assert log.read_text() == "a--quickb--quick"
    assert main(["plans/train_b", str(log)]) == 0
    assert log.read_text() == "a--quickb--quickb"
    log = two_programs(a="sys.exit(3)")
    assert main(["plans", str(log)]) == 3
    assert log.read_text() == "a--quickb--quickba"


STOPPED_POLITELY = """
import signal
def stop(number, frame):
    time.sleep(0.5)  # a step and a checkpoint
    print(f"saved after {number}", flush=True)
    sys.exit(128 + number)
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.program
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_gives_the_program_time_to_save(two_programs, tmp_path, number):
    """Ctrl-C reaches all processes of a terminal, SIGTERM only the one that it is sent to."""
    log = two_programs(a=STOPPED_POLITELY)
    code = (
        f"from pathlib import Path; from examples import systems as s; s.FOLDER = Path({str(tmp_path)!r}); "
        "s.SYSTEMS = (s.System('plans', (s.Program('train_a', {}), s.Program('train_b', {})), ()),); "
        f"import sys; sys.exit(s.main(['plans', {str(log)!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert out == f"saved after {int(number)}\n"
    assert process.returncode == 128 + number
    assert log.read_text() == "a"


def test_help_lists_systems_and_known_needs_a_name(capsys):
    assert main(["--help"]) == main([]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The training systems") and printed.count("two_tower\n") == 2
    assert main(["--known"]) == 2
    assert capsys.readouterr().err.startswith("error: '' is unknown; choose one of: ")
