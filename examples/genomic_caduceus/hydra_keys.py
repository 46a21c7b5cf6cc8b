"""A key of the configuration and the reader of its value: in YAML, a word may stand for a number."""

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from snippets.framework.user_paths import expanded


class Key(NamedTuple):
    """Where an option stands in the configuration, what reads its value, and what it is."""

    path: str
    read: Callable[[str], Any]
    what: str
    default: Any = ...  # where a configuration has no such key


def switch(text: str) -> bool:
    """Return what true or false means. Raises ArgumentTypeError."""
    if text not in ("True", "False"):
        raise argparse.ArgumentTypeError(f"must be true or false, not {text!r}")
    return text == "True"


def one_of(*names: str, former: Mapping[str, str] | None = None) -> Callable[[str], str]:
    """Return a reader of one of `names`, or of what it was or is called elsewhere."""
    meaning = {name: name for name in names} | dict(former or {})

    def read(text: str) -> str:
        if text not in meaning:
            raise argparse.ArgumentTypeError(f"must be one of {', '.join(meaning)}, not {text!r}")
        return meaning[text]

    return read


def or_null(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader that also takes null."""
    return lambda text: None if text == "None" else read(text)


def path_of(text: str) -> str:
    """Return a file or folder with ~ as the home folder. Raises UsageError."""
    return str(expanded(text))
