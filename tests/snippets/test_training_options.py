"""One vocabulary for all training systems, and which options a resumed run may change."""

from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from snippets.command_line import StrictParser
from snippets.errors import UsageError
from snippets.training_options import (
    TrainingOptions,
    add_training_options,
    options_to_continue,
    same_run,
    typed_options,
)

VOCABULARY = """
    --device --precision --compile --data --epochs --max-steps --batch-size --accumulate
    --lr --weight-decay --seed --workers --out --resume --quick
"""
FOLDER = Path("runs/a")


@dataclass(frozen=True, kw_only=True)
class Options(TrainingOptions):
    """Those of a system with one option of its own."""

    data: str = "digits"
    epochs: int = 10
    batch_size: int = 64
    lr: float = 0.1
    weight_decay: float = 0.0
    width: int = 8


def resolve(typed):
    return Options(**{name: value for name, value in typed.items() if name in Options.__dataclass_fields__})


def read(*words):
    parser = StrictParser()
    add_training_options(parser, {"epochs": "10, CIFAR: 200"})
    return typed_options(parser, list(words))


def test_the_vocabulary():
    parser = StrictParser(prog="train.py")
    add_training_options(parser, {"epochs": "10, CIFAR: 200"})
    flags = [action.option_strings[-1] for action in parser._actions[1:]]
    assert flags == VOCABULARY.split()
    assert "passes over the data; 10, CIFAR: 200" in parser.format_help()


def test_only_what_was_typed():
    assert read() == {}
    assert read("--weight-decay", "0", "--compile") == {"weight_decay": 0.0, "compile": True}


@pytest.mark.parametrize(
    "words",
    [
        "--precision bf17", "--device gpu", "--epochs 0", "--batch-size 0", "--accumulate 0", "--workers -1",
        "--workers 1000000", "--lr nan", "--lr inf", "--lr -1", "--weight-decay inf", "--seed 4294967296",
        "--max-steps 1.5", "--prec bf16",
    ],
)  # fmt: skip
def test_absurd_values(words):
    with pytest.raises(UsageError):
        read(*words.split())


def test_a_run_continues_with_its_own_options():
    saved = asdict(Options(lr=0.5, device="cuda"))
    options = options_to_continue(saved, {"device": "cpu", "compile": True}, resolve, FOLDER)
    assert options == Options(lr=0.5, device="cpu", compile=True)


@pytest.mark.parametrize(
    ("name", "value"), [("precision", "bf16"), ("accumulate", 2), ("width", 16), ("seed", 1)]
)
def test_what_decides_the_result_must_stay(name, value):
    with pytest.raises(UsageError, match=f"--{name} is {value} here but .* in the run in runs/a"):
        options_to_continue(asdict(Options()), {name: value}, resolve, FOLDER)


def test_options_of_a_newer_version_are_refused():
    with pytest.raises(UsageError, match="made by another version of this program: it has --colour"):
        options_to_continue(asdict(Options()) | {"colour": "blue"}, {}, resolve, FOLDER)


def test_options_that_an_older_version_did_not_have_take_their_defaults():
    saved = asdict(Options())
    del saved["accumulate"]
    assert options_to_continue(saved, {}, resolve, FOLDER) == Options()


def test_which_runs_are_equal():
    config = {"options": asdict(Options(device="cuda", compile=True))}
    assert same_run(Options(), config)
    assert not same_run(Options(seed=1), config)
    assert not same_run(Options(data="bars"), config)
    assert not same_run(Options(), {})
