"""Data files of every system with changed bytes: read, with all that is promised of them, or refused.

Which files a system reads says `data_files.py` in its folder of tests.
"""

import importlib
import os
import random
from pathlib import Path

import pytest

from examples.systems import SYSTEMS
from snippets.errors import UsageError
from tests.examples.attacks import few_or, mutated

pytestmark = pytest.mark.unmeasured


def files():
    """Yield each kind of file of each system (test_systems.py misses one that does not say which)."""
    for system in SYSTEMS:
        if (Path(__file__).parent / system.name / "data_files.py").exists():
            module = importlib.import_module(f"tests.examples.{system.name}.data_files")
            for file, (make, read, check) in module.FILES.items():
                yield pytest.param(file, make, read, check, id=f"{system.name}-{file}")


KINDS = {
    "a named pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    "itself": lambda path: path.symlink_to(path),
    "nothing": lambda path: None,
    "a terabyte of holes": lambda path: (path.touch(), os.truncate(path, 1 << 40)),
    "a name that is too long": lambda path: None,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("file", "make", "read", "check"), list(files()))
@pytest.mark.timeout(60)
def test_what_is_no_file_is_one_line(tmp_path, file, make, read, check, kind):
    """A program that opens a pipe waits for ever, and one that reads a device takes all memory."""
    path = tmp_path / file
    make(path)
    path.unlink()
    if kind == "a name that is too long":
        path = path.with_name("x" * 300 + "".join(path.suffixes))
    KINDS[kind](path)
    if not os.path.lexists(path) and path.parent != tmp_path:
        return  # one file of many: the others are read
    with pytest.raises((UsageError, OSError)) as refused:  # of an OSError, the program prints name and reason
        read(path)
    reason = str(getattr(refused.value, "strerror", None) or refused.value)
    assert "\n" not in reason
    if kind in ("a named pipe", "a device"):  # a folder may be a data set
        assert f"it is {kind}, not a file" in reason


@pytest.mark.parametrize(("file", "make", "read", "check"), list(files()))
def test_a_name_of_255_characters(tmp_path, file, make, read, check):
    path = tmp_path / file
    make(path)
    if path.parent == tmp_path:  # of others, the name is that of the class
        path = path.rename(path.with_name("x" * (255 - len(path.name)) + path.name))
    check(read(path))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "make", "read", "check"), list(files()))
@few_or(10_000, 100)
def test_damaged_data(tmp_path, file, make, read, check, amount):
    path, chance = tmp_path / file, random.Random(1)
    make(path)
    check(read(path))
    whole, refused = path.read_bytes(), 0
    for number in range(amount):
        content = mutated(whole, chance) if number else b""
        path.write_bytes(content)
        try:
            found = read(path)
        except UsageError:
            refused += 1
        else:
            check(found)
    assert refused > amount // 20
