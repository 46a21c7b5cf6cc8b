"""What a program did not make is not replaced: it says so before it computes anything."""

import importlib

import pytest

from snippets.errors import exit_with_one_line
from tests.examples.program_runs import contents

TARGETS = [  # program, words, and a file of somebody else that it would write to
    ("cifar_optimizers.grid", "--out=x", "x/grid.json"),
    ("cifar_optimizers.grid", "--out=x", "x/grid.png"),
    ("cifar_optimizers.label_noise", "--out=x", "x/label_noise.json"),
    ("cifar_optimizers.label_noise", "--out=x", "x/noise-0/grid.json"),
    ("genomic_caduceus.compare_seeds", "--out=x", "x/summary.json"),
    ("genomic_caduceus.verify", "", "mps_optimization_report.json"),
    ("genomic_caduceus.verify", "--json=x/config.json", "x/config.json"),
    ("benchmark", "cifar_optimizers --json=x/config.json", "x/config.json"),
    ("benchmark", "cifar_optimizers --chart=x/curves.png", "x/curves.png"),
    ("benchmark", "cifar_optimizers --chart=x/curves.svg", "x/curves.svg"),
    ("profile_training", "cifar_optimizers --out=x", "x/profile_cifar_optimizers.json"),
]
SUFFIXES = [
    ("genomic_caduceus.verify", "--json=x/best.pt", "--json x/best.pt: the name must end in .json"),
    ("benchmark", "cifar_optimizers --json=x/best.pt", "--json x/best.pt: the name must end in .json"),
    ("benchmark", "cifar_optimizers --chart=x/best.pt", "the name must end in .png or .svg or .pdf"),
]


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Return a function that calls a program, which must end with one line and touch nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()

    def call(program, words):
        before = contents(tmp_path)
        main = importlib.import_module(f"examples.{program}").main
        assert exit_with_one_line(main, words.split()) == 2
        assert contents(tmp_path) == before
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    return call


@pytest.mark.parametrize("content", ['{"system": "cifar_optimizers", "runs": 3}', "no JSON"])
@pytest.mark.parametrize(("program", "words", "file"), TARGETS)
def test_a_file_of_somebody_else_is_not_replaced(refused, tmp_path, program, words, file, content):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(content)
    assert f"{file} is there already and is no file that this command made; choose" in refused(program, words)


@pytest.mark.parametrize(("program", "words", "message"), SUFFIXES)
def test_a_name_must_have_its_suffix(refused, program, words, message):
    assert message in refused(program, words)
