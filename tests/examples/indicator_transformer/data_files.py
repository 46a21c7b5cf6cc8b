"""The files that this system reads, for the attacks of test_damaged_data.py."""

from examples.indicator_transformer.bars import read_bars
from examples.indicator_transformer.generated_bars import generate_market


def make_csv(path):
    """Write some bars as text."""
    generate_market(60).bars.table.to_csv(path)


def make_parquet(path):
    """Write some bars in columns."""
    generate_market(60).bars.table.to_parquet(path)


def check(bars):
    """Fail unless what was read has passed the checks that are promised."""
    assert list(bars.table.columns) == ["open", "high", "low", "close", "volume"]
    assert (bars.table[["open", "high", "low", "close"]] > 0).all(axis=None)
    assert bars.table.index.is_monotonic_increasing and bars.table.index.is_unique
    assert bars.interval.value > 0


# name: what makes such a file, what reads it, what must hold for what was read
FILES = {"ACME.csv": (make_csv, read_bars, check), "ACME.parquet": (make_parquet, read_bars, check)}
