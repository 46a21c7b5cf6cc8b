"""Files in forms of docs/data/data_forms/two_tower.yaml that are not text."""

import pyarrow
from pyarrow import parquet

from tests.examples.two_tower.data_files import make_pairs


def parquet_pairs(folder):
    """Write question and answer as the Hugging Face Hub stores them."""
    columns = {
        "question": ["how long does a battery last?", "how much memory does it have?"],
        "answer": ["About ten hours, when the screen is dim.", "Eight, sixteen or more gigabytes."],
    }
    parquet.write_table(pyarrow.table(columns), folder / "train-00000-of-00001.parquet")


def ready_vectors(folder):
    """Write arrays of vectors."""
    make_pairs(folder / "pairs.npz")
