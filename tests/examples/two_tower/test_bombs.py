"""Small data files that mean gigabytes, or work without end, are refused in one line before they unfold."""

import json

import pytest
import torch

from examples.two_tower import near_miss_files
from examples.two_tower.generated_pairs import generate_pairs
from snippets import foreign_files
from snippets.errors import UsageError

LONG = b"x" * (foreign_files.LONGEST_LINE + 1)


def read_misses(path, rows=1000):
    """Read near misses of generated pairs."""
    pairs = generate_pairs(rows, 1.0, 0, 4, 4)
    return near_miss_files.read_near_misses(path, pairs, torch.zeros(rows, dtype=torch.bool))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            json.dumps({"q_index": 0, "near_miss_indices": [5] * 1001}).encode(),
            "line 1: 1,001 near misses; more",
        ),
        (LONG, "line 1 is longer than"),
        (b"[" * 100_000, "line 1: must look like"),
        (b'{"q_index": ' + b"9" * 100_000 + b', "near_miss_indices": []}', "line 1: must look like"),
        (
            json.dumps({"q_index": 0, "near_miss_indices": [5] * 900}).encode(),
            "one row has 900 near misses, and",
        ),
        (b'{"q_index": 3, "near_miss_indices": []}\n' * 2, "line 2: row 3 has a line already"),
    ],
)
def test_near_misses(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr(near_miss_files, "UNPACKED", 1_000_000)
    (tmp_path / "near.jsonl").write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_misses(tmp_path / "near.jsonl")
