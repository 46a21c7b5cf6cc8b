"""Settings, recipe, commands and messages on the pages are those of the program."""

import re
from pathlib import Path

import pytest

from examples.cifar_optimizers.optimizers import OPTIMIZERS
from examples.cifar_optimizers.options import PUBLISHED, SMALL, Options, read_command_line
from snippets.errors import Option
from tests.site.page_parts import below, rows

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for folder in ("examples/cifar_optimizers", "examples/programs", "snippets")
    for path in (ROOT / folder).rglob("*.py")
]


FLAG = re.compile(r"--[a-z]+(?:-[a-z]+)*")


@pytest.fixture(params=["en", "zh"])
def section(request):
    """Return the pages of one language as a function from page and id to the text below the heading."""
    folder = ROOT / "docs" / request.param / "examples" / "cifar-optimizers"

    return lambda page, ident: below((folder / f"{page}.md").read_text(encoding="utf-8"), ident)


def options_of(capsys):
    with pytest.raises(SystemExit):
        read_command_line(["--help"])
    return set(FLAG.findall(capsys.readouterr().out))


def test_settings_and_translated_commands_are_options_of_the_program(section, capsys):
    options = options_of(capsys)
    assert {row[0].strip("`") for row in rows(section("index", "settings"))} <= options
    ours = [row[1] for row in rows(section("source-guide", "commands")) if "/train.py" in row[1]]
    assert set(FLAG.findall(" ".join(ours))) <= options
    assert len(ours) > 5


def test_the_defaults_are_those_of_the_program(section):
    shown = {row[0].strip("`"): row[1] for row in rows(section("index", "settings"))}
    for flag, name in (("--width", "width"), ("--epochs", "epochs"), ("--batch-size", "batch_size")):
        assert re.findall(r"\d+", shown[flag]) == [str(SMALL[name]), str(PUBLISHED[name])]
    assert shown["--optimizer"] == f"`{Options.optimizer}`"
    for flag, name in (("--label-noise", "label_noise"), ("--seed", "seed")):
        assert float(shown[flag]) == getattr(Options, name)


def test_the_recipe_is_that_of_the_program(section):
    shown = {
        re.match(r"\w+", row[0])[0].lower(): (float(row[1]), float(re.match(r"[\d.]+", row[2])[0]))
        for row in rows(section("how-it-works", "recipe"))
    }
    assert shown == {name: (recipe.lr, recipe.weight_decay) for name, recipe in OPTIMIZERS.items()}


def test_quoted_messages_stand_in_the_program(section):
    """Compare the words between values, such as file names and numbers, with the texts in the source."""
    program = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    program = re.sub(
        r'",\s*Option\("(\w+)"(?:, "?([\w.]+)"?)?\),\s*f?"',
        lambda found: str(Option(*found.groups())),
        program,
    )
    compared = 0
    for quoted in re.findall(r"^### `([^`]+)`", section("index", "troubleshooting"), flags=re.MULTILINE):
        if quoted in ("CERTIFICATE_VERIFY_FAILED", "NotImplementedError"):  # Python's and PyTorch's
            continue
        for words in re.split(
            r"'[^']*'|data/cifar-10-batches-py|0\.\d+|\bnan\b|\b7\b|\bmps\b|--lr(?: is)?|--batch-size", quoted
        ):
            assert words.strip() in program, words
            compared += bool(words.strip())
    assert compared > 7
