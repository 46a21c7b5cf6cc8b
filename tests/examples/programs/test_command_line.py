"""Strict command lines."""

import pytest

from examples.programs.command_line import StrictParser, number, whole_number
from snippets.errors import UsageError


@pytest.fixture
def parser():
    parser = StrictParser(prog="train.py")
    parser.add_argument("--epochs", type=whole_number(1, 100))
    parser.add_argument("--lr", type=number(0, 10, above=True))
    parser.add_argument("--noise", type=number(0, 1, below=True))
    parser.add_argument("--optimizer", choices=("sgd", "lion"))
    return parser


def test_good_values(parser):
    options = parser.parse_args(["--epochs", "100", "--lr", "1e-3", "--noise", "0", "--optimizer", "lion"])
    assert (options.epochs, options.lr, options.noise, options.optimizer) == (100, 0.001, 0.0, "lion")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--epochs=--", "--epochs: expected one argument"),
        ("--epoch 3", "unknown option '--epoch'; options: --help --epochs --lr --noise --optimizer"),
        ("--lr 1 stray", "unknown option 'stray'"),
        ("--epochs 0", "--epochs: must be a whole number from 1 to 100, not '0'"),
        ("--epochs -5", "--epochs: must be a whole number from 1 to 100, not '-5'"),
        ("--epochs 1.5", "--epochs: must be a whole number"),
        ("--epochs 101", "--epochs: must be a whole number"),
        ("--lr 0", "--lr: must be a number above 0 to 10, not '0'"),
        ("--lr nan", "--lr: must be a number"),
        ("--lr inf", "--lr: must be a number"),
        ("--lr fast", "--lr: must be a number"),
        ("--noise 1", "--noise: must be a number from 0 and below 1, not '1'"),
        ("--noise -0.1", "--noise: must be a number"),
        ("--optimizer adamax", "choose from"),
        ("--lr", "--lr: expected one argument"),
    ],
)
def test_bad_values_are_named(parser, words, message):
    with pytest.raises(UsageError) as caught:
        parser.parse_args(words.split())
    assert message in str(caught.value)


def test_help_still_works(parser, capsys):
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(["--help"])
    assert caught.value.code == 0
    assert "--optimizer" in capsys.readouterr().out


def test_an_unknown_option_beside_positional_arguments():
    parser = StrictParser(prog="x")
    parser.add_argument("folders", nargs="*")
    with pytest.raises(UsageError, match=r"unknown option '--fast'; options: --help$"):
        parser.parse_args(["a", "--fast"])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--quick=1", "--quick takes no value, not '1'"),
        ("--help=x", "--help takes no value, not 'x'"),
        ("--out=--", "--out: expected one argument"),
        ("--other=--", "unknown option '--other=--'"),
    ],
)
def test_a_value_of_a_switch_is_told_as_such(word, message):
    parser = StrictParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out")
    with pytest.raises(UsageError) as refused:
        parser.parse_args([word])
    assert str(refused.value).startswith(message)
