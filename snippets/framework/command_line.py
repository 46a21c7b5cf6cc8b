"""Strict command lines: no abbreviations, and errors in one line that name what would be valid."""

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence

from snippets.framework.errors import UsageError


class StrictParser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError instead of printing its usage and exiting.

    `former` maps the names that flags have elsewhere, such as in a source guide, to ours.
    """

    def __init__(self, *, former: Mapping[str, str] | None = None, **options: object) -> None:
        super().__init__(allow_abbrev=False, **options)
        self.former = former or {}

    def error(self, message: str) -> None:
        """Raise UsageError with argparse's message, which names the flag and the valid values."""
        raise UsageError(message.removeprefix("argument "))

    def parse_known_args(
        self, args: Sequence[str] | None = None, namespace: None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return options and unknown words. Raises UsageError, also for `--flag=--`, to argparse a list."""
        words = list(sys.argv[1:] if args is None else args)
        for word in words:
            if word.startswith("--") and word.endswith("=--"):
                raise UsageError(f"{word.removesuffix('=--')}: expected one argument")
        return super().parse_known_args(words, namespace)

    def parse_args(self, args: Sequence[str] | None = None, namespace: None = None) -> argparse.Namespace:
        """Return the options. Raises UsageError for an unknown flag, with the list of known ones."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            named = unknown[0].partition("=")[0]
            if named in self.former:
                raise UsageError(f"unknown option {named!r}: here it is {self.former[named]}")
            flags = [flag for action in self._actions for flag in action.option_strings if flag[:2] == "--"]
            raise UsageError(f"unknown option {unknown[0]!r}; options: {' '.join(flags)}")
        return options


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from `low` to `high`, for the `type` of an option."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low} to {high}, not {text!r}")
        return value

    return read


def number(low: float, high: float, *, above: bool = False, below: bool = False) -> Callable[[str], float]:
    """Return a reader of numbers from `low` to `high`; `above` and `below` exclude the limit itself."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        inside = (low < value if above else low <= value) and (value < high if below else value <= high)
        if not inside:  # NaN is never inside
            words = f"{'above' if above else 'from'} {low:g} {'and below' if below else 'to'} {high:g}"
            raise argparse.ArgumentTypeError(f"must be a number {words}, not {text!r}")
        return value

    return read
