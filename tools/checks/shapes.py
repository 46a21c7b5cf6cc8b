"""The shape of a JSON file of others: which keys it has, and of which type their values are.

A shape is a type; a dictionary of shapes, in which a key that ends in `?` may be missing; or a list of one
shape, which all of its entries have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

LARGEST = 1e300  # JSON may hold 1e999, which Python reads as infinite


def short(value: Any) -> str:
    """Return a value of a file as part of one line."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number."""
    return type(value) in (int, float) and -LARGEST < value < LARGEST


def misshapen(value: Any, shape: Any, where: str) -> Iterator[str]:
    """Yield what is not of a shape; `where` names the value, such as "the report: checks"."""
    kind = type(shape) if isinstance(shape, dict | list) else shape
    right = is_number(value) if kind is float else isinstance(value, kind)
    if not right or (kind is int and not is_number(value)):
        yield f"{where} is {short(value)}, not of type {kind.__name__}"
    elif isinstance(shape, list):
        one = where.rpartition(" ")[2].removesuffix("s")
        for place, part in enumerate(value, start=1):
            yield from misshapen(part, shape[0], f"{one} {place}")
    elif isinstance(shape, dict):
        given = {key: part for key, part in shape.items() if not key.endswith("?") or key[:-1] in value}
        shapes = {key.removesuffix("?"): part for key, part in given.items()}
        for key in sorted(shapes.keys() ^ value.keys()):
            yield f"{where} {'has no' if key in shapes else 'cannot have'} {short(key)}"
        for key, part in shapes.items():
            yield from misshapen(value[key], part, f"{where}: {key}")
