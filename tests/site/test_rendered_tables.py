"""Every table shows what it did when somebody last read it: a wrong column or unit is a difference."""

import difflib
import re
from itertools import combinations

import pytest

from tests.site.rendered_tables import STORED, rendered

pytestmark = pytest.mark.unmeasured
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


@pytest.mark.slow
def test_every_table_is_the_stored_one():
    before, now = (text.splitlines() for text in (STORED.read_text(encoding="utf-8"), rendered()))
    changes = list(difflib.unified_diff(before, now, "stored", "rendered", lineterm="", n=0))
    advice = "\nIf that is right: python -m tests.site.rendered_tables"
    assert not changes, "\n".join(changes[:20]) + advice


def test_no_two_columns_of_a_table_have_equal_cells():
    """If they had, either could stand under the heading of the other."""
    compared = 0
    for table in TABLE.findall(STORED.read_text(encoding="utf-8")):
        rows = [row.strip("| ").split(" | ") for row in table.splitlines()]
        for first, second in combinations(zip(*rows, strict=True), 2):
            assert first[2:] != second[2:], (first[0], second[0])
            compared += 1
    assert compared > 1000
