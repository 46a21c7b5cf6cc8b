"""What the page of the training system says in tables is what the program has."""

import re
from pathlib import Path

import pytest

from examples.cifar_optimizers.optimizers import OPTIMIZERS
from examples.cifar_optimizers.options import PUBLISHED, SMALL, Options, read_command_line
from snippets.errors import Option

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for folder in ("examples/cifar_optimizers", "examples/programs", "snippets")
    for path in (ROOT / folder).rglob("*.py")
]


@pytest.fixture(params=["en", "zh"])
def page(request):
    """Return the page in one language as a function from a heading's id to the cells of its first table."""
    path = ROOT / "docs" / request.param / "examples" / "cifar-optimizers" / "training.md"
    text = path.read_text(encoding="utf-8")

    def rows(ident):
        section = re.split(r"^#+ ", text[text.index(f"{{ #{ident} }}") :], maxsplit=1, flags=re.MULTILINE)[0]
        lines = [line for line in section.splitlines() if line.startswith("|")]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]

    return rows


def test_the_options_are_those_of_the_program(page, capsys):
    with pytest.raises(SystemExit):
        read_command_line(["--help"])
    flags = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", capsys.readouterr().out)) - {"--help", "--no-compile"}
    assert {row[0].strip("`") for row in page("options")} == flags


def test_the_defaults_are_those_of_the_program(page):
    shown = {row[0].strip("`"): row[1] for row in page("options")}
    for flag, name in (("--width", "width"), ("--epochs", "epochs"), ("--batch-size", "batch_size")):
        assert re.findall(r"\d+", shown[flag]) == [str(SMALL[name]), str(PUBLISHED[name])]
    for flag, name in (("--device", "device"), ("--data", "data"), ("--optimizer", "optimizer")):
        assert shown[flag] == f"`{getattr(Options, name)}`"
    for flag, name in (
        ("--label-noise", "label_noise"),
        ("--data-fraction", "data_fraction"),
        ("--seed", "seed"),
    ):
        assert float(shown[flag]) == getattr(Options, name)


def test_the_recipe_is_that_of_the_program(page):
    shown = {re.match(r"\w+", row[0])[0].lower(): (float(row[1]), float(row[2])) for row in page("recipe")}
    assert shown == {name: (recipe.lr, recipe.weight_decay) for name, recipe in OPTIMIZERS.items()}


def test_quoted_messages_stand_in_the_program(page):
    """Compare the words between values, such as file names and numbers, with the texts in the source."""
    program = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    program = re.sub(
        r'",\s*Option\("(\w+)"(?:, "?([\w.]+)"?)?\),\s*f?"',
        lambda found: str(Option(*found.groups())),
        program,
    )
    compared = 0
    for row in page("errors"):
        for quoted in re.findall(r"`([^`]+)`", row[1]):
            for words in re.split(
                r"'[^']*'|data/cifar-10-batches-py|0\.\d+|\bnan\b|\b7\b|\bmps\b|--lr(?: is)?", quoted
            ):
                assert words.strip() in program, words
                compared += bool(words.strip())
    assert compared > 10
