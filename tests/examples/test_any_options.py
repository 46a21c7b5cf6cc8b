"""Whatever is typed behind the name of a training program: it trains, or one line says what is wrong."""

import json
import math
import random
from dataclasses import asdict
from pathlib import Path

import pytest

from snippets.framework.errors import UsageError
from snippets.framework.training_options import check_saved
from tests.examples.attacks import WORDS, assert_answered, few_or

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


@pytest.mark.one_per_loop
def test_options_are_read_or_refused(system, program, flags, tmp_path, monkeypatch):
    """What is accepted is a possible number, could be saved, and read again in a run that is continued."""
    monkeypatch.chdir(tmp_path)
    chance, accepted = random.Random(1), 0
    pairs = [[f"{flag}={word}"] for flag in flags for word in WORDS]
    attacks = pairs + [combination(flags, chance) for _ in range(COMBINATIONS)]
    if program.speaks_hydra:  # to compose a configuration takes a tenth of a second
        attacks = chance.sample(attacks, 60)
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
