"""Checkpoints of every program with flipped bits, cut off, mutated: noticed, or no number changed."""

import random
import zipfile
from collections import Counter

import pytest

from snippets.checkpoints import DamagedCheckpoint, load_checkpoint
from snippets.errors import UsageError
from tests.examples.attacks import few_or, flipped, mutated
from tests.examples.program_runs import assert_same

pytestmark = pytest.mark.unmeasured

SECTOR = 512


@pytest.fixture
def whole(undisturbed, tiny):
    """Return the path of a checkpoint, which is not to be changed."""
    return undisturbed(tiny()).folder / "checkpoints" / "last.pt"


@pytest.fixture
def outcome(whole, tmp_path):
    """Return a function that says what becomes of a changed checkpoint. Fails if it loads as another one."""
    path, expected = tmp_path / "last.pt", load_checkpoint(whole)

    def load(content):
        path.write_bytes(content)
        try:
            found = load_checkpoint(path)
        except DamagedCheckpoint:
            return "noticed"
        assert_same(found, expected)
        assert found["config"] == expected["config"]
        return "harmless"

    return load


@pytest.mark.two_for_all
@few_or(700, 60)
def test_flipped_bits(whole, outcome, amount):
    """Half of them anywhere, half among the names, lengths and sums of the archive."""
    content, chance = whole.read_bytes(), random.Random(1)
    with zipfile.ZipFile(whole) as archive:
        directory = archive.start_dir
        parts = [part.header_offset for part in archive.infolist()]
    counts = Counter()
    for number in range(amount):
        place = chance.randrange(len(content))
        if number % 2:
            in_directory = chance.randrange(directory, len(content))
            place = chance.choice((in_directory, chance.choice(parts) + chance.randrange(30)))
        counts[outcome(flipped(content, [place * 8 + chance.randrange(8)]))] += 1
    assert counts["noticed"] > amount // 3, counts


@few_or(60, 5)
def test_overwritten_sectors(whole, outcome, amount):
    """Random bytes where the disk had others; only between the parts does nobody read them."""
    content, chance = whole.read_bytes(), random.Random(2)
    for _ in range(amount):
        start = chance.randrange(len(content) // SECTOR) * SECTOR
        assert outcome(content[:start] + chance.randbytes(SECTOR) + content[start + SECTOR :]) == "noticed"


def test_truncations(whole, outcome):
    content = whole.read_bytes()
    for percent in range(0, 100, 5):
        assert outcome(content[: len(content) * percent // 100]) == "noticed", percent
    assert outcome(content) == "harmless"


@few_or(400, 40)
def test_mutations(whole, tmp_path, amount):
    """Whatever the bytes are, there is an answer, and it is a UsageError or the content of a checkpoint."""
    content, chance = whole.read_bytes(), random.Random(3)
    refused = 0
    for _ in range(amount):
        (tmp_path / "last.pt").write_bytes(mutated(content, chance))
        try:
            assert load_checkpoint(tmp_path / "last.pt").keys() >= {"model", "step"}
        except UsageError:
            refused += 1
    assert refused > amount // 2
