"""A command line in Hydra's language: what its words set, and every mistake in one line.

Hydra composes the files in configs/. Its own decorator would also change the working folder and write logs of
its own, which a run folder has no use for.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from snippets.framework.errors import UsageError, one_line

CONFIGS = Path(__file__).with_name("configs")
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
    """Return whole / part, rounded up, for the configuration; 1 for what its readers will refuse."""
    usable = isinstance(whole, int) and isinstance(part, int) and part > 0
    return -(-whole // part) if usable else 1


def compose_config(file: str, words: Sequence[str]) -> DictConfig:
    """Return the configuration of configs/<file>.yaml with what the words change. Raises UsageError."""
    OmegaConf.register_new_resolver("div_up", div_up, replace=True)  # others use this name, too
    with initialize_config_dir(config_dir=str(CONFIGS), version_base="1.3"):
        try:
            return compose(file, [with_quotes(word) for word in words])
        except (HydraException, OmegaConfBaseException, ValueError) as error:
            raise UsageError(explained(error)) from None


def keys_of(words: Sequence[str]) -> set[str]:
    """Return the keys that the words set. Raises UsageError for what is no `key=value`."""
    try:
        parsed = parser().parse_overrides([with_quotes(word) for word in words])
    except (HydraException, ValueError) as error:
        raise UsageError(explained(error)) from None
    if removed := [override.key_or_group for override in parsed if override.is_delete()]:
        raise UsageError(f"~{removed[0]}: no key can be removed")
    return {override.key_or_group for override in parsed}


@functools.lru_cache
def parser() -> OverridesParser:
    """Return Hydra's reader of words, which takes a moment to make."""
    return OverridesParser.create()


def with_quotes(word: str) -> str:
    """Return `data=/a folder` as `data='/a folder'`: many signs in names of files mean something to Hydra."""
    key, sign, value = word.partition("=")
    if not sign or key.lstrip("+") not in FILES or value in ("", "null") or value[0] in "'\"":
        return word
    return f"{key}={spelt(value)}"


def spelt(value: Any) -> str:
    """Return a value as it is typed behind the = of a key."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return str(value)
    text = re.sub(r"(\\*)('|$)", lambda match: match[1] * 2 + match[2].replace("'", r"\'"), str(value))
    return f"'{text}'"  # a backslash means something before a quote alone


def leaves(values: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return the innermost values of nested dictionaries by their dotted names."""
    found = {}
    for name, value in values.items():
        inner = isinstance(value, dict) and value
        found |= leaves(value, f"{where}{name}.") if inner else {f"{where}{name}": value}
    return found


@functools.lru_cache
def composed_values(file: str, *words: str) -> Mapping[str, Any]:
    """Return all values by their dotted names, references followed. Raises UsageError.

    They are asked for several times, and Hydra takes a tenth of a second for them.
    """
    try:
        return leaves(OmegaConf.to_container(compose_config(file, words), resolve=True))
    except (OmegaConfBaseException, ArithmeticError, TypeError) as error:
        raise UsageError(f"the configuration cannot be resolved: {one_line(str(error))}") from None


def explained(error: Exception) -> str:
    """Return what Hydra says, in one line and with what to do here."""
    text = one_line(" ".join(line for line in str(error).splitlines() if "hydra.cc" not in line))
    quoted = text.partition("'")[2].partition("'")[0]
    if "--multirun" in text:
        return f"{quoted}: a run has one value; for several seeds there is compare_seeds.py"
    if "Could not find" in text:
        group, _, name = text.partition("Could not find '")[2].partition("'")[0].partition("/")
        files = (CONFIGS / group).rglob("*.yaml")
        names = sorted(path.relative_to(CONFIGS / group).with_suffix("").as_posix() for path in files)
        return f"{group}={name}: there is no such file; choose {', '.join(names)}"
    if "missing EQUAL" in text:
        return f"{quoted}: options are written as key=value"
    if "integer string conversion" in text:  # Python's own limit, which Hydra does not expect
        return "a number has too many digits"
    return f"{error.override}: {text}" if isinstance(error, OverrideParseException) else text
