"""Command lines in Hydra's language: the values that words set, and errors in one line.

Hydra composes the files in configs/. Its decorator is not used, because it would also change the working
folder and write its own logs.
"""

import argparse
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from examples.genomic_caduceus.config_files import CONFIGS, check_files, names_in
from examples.programs.command_line import expanded
from snippets.errors import UsageError, one_line

GROUPS = {"model", "dataset", "experiment"}  # folders of configs/ from which a file is chosen
KEY = re.compile(r"(\+{0,2}|~)[\w/]+(\.\w+)*", re.ASCII)
ONE_VALUE = "a run has one value of each option; for several seeds there is compare_seeds.py"
FILES = frozenset(
    {
        "data",
        "out",
        "resume",
        "train.pretrained",
        "dataset.intervals",
        "dataset.reference",
        "dataset.dataset_name",
    }
)


def div_up(whole: Any, part: Any) -> int:
    """Return whole / part, rounded up, for the configuration; 1 for values that are rejected later."""
    usable = isinstance(whole, int) and isinstance(part, int) and part > 0
    return -(-whole // part) if usable else 1


def compose_config(file: str, words: Sequence[str]) -> DictConfig:
    """Return the configuration of configs/<file>.yaml with the changes of the words. Raises UsageError."""
    overrides_in(words)
    check_files()
    OmegaConf.register_new_resolver("div_up", div_up, replace=True)  # other projects may use this name
    with initialize_config_dir(config_dir=str(CONFIGS), version_base="1.3"):
        try:
            return compose(file, [with_quotes(word) for word in words])
        except (HydraException, OmegaConfBaseException, YAMLError, ValueError, RecursionError) as error:
            raise UsageError(explained(error)) from None


def overrides_in(words: Sequence[str]) -> list[Override]:
    """Return the override of each word. Raises UsageError for a word that does not set a key to one value."""
    return [override_in(word) for word in words]


def override_in(word: str) -> Override:
    """Return the override of a word. Raises UsageError."""
    name, sign, value = word.partition("=")
    if not sign and not word.startswith("~"):
        raise UsageError(f"{word}: options are written as key=value")
    if not KEY.fullmatch(name):
        raise UsageError(f"{word}: no key is called {name!r}; --help lists the keys")
    try:
        override = parser().parse_override(with_quotes(word))
    except HydraException:
        raise UsageError(
            f"{word}: the value is not in Hydra's language, where quotes and brackets come in pairs, and "
            f"signs like , and = have a meaning; to mean the signs themselves, type \"{name}='...'\""
        ) from None
    except ValueError:  # Python's own limit, which Hydra does not expect
        raise UsageError(f"{name}: a number has too many digits") from None
    key = override.key_or_group
    if override.is_delete():
        raise UsageError(f"~{key}: no key can be removed")
    if override.is_sweep_override():
        raise UsageError(f"{word}: {ONE_VALUE}")
    if isinstance(override.value(), dict | list):
        raise UsageError(f"{word}: an option has one value, without brackets")
    if key in GROUPS and override.value() not in names_in(key):
        raise UsageError(f"{word}: there is no such file; choose {', '.join(names_in(key))}")
    if key in GROUPS and name != key:
        raise UsageError(f"{word}: a file is chosen without a sign, as in {key}={value}")
    return override


@functools.lru_cache
def parser() -> OverridesParser:
    """Return Hydra's parser of overrides, which is slow to construct."""
    return OverridesParser.create()


def with_quotes(word: str) -> str:
    """Return `data=/a folder` as `data='/a folder'`, since many characters in file names are Hydra syntax."""
    key, sign, value = word.partition("=")
    if not sign or key.lstrip("+") not in FILES or value in ("", "null") or value[0] in "'\"":
        return word
    return f"{key}={spelt(value)}"


def spelt(value: Any) -> str:
    """Return a value as text to type after the = of a key."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return str(value)
    text = re.sub(r"(\\*)('|$)", lambda match: match[1] * 2 + match[2].replace("'", r"\'"), str(value))
    return f"'{text}'"  # a backslash is special only before a quote


def literal(value: Any) -> Any:
    """Return a value in which ${…} is escaped."""
    return re.sub(r"(\\*)\$\{", r"\1\1\\${", value) if isinstance(value, str) else value


def leaves(values: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return the innermost values of nested dictionaries by their dotted names."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        inner = isinstance(value, dict) and value
        found |= leaves(value, f"{where}{name}.") if inner else {f"{where}{name}": value}
    return found


@functools.lru_cache
def composed_values(file: str, known: frozenset[str], *words: str) -> Mapping[str, Any]:
    """Return all values by their dotted names, with references resolved. Raises UsageError.

    A file may set the `known` keys, and any key to null. The result is cached, because Hydra needs a tenth of
    a second for it.
    """
    config = compose_config(file, words)
    as_written = leaves(OmegaConf.to_container(config))
    if unknown := sorted(name for name in as_written.keys() - known if as_written[name] is not None):
        raise UsageError(
            f"a chosen file in {CONFIGS} sets {unknown[0]}, which means nothing here; choose another file, "
            "or remove the key from it"
        )
    try:
        return leaves(OmegaConf.to_container(config, resolve=True))
    except (OmegaConfBaseException, ArithmeticError, TypeError, RecursionError) as error:
        raise UsageError(f"the configuration cannot be resolved: {one_line(str(error))}") from None


def explained(error: Exception) -> str:
    """Return the message of a Hydra error in one line."""
    if "integer string conversion" in str(error):  # Python's own limit, which Hydra does not expect
        return "a number has too many digits"
    return one_line(" ".join(line for line in str(error).splitlines() if "hydra.cc" not in line))


class Key(NamedTuple):
    """The path of an option in the configuration, the parser of its value, and its description."""

    path: str
    read: Callable[[str], Any]
    what: str
    default: Any = ...  # for a configuration without this key


def switch(text: str) -> bool:
    """Return the bool for the text true or false. Raises ArgumentTypeError."""
    if text not in ("True", "False"):
        raise argparse.ArgumentTypeError(f"must be true or false, not {text!r}")
    return text == "True"


def one_of(*names: str, former: Mapping[str, str] | None = None) -> Callable[[str], str]:
    """Return a parser for one of `names`, or for a former name of one."""
    meaning = {name: name for name in names} | dict(former or {})

    def read(text: str) -> str:
        if text not in meaning:
            raise argparse.ArgumentTypeError(f"must be one of {', '.join(meaning)}, not {text!r}")
        return meaning[text]

    return read


def or_null(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser that also accepts null."""
    return lambda text: None if text == "None" else read(text)


def path_of(text: str) -> str:
    """Return a path with ~ replaced by the home folder. Raises UsageError."""
    return str(expanded(text))
