"""Damage of every kind, drawn at random and the same in every run: bytes, nested content, words to type."""

import copy
import random

import pytest

from examples.systems import modules

# What nobody writes, but a file or a command line can hold.
STRANGE = (
    None,
    True,
    "x",
    "",
    "\ud800",
    -1,
    10**400,
    -1.5,
    1e308,
    float("nan"),
    float("inf"),
    [],
    [None],
    {},
)
WORDS = (
    "",
    "0",
    "1",
    "3",
    "0.5",
    "-1",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-320",
    "9" * 5000,
    "x",
    "auto",
    "--",
    "=",
    "~",
)
WORDS += (
    "\udcff",
    "\x1b[2J",
    "中文",
    "０",
    "1_0",
    " 7 ",
    "+3",
    "[1]",
    "None",
    "a b",
    "no/such",
    ".",
    "/dev/null",
)


def few_or(many, few, **values):
    """Parametrize a test by `amount`: a sample; in `make test-long`, each program's share of `many`."""
    share = -(-many // len(modules()))
    in_all = pytest.param(share, marks=[pytest.mark.long, pytest.mark.timeout(7200)], id="all")
    return pytest.mark.parametrize("amount", [pytest.param(few, id="sample"), in_all], **values)


def flipped(content: bytes, places: list[int]) -> bytes:
    """Return `content` with the bits at `places` flipped."""
    changed = bytearray(content)
    for place in places:
        changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return `content` with bits flipped, bytes replaced, cut off, doubled or put between others.

    Most changes are near the ends: there a format has its names, lengths and lists.
    """
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        near = chance.choice((len(changed), 300, 300))
        place = min(chance.randrange(max(near, 1)), max(len(changed) - 1, 0))
        if chance.random() < 0.5:
            place = max(len(changed) - 1 - place, 0)
        length = chance.choice((1, 2, 4, 16, 100))
        kind = chance.choice(("flip", "flip", "replace", "remove", "double", "insert", "cut"))
        if kind == "flip" and changed:
            changed[place] ^= 1 << chance.randrange(8)
        elif kind == "replace":
            changed[place : place + length] = chance.randbytes(length)
        elif kind == "remove":
            del changed[place : place + length]
        elif kind == "double":
            changed[place:place] = changed[place : place + length]
        elif kind == "insert":
            changed[place:place] = str(chance.choice(WORDS)).encode(errors="surrogateescape")
        elif kind == "cut" and chance.random() < 0.3:
            del changed[place:]
    return bytes(changed)


def edited(value: dict, chance: random.Random, key: str | None = None) -> tuple[str, dict]:
    """Return what was changed, and a copy of the nested `value` with one entry replaced or removed.

    `key` says in which entry of the top.
    """
    holder = changed = copy.deepcopy(value)
    key = key or chance.choice(list(changed))
    where = [key]
    while isinstance(holder[key], dict | list) and holder[key] and chance.random() < 0.8:
        holder = holder[key]
        key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        where.append(key)
    if isinstance(holder, dict) and chance.random() < 0.2:
        del holder[key]
        return f"{where} removed", changed
    holder[key] = chance.choice(STRANGE)
    return f"{where} = {holder[key]!r:.30}", changed


def assert_answered(outcome, codes, what):
    """Assert that a program ended with one of the `codes`, and with one line if something was wrong."""
    assert outcome.code in codes, (what, outcome.err)
    assert outcome.err.count("\n") == (outcome.code != 0), (what, outcome.err)
    assert outcome.code == 0 or outcome.err.startswith("error: "), (what, outcome.err)
