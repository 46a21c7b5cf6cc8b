"""Time the 111 indicators and the ten context features on up to a year of minute bars, and store the result.

    python -m tools.measuring.indicator_features

The bars are a random walk. Every round computes each length once, so that whatever else the machine does
meets all of them. Seconds are those on the clock, and those that the CPU spent in this program: neither in
others nor in the system, which hands out memory. docs/data/results/indicator_features.yaml gets them, and the
exponent of a power law fitted to the CPU's: 1 is work in proportion to the number of bars.
"""

from __future__ import annotations

import math
import resource
import shlex
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy
import pandas
import yaml

from examples.indicator_transformer.context_features import compute_context
from examples.indicator_transformer.indicators import INDICATORS, compute_indicators
from examples.programs.command_line import StrictParser, whole_number
from snippets.errors import exit_with_one_line
from snippets.timing import spread
from tools.measuring.result_entries import RESULTS, origin, rounded, write

DATA = RESULTS / "indicator_features.yaml"
COMMAND = "python -m tools.measuring.indicator_features"
YEAR = 525_600  # minutes
PARTS = (8, 4, 2, 1)  # a year is divided by these
TICK = 1e-3  # seconds: some systems count user time in steps of about this size

_HEADER = """\
# By hand: shared and busy. tools/measuring/indicator_features.py writes the rest: seconds on the
# clock, and of the CPU in the program itself (user time), for all indicators and context features of one
# symbol, the median with the 10 % and 90 % quantiles; exponent: of a power law fitted to the CPU's medians.
"""


def random_walk(bars: int, seed: int = 0) -> pandas.DataFrame:
    """Return so many minute bars of a price that moves by 0.05 % per minute, with log-normal volumes."""
    random = numpy.random.default_rng(seed)
    close = 100 * numpy.exp(5e-4 * random.standard_normal(bars).cumsum())
    opening = numpy.concatenate([[100.0], close[:-1]])
    wicks = numpy.exp(2e-4 * numpy.abs(random.standard_normal((2, bars))))
    columns = {
        "open": opening,
        "high": numpy.maximum(opening, close) * wicks[0],
        "low": numpy.minimum(opening, close) / wicks[1],
        "close": close,
        "volume": random.lognormal(5, 1, bars),
    }
    return pandas.DataFrame(columns, index=pandas.date_range("2025-01-01", periods=bars, freq="min"))


def seconds_for(table: pandas.DataFrame) -> tuple[float, float]:
    """Return the seconds that all readings and features of `table` take: on the clock, and of the CPU."""
    clock, cpu = time.perf_counter(), user_time()
    compute_indicators(table, INDICATORS)
    compute_context(table)
    return time.perf_counter() - clock, max(user_time() - cpu, TICK)


def user_time() -> float:
    """Return the seconds that the CPU has spent in this program so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def measure(lengths: Sequence[int], rounds: int) -> list[dict[str, Any]]:
    """Return for each number of bars its seconds, `clock` and `cpu`; a first round does not count."""
    tables = {bars: random_walk(bars) for bars in lengths}
    readings: dict[int, list[tuple[float, float]]] = {bars: [] for bars in lengths}
    for number in range(rounds + 1):
        for bars, table in tables.items():
            found = seconds_for(table)
            if number:
                readings[bars].append(found)
    rows = []
    for bars, pairs in readings.items():
        clock, cpu = (rounded(spread(values)) for values in zip(*pairs, strict=True))
        rows.append({"bars": bars, "clock": clock, "cpu": cpu})
    return rows


def fitted_exponent(bars: Sequence[int], seconds: Sequence[float]) -> float:
    """Return e of the power law seconds ∝ barsᵉ: the slope of a line through the logarithms."""
    return statistics.linear_regression(list(map(math.log, bars)), list(map(math.log, seconds))).slope


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and store; return the exit code. Raises UsageError."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = StrictParser(prog="measure_indicator_features", description="Time 111 indicators.")
    parser.add_argument("--rounds", type=whole_number(1, 1000), default=9, help="of all lengths; 9")
    parser.add_argument(
        "--bars", type=whole_number(80, 100 * YEAR), default=YEAR, help=f"of the longest; {YEAR}, a year"
    )
    options = parser.parse_args(words)
    rows = measure([options.bars // part for part in PARTS], options.rounds)
    exponent = fitted_exponent([row["bars"] for row in rows], [row["cpu"]["median"] for row in rows])
    before = yaml.safe_load(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    entry = {
        **origin(shlex.join([*COMMAND.split(), *words]), ("numpy", "pandas", "ta-lib"), before),
        "indicators": len(INDICATORS),
        "rounds": options.rounds,
        "rows": rows,
        "exponent": round(exponent, 3),
    }
    print(write(entry, DATA, _HEADER))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
