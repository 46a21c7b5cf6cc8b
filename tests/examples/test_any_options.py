"""Whatever is typed behind the name of a program: it does what it is for, or one line says what is wrong."""

import importlib
import json
import math
import random
import re
import shutil
import signal
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from examples.programs.options import check_saved
from examples.systems import names
from snippets.errors import UsageError, exit_with_one_line
from tests.examples.attacks import WORDS, assert_answered, few_or
from tests.examples.every_program import CASES, COMMANDS, OTHERS, READING, RUNS
from tests.examples.program_runs import Outcome, contents

pytestmark = pytest.mark.unmeasured

COMBINATIONS = 420
SLOW = {"--compile", "--download", "--help", "compile"}  # a minute, a network, another end


@pytest.fixture
def flags(system):
    """Return the flags of the program, as it lists them itself."""
    with pytest.raises(UsageError, match="unknown option") as refused:
        system.PROGRAM.read_command_line(["--no-such-option"])
    flags = str(refused.value).partition("options: ")[2].split()
    return sorted({flag.removesuffix("=") for flag in flags} - SLOW)


def combination(flags, chance):
    """Return one to three flags with values; sometimes without, twice, joined, or nobody's."""
    words = []
    for _ in range(chance.randint(1, 3)):
        flag, value = chance.choice(flags), chance.choice(WORDS)
        words += chance.choice(([f"{flag}={value}"], [flag, value], [flag], [value]))
    return words


@pytest.mark.slow
@pytest.mark.two_for_all
def test_options_are_read_or_refused(system, program, flags, tmp_path, monkeypatch):
    """What is accepted is a possible number, could be saved, and read again in a run that is continued."""
    monkeypatch.chdir(tmp_path)
    chance, accepted = random.Random(1), 0
    pairs = [[f"{flag}={word}"] for flag in flags for word in WORDS]
    attacks = pairs + [combination(flags, chance) for _ in range(COMBINATIONS)]
    if program.speaks_hydra:  # to compose a configuration takes a tenth of a second
        attacks = chance.sample(attacks, 30)
    program, source = system.PROGRAM, Path("config.json")
    for words in attacks:
        try:
            options = program.resolve(program.read_command_line(words))
        except (UsageError, OSError):  # a name may be too long for the system
            continue
        accepted += 1
        numbers = [value for value in asdict(options).values() if isinstance(value, int | float)]
        assert all(0 <= value < math.inf for value in numbers), words
        config = {"options": asdict(options)}
        check_saved(config, program.read_command_line, type(options), source, program.spelling)
    assert len(attacks) // 50 < accepted < len(attacks)
    assert list(tmp_path.iterdir()) == []


@few_or(COMBINATIONS, 30)
def test_programs_train_or_end_with_one_line(
    run_train, tiny, program, flags, without_curves, tmp_path, monkeypatch, amount
):
    """What is refused leaves nothing behind."""
    chance, trained = random.Random(2), 0
    flags = [flag for flag in flags if flag.lstrip("-") != "workers"]  # processes take seconds to start
    for number in range(amount):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        words = combination(flags, chance) if number else []
        outcome = run_train(*tiny(), *words, *program.words({"max_steps": 1}))
        assert_answered(outcome, (0, 1, 2), words)
        if outcome.code == 0:
            (heartbeat,) = folder.rglob("heartbeat.json")
            assert json.loads(heartbeat.read_text())["step"] == 1, words
            trained += 1
        else:
            assert [path for path in folder.rglob("*") if path.is_file()] == [], words
    assert 0 < trained < amount


# ---- Programs that are no training program ----

NO_COMMANDS = {f"{name}/{script}" for name, cases in CASES.items() for script in cases.no_commands}
PROGRAMS = sorted(
    {command.script for command in OTHERS.values()}
    | NO_COMMANDS
    | {"check_setup.py", "systems.py", "verify_mac.py"}
)
PLACES = [f"{run}{file}" for run, _ in RUNS.values() for file in ("", "/checkpoints/best.pt", "/config.json")]
PLACES += ["runs", "thesis.txt", "new", "new.jsonl", *(command.data for command in READING.values())]
PLACES += [path for command in COMMANDS.values() for path in command.made]
NAMES = (*names(), "memory", "1", "3")
LONGEST = 0.5  # seconds; what works that long has understood its words


class Started(BaseException):
    """A program has begun with its work."""


@contextmanager
def only_begun(monkeypatch):
    """Let programs start no other ones, and end them when they work for longer."""

    def stop(*arguments, **options):
        raise Started

    ended, main_thread = threading.Event(), threading.main_thread().ident

    def end_late():
        while not ended.wait(LONGEST):  # again: an exception in a destructor is lost
            signal.pthread_kill(main_thread, signal.SIGUSR2)

    before = signal.signal(signal.SIGUSR2, stop)
    clock = threading.Thread(target=end_late)
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", stop)
        clock.start()
        try:
            yield
        except Started:
            pass
        finally:
            ended.set()
            clock.join()
            signal.signal(signal.SIGUSR2, before)


def outcome_of_words(script, words, monkeypatch, capfd):
    """Return what a program made of words: its exit code, 0 also when it was still at work, and its lines."""
    main = importlib.import_module(f"examples.{script.removesuffix('.py').replace('/', '.')}").main
    capfd.readouterr()
    code = 0
    with only_begun(monkeypatch):
        try:
            code = exit_with_one_line(main, words)
        except SystemExit as end:  # of argparse, after --help; check_setup.py needs nothing of ours
            code = end.code
    printed = capfd.readouterr()
    return Outcome(code, printed.out, printed.err, None)


def options_of(script, monkeypatch, capfd):
    """Return the options of a program, as it lists them itself."""
    listed = outcome_of_words(script, ["--help"], monkeypatch, capfd).out
    return sorted({*re.findall("--[a-z][a-z-]+", listed), "--help"} - {"--workers", "--download"})


def line_for(options, chance):
    """Return up to four options and names in any order, with values of any kind."""
    words = [chance.choice(NAMES)] if chance.random() < 0.3 else []
    for _ in range(chance.randint(0, 3)):
        option, value = chance.choice(options), chance.choice(chance.choice((WORDS, PLACES, NAMES)))
        words += chance.choice(([f"{option}={value}"], [option, value], [option], [value]))
    return words


@pytest.mark.program
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the end came in a destructor
@few_or(6 * 2000, 60)
def test_other_programs_begin_or_end_with_one_line(workplace, tmp_path, monkeypatch, capfd, amount):
    """No run, no data and no text of a user changes, whatever is typed."""
    folder = shutil.copytree(workplace, tmp_path / "work")
    (folder / "thesis.txt").write_text("years")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", (folder / "thesis.txt").open())
    chance, refused = random.Random(3), 0
    options = {script: options_of(script, monkeypatch, capfd) for script in PROGRAMS}
    before = contents(folder)
    for number in range(amount):
        script = PROGRAMS[number % len(PROGRAMS)]
        words = line_for(options[script], chance)
        outcome = outcome_of_words(script, words, monkeypatch, capfd)
        what = script, words
        if outcome.code == 2 or outcome.err.startswith("error: "):
            refused += 1
            error = outcome.err.partition("error: ")[2]
            assert error.count("\n") == 1 and error.strip(), (what, outcome.err)
        assert outcome.code in (0, 1, 2), (what, outcome.err)
        assert not set("\x1b\x9b\x07") & set(outcome.out + outcome.err), what
        assert before.items() <= contents(folder).items(), what
    assert 0 < refused < amount
