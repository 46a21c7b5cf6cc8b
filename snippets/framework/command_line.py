"""Strict command lines: no abbreviations, and errors in one line that name what would be valid."""

import argparse
import math
from collections.abc import Callable, Sequence

from snippets.framework.errors import UsageError


class StrictParser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError instead of printing its usage and exiting."""

    def __init__(self, **options: object) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> None:
        """Raise UsageError with argparse's message, which names the flag and the valid values."""
        raise UsageError(message.removeprefix("argument "))

    def parse_args(self, args: Sequence[str] | None = None, namespace: None = None) -> argparse.Namespace:
        """Return the options. Raises UsageError for an unknown flag, with the list of known ones."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
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
