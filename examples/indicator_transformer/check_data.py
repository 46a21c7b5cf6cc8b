"""Check price files before a training: what they hold, how they are read, and what is left out.

python examples/indicator_transformer/check_data.py FILE|FOLDER
"""

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import numpy
import pandas

from examples.indicator_transformer.bar_checks import in_words
from examples.indicator_transformer.bars import MAX_MISSING, Bars, read_data
from examples.indicator_transformer.data_sources import notes_on
from examples.indicator_transformer.options import A_DAY, FOLDER_STRIDES
from examples.indicator_transformer.samples import first_sample
from examples.programs.command_line import StrictParser, expanded, number
from snippets.errors import UsageError, exit_with_one_line, tell

MOST_SYMBOLS = 20  # in the report
SPLIT = 0.4  # a move of 40 % from bar to bar may be a split
HORIZON = 20  # bars, the default of train.py


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="check_data.py", description="Check price files before a training.")
    prices = "file or folder of prices as vendors write them"
    parser.add_argument("path", nargs="?", metavar="data", type=expanded, help=prices)
    parser.add_argument("--data", type=expanded, help="the same, as train.py takes it")
    missing = "share of the bars that may be missing; 0.01"
    parser.add_argument("--max-missing", type=number(0, 1), default=MAX_MISSING, help=missing)
    options = parser.parse_args(argv)
    if (options.path is None) == (options.data is None):
        raise UsageError("name one file or folder of prices, like prices or --data prices")
    options.data = options.data or options.path
    return options


def largest_move(bars: Bars) -> tuple[float, pandas.Timestamp]:
    """Return the largest move from close to close, as a share, and the time of the later bar."""
    close = bars.table["close"].to_numpy()
    moves = close[1:] / close[:-1] - 1
    place = int(numpy.abs(numpy.log1p(moves)).argmax())
    return float(moves[place]), bars.shown[place + 1]


def lines(all_bars: Sequence[Bars]) -> Iterator[str]:
    """Yield the report: the whole data, how they were read, a line per symbol, and the first bar."""
    first, count = all_bars[0], sum(len(bars.table) for bars in all_bars)
    symbols = f"{len(all_bars):,} symbols" if len(all_bars) > 1 else "1 symbol"
    begin, end = min(bars.shown[0] for bars in all_bars), max(bars.shown[-1] for bars in all_bars)
    yield f"data       {count:,} bars of {symbols}, every {in_words(first.interval)}"
    yield f"           from {begin} to {end}; times are {first.clock}"
    for note in notes_on(all_bars):
        yield f"           {note}"
    yield f"{'symbol':<16}{'bars':>12}{'lowest':>12}{'highest':>12}  largest move"
    for bars in all_bars[:MOST_SYMBOLS]:
        move, time = largest_move(bars)
        hint = ": a split?" if abs(move) > SPLIT else ""
        low, high = bars.table["low"].min(), bars.table["high"].max()
        name = f"{bars.symbol:.15}"
        yield f"{name:<16}{len(bars.table):>12,}{low:>12.6g}{high:>12.6g}  {move:+.2%} at {time}{hint}"
    if len(all_bars) > MOST_SYMBOLS:
        yield f"… and {len(all_bars) - MOST_SYMBOLS:,} more"
    cells = ", ".join(f"{name} {value:.12g}" for name, value in first.table.iloc[0].items())
    yield f"first bar  {first.symbol}, {first.shown[0]}: {cells}"
    stride = FOLDER_STRIDES["days" if first.interval >= A_DAY else "within a day"]
    needed = first_sample(stride) + HORIZON
    samples = sum(max(0, (len(bars.table) - needed) // stride + 1) for bars in all_bars)
    yield f"samples    {samples:,} with the defaults of train.py; the first one takes {needed:,} bars"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report and return the exit code. Raises UsageError for data that train.py would refuse."""
    options = read_command_line(argv)
    for line in lines(read_data(options.data, max_missing=options.max_missing)):
        tell(line)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
