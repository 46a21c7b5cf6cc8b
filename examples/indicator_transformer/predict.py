"""Predict with a trained network for the latest bars of a file: selected indicators and their direction.

python examples/indicator_transformer/predict.py runs/…/checkpoints/best.pt SYMBOL.csv --last 3
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
from examples.indicator_transformer.bars import MAX_MISSING, read_bars, sentences
from examples.indicator_transformer.prediction import Prediction, cut_periods, load_network, predict
from examples.programs.command_line import StrictParser, expanded, number, whole_number
from examples.programs.failures import explained_failures
from examples.programs.run_folder import begins_with, check_target
from snippets.atomic_write import replace_file
from snippets.device import pick_device
from snippets.errors import RunError, UsageError, exit_with_one_line, tell

BEGINNING = b"timestamp,direction,selected"  # of files by write_csv
NOTE = "This demonstrates a training system; it is no investment advice."


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(
        prog="predict.py",
        description="Ask a network that train.py trained about the latest bars of a file.",
        epilog=NOTE,
    )
    add = parser.add_argument
    add("checkpoint", type=expanded, help="of a run: runs/indicator_transformer/<time>/checkpoints/best.pt")
    add(
        "bars",
        type=expanded,
        help="file or folder of prices as vendors write them, of the interval that the network learned from",
    )
    add("--symbol", help="which one, if the file has several")
    add("--last", type=whole_number(1, 10**6), default=1, help="number of bars to look at, the latest; 1")
    add(
        "--out",
        type=expanded,
        help="CSV file to write as well, a row per bar; one of an earlier call is replaced",
    )
    add("--device", default="auto", help="auto, cuda, mps or cpu; auto")
    add(
        "--max-missing",
        type=number(0, 1),
        default=MAX_MISSING,
        help="share of bars that may be missing; 0.01",
    )
    options = parser.parse_args(argv)
    if options.checkpoint.is_dir():
        checkpoint = options.checkpoint / "checkpoints" / "best.pt"
        raise UsageError(f"{options.checkpoint} is a folder; name a checkpoint, like {checkpoint}")
    if options.out is not None:
        check_target(options.out, begins_with(BEGINNING), [".csv"])
    return options


def lines(prediction: Prediction, names: list[str], times: pandas.DatetimeIndex) -> Iterator[str]:
    """Yield for each bar its time and direction, and the selected indicators by decreasing weight."""
    whole_minutes = (times == times.floor("min")).all()
    for position, time in enumerate(times):
        moment = f"{time:%Y-%m-%d %H:%M}" if whole_minutes else str(time)
        weights, calls = prediction.weights[position], prediction.calls[position]
        heaviest = numpy.argsort(-weights, kind="stable")[: numpy.count_nonzero(weights)]
        yield f"{moment}  {direction_in_words(prediction.direction[position], len(heaviest))}"
        for indicator in heaviest:
            chance = prediction.chance[position, indicator]
            yield (
                f"    {names[indicator]:<20} useful now: {chance:4.0%}   weight {weights[indicator]:.3f}   "
                f"calls {calls[indicator]:+.2f}"
            )


def direction_in_words(direction: float, selected: int) -> str:
    """Return the joint call of the selected indicators as text; -1 is down, 1 is up."""
    if not selected:
        return "no direction: no indicator is selected"
    word = "up" if direction > 0 else "down" if direction < 0 else "neither up nor down"
    plural = "s" if selected > 1 else ""
    return f"{word}, {direction:+.2f}: the weighted mean of {selected} selected indicator{plural}"


def write_csv(path: Path, prediction: Prediction, names: list[str]) -> None:
    """Write a row per bar: timestamp, direction, number of selected indicators, weight of each indicator.

    Raises RunError.
    """
    table = pandas.DataFrame(
        prediction.weights, prediction.times, columns=[f"weight_{name}" for name in names]
    )
    table.insert(0, "direction", prediction.direction)
    table.insert(1, "selected", (prediction.weights > 0).sum(1))
    fraction = ".%f" if prediction.times.microsecond.any() else ""
    try:
        replace_file(path, lambda file: table.to_csv(file, date_format=f"%Y-%m-%dT%H:%M:%S{fraction}Z"))
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror}; choose another --out") from None


def main(argv: Sequence[str] | None = None) -> int:
    """Print the predictions for the latest bars. Raises UsageError and RunError."""
    options = read_command_line(argv)
    device, reason = pick_device(options.device)
    network = load_network(options.checkpoint)
    bars = read_bars(options.bars, symbol=options.symbol, max_missing=options.max_missing)
    with explained_failures("out of memory; lower --last, or try --device cpu"):
        prediction = predict(network, bars, options.last, device)
    names = [indicator.name for indicator in network.indicators]
    if options.out is not None:  # before printing, because the reader of the output may exit
        write_csv(options.out, prediction, names)
    tell(f"network    {options.checkpoint}, {len(names)} indicators")
    every = in_words(bars.interval)
    tell(f"bars       {bars.symbol}: {len(bars.table):,}, every {every}; times are {bars.clock}")
    for note in sentences(bars.notes):
        tell(f"note       {note}")
    print(f"device     {device} ({reason})")
    if network.generated:
        print("note       the network learned from generated bars: about those of a market it knows nothing")
    if periods := cut_periods(network, bars.table, options.last):
        print(
            f"note       the file begins within the {', '.join(periods)}: VWAPs anchored there would read "
            "differently with earlier bars"
        )
    print()
    print(*lines(prediction, names, bars.shown[-options.last :]), sep="\n")
    if options.out is not None:
        tell(f"\nwritten    {options.out}: {len(prediction.times)} rows")
    print(f"\n{NOTE}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
