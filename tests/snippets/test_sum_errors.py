"""The error of sums: the stored figures, and where a sum no longer grows."""

from pathlib import Path

import pytest
import torch

from snippets.errors import exit_with_one_line
from snippets.sum_errors import FORMATS, SIZES, main, sum_errors
from tools.read_yaml import read_yaml

STORED = Path(__file__).resolve().parents[2] / "docs/data/results/sum_errors.yaml"


@pytest.mark.parametrize("name", FORMATS)
def test_the_stored_errors_are_those_of_the_sums(name):
    stored = read_yaml(STORED)
    (errors,) = (entry["errors"] for entry in stored["formats"] if entry["format"] == name)
    assert tuple(stored["sizes"]) == SIZES
    assert errors == pytest.approx(sum_errors(FORMATS[name]), rel=0.01)


def test_a_single_value_is_its_own_sum():
    assert sum_errors(torch.bfloat16, [1]) == [0]


@pytest.mark.slow
def test_what_is_printed_is_what_is_stored(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out == STORED.read_text(encoding="utf-8").partition("formats:\n")[2]


def test_an_argument_is_an_error(capsys):
    assert exit_with_one_line(main, ["bf16"]) == 2
    assert "expected no argument" in capsys.readouterr().err
