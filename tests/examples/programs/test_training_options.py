"""One vocabulary for all training systems, and which options a resumed run may change."""

from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from examples.programs.command_line import StrictParser
from examples.programs.options import (
    TrainingOptions,
    add_training_options,
    check_saved,
    of_this_version,
    options_to_continue,
    same_run,
    typed_options,
)
from snippets.errors import UsageError

VOCABULARY = """
    --device --precision --compile --graphs --fused --tf32 --data --epochs --max-steps --batch-size
    --accumulate --lr --weight-decay --seed --workers --out --resume --quick
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
    parser.add_argument("--width", type=int)
    return typed_options(parser, list(words))


def test_the_vocabulary():
    parser = StrictParser(prog="train.py")
    add_training_options(parser, {"epochs": "10, CIFAR: 200"})
    flags = [action.option_strings[0] for action in parser._actions[1:]]
    assert flags == VOCABULARY.split()
    assert "passes over the data; 10, CIFAR: 200" in parser.format_help()


def test_only_what_was_typed():
    assert read() == {}
    assert read("--weight-decay", "0", "--compile") == {"weight_decay": 0.0, "compile": True}
    assert read("--no-compile") == {"compile": False}
    assert read("--out=~/run") == {"out": Path.home() / "run"}


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


def config_of(**options):
    """Return what is kept of a run: the format that "auto" meant is known by its name."""
    return {"options": asdict(Options(**{"precision": "fp32"} | options))}


def test_a_run_continues_with_its_own_options():
    config = config_of(lr=0.5, device="cuda", workers=64, compile=True)
    typed = {"device": "cpu", "compile": False, "workers": 2}
    options = options_to_continue(config, typed, resolve, FOLDER)
    assert options == Options(lr=0.5, device="cpu", workers=2, precision="fp32")


@pytest.mark.parametrize("typed", [{}, {"precision": "bf16"}, {"precision": "auto"}])
@pytest.mark.parametrize("kept", ["bf16", "auto"])
def test_a_run_keeps_its_format_on_any_device(typed, kept):
    """Runs of older versions kept "auto", and in words what it had meant."""
    config = config_of(precision=kept) | {"precision": "bf16 (automatic choice)"}
    assert options_to_continue(config, typed, resolve, FOLDER).precision == "bf16"
    with pytest.raises(UsageError, match="--precision is fp32 here but bf16 in the run in runs/a"):
        options_to_continue(config, {"precision": "fp32"}, resolve, FOLDER)


@pytest.mark.parametrize(("steps", "allowed"), [(None, False), (21, False), (20, True), (3, True)])
def test_quick_does_not_shorten_a_run_that_has_begun(steps, allowed):
    def resolve_quick(typed):
        return resolve({"max_steps": 20} | typed if "quick" in typed else typed)

    config = config_of(max_steps=steps)
    if allowed:
        assert options_to_continue(config, {"quick": True}, resolve_quick, FOLDER).max_steps == steps
    else:
        with pytest.raises(UsageError, match="--quick is for new runs, and the one in runs/a is longer"):
            options_to_continue(config, {"quick": True}, resolve_quick, FOLDER)


@pytest.mark.parametrize(
    ("name", "value"), [("precision", "bf16"), ("accumulate", 2), ("width", 16), ("seed", 1)]
)
def test_what_decides_the_result_must_stay(name, value):
    with pytest.raises(UsageError, match=f"--{name} is {value} here but .* in the run in runs/a"):
        options_to_continue(config_of(), {name: value}, resolve, FOLDER)


def check(config):
    check_saved(config, lambda words: read(*words), Options, FOLDER / "config.json")


def test_options_of_a_newer_version_are_refused():
    with pytest.raises(UsageError, match="made by another version of this program: it has --colour"):
        check({"options": asdict(Options()) | {"colour": "blue"}})


TYPED = {"compile": True, "max_steps": 3, "lr": 1e-7, "data": "-x", "seed": 5}


@pytest.mark.parametrize("options", [{}, TYPED])
def test_options_that_were_typed_may_be_read_again(options):
    check(config_of(**options))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("epochs", value) for value in (-5, 0, "x", "5", 1.5, [1], {}, True, False)],
        *[("lr", value) for value in (None, -1, 0, float("nan"), float("inf"), "fast")],
        *[("max_steps", -3), ("batch_size", -1), ("seed", -1), ("workers", 10**6), ("accumulate", 0)],
        *[("device", "tpu"), ("precision", "fp8"), ("weight_decay", -0.1)],
    ],
)
def test_edited_options_meet_the_checks_of_typed_ones(name, value):
    config = config_of()
    config["options"][name] = value
    flag = "--" + name.replace("_", "-")
    with pytest.raises(UsageError, match=rf"^runs/a/config\.json was changed: .*{flag}"):
        check(config)


def test_options_missing_from_older_runs_take_defaults():
    config = config_of()
    del config["options"]["accumulate"]
    assert options_to_continue(config, {}, resolve, FOLDER) == Options(precision="fp32")


def test_which_runs_are_equal():
    config = config_of(precision="auto", device="cuda", compile=True)
    assert same_run(Options(), config)
    assert not same_run(Options(seed=1), config)
    assert not same_run(Options(data="bars"), config)
    assert not same_run(Options(), {})


@pytest.mark.parametrize(
    ("change", "known"),
    [({}, True), ({"fused": None}, True), ({"lr": None}, False), ({"colour": "red"}, False)],
)
def test_only_switches_of_speed_may_be_missing(change, known):
    """They came after the first checkpoints."""
    saved = asdict(Options()) | change
    kept = {name: value for name, value in saved.items() if name not in change or value is not None}
    assert of_this_version(kept, Options) is known
    assert not of_this_version(None, Options)
