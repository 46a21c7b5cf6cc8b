"""The tables about memory show known cells."""

import memory_tables
import pytest


@pytest.mark.parametrize(
    ("name", "language", "row"),
    [
        ("memory-optimizers", "en", "| SGD with momentum | 44.7 MB | 44.7 MB | 44.7 MB | 134.1 MB |"),
        ("memory-batches", "zh", "| 256 | 1,203.3 MB | 1,382.2 MB |"),
        ("memory-sweep", "en", "| 2048 | 88.5 | 23,143 | 15,555 MB | 10,072 MB |"),
    ],
)
def test_cells(name, language, row):
    assert row in memory_tables.TABLES[name](language).splitlines()
