"""Data files of every system with changed bytes: read, with all that is promised of them, or refused.

Which files a system reads says `data_files.py` in its folder of tests.
"""

import importlib
import random
from pathlib import Path

import pytest

from examples.systems import SYSTEMS
from snippets.framework.errors import UsageError
from tests.examples.attacks import few_or, mutated


def files():
    """Yield each kind of file of each system; a system without any is a test that is skipped, aloud."""
    for system in SYSTEMS:
        if (Path(__file__).parent / system.name / "data_files.py").exists():
            module = importlib.import_module(f"tests.examples.{system.name}.data_files")
            for file, (make, read, check) in module.FILES.items():
                yield pytest.param(file, make, read, check, id=f"{system.name}-{file}")
        else:
            reason = f"tests/examples/{system.name}/data_files.py does not say which files --data reads"
            yield pytest.param(*[None] * 4, marks=pytest.mark.skip(reason=reason), id=system.name)


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
