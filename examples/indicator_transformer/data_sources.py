"""The samples of `--data NAME|FOLDER`, from price bars or from a table of probabilities."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy
import pandas
import torch

from examples.indicator_transformer.bars import Bars, Notes, load_goog, read_data, sentences
from examples.indicator_transformer.context_features import CONTEXT
from examples.indicator_transformer.generated_bars import BLOCK, generate_market
from examples.indicator_transformer.generated_table import FEATURES, draw_chances, draw_samples, table_optimum
from examples.indicator_transformer.indicators import INDICATORS, SMALL
from examples.indicator_transformer.learned import Clock, stretch_days
from examples.indicator_transformer.options import Options
from examples.indicator_transformer.samples import (
    Samples,
    bars_needed,
    first_sample,
    joined,
    make_samples,
    split_by_time,
)
from examples.indicator_transformer.usefulness import Optimum, known_optimum
from examples.programs.command_line import expanded
from examples.programs.program import check_batch_size
from snippets.errors import UsageError
from snippets.untrusted_checkpoints import tensors_crc32

INDICATOR_SETS = {len(indicators): indicators for indicators in (SMALL, INDICATORS)}

Periods = dict[str, tuple[pandas.Timestamp, pandas.Timestamp]]  # first and last bar by symbol, in lower case


@dataclass
class MarketData:
    """Training and held-out samples, and their source."""

    source: str  # a description for the user
    indicators: list[str]
    context: list[str]  # names of its features
    bars: int  # or rows
    interval: str  # between bars, like "0 days 00:01:00"; empty without bars
    training: Samples
    validation: Samples
    periods: Periods
    files_crc32: int = 0  # of the bars in files; 0 for generated ones
    optimum: Optimum | None = None  # on the held-out samples, if known
    unit: str = "bars"  # or "rows"
    notes: list[str] = field(default_factory=list)  # what was left out of files or guessed, for the user
    clock: Clock | None = None  # of the held-out samples; None for the table

    def fingerprint(self) -> int:
        """Return a CRC-32 of files and directions, with which a resumed run checks its data.

        Readings and generated bars are left out, because their last bits depend on the machine.
        """
        parts = self.training, self.validation
        columns = (column for part in parts for column in (part.bar, part.future_return.sign()))
        return tensors_crc32(columns, self.files_crc32)


def load_bars(options: Options) -> list[Bars]:
    """Return the bars of each symbol of `--data`, except generated ones. Raises UsageError."""
    if options.data_name == "table":
        raise UsageError("--data table has no bars; name bars, goog, a file or a folder")
    if options.data_name == "goog":
        return [load_goog()]
    return read_data(expanded(options.data), max_missing=options.max_missing)


def crc32_of(all_bars: Sequence[Bars]) -> int:
    """Return a CRC-32 of all times and numbers, which are equal on every machine for bars from files."""
    checksum = 0
    for bars in all_bars:
        checksum = zlib.crc32(bars.table.index.as_unit("ns").asi8, checksum)
        checksum = zlib.crc32(numpy.ascontiguousarray(bars.table.to_numpy()), checksum)
    return checksum


def load_for_training(options: Options) -> MarketData:
    """Return the samples of a run, split by time. Raises UsageError."""
    if options.data_name == "table":
        return load_table(options)
    market = generate_market(options.bars) if options.data_name == "bars" else None
    if market is not None:
        chance = market.chance_of_rise(options.horizon)  # before the work, since it may raise UsageError
    all_bars = load_bars(options) if market is None else [market.bars]
    indicators = INDICATOR_SETS[options.indicators]
    stride = options.stride_of(all_bars[0].interval)
    all_bars, notes = long_enough(all_bars, options.horizon, stride)
    if len(all_bars) == 1:
        check_enough_to_learn(options, all_bars[0], stride)
    parts = [make_samples(bars, indicators, options.horizon, stride) for bars in all_bars]
    training, validation = split_by_time(parts, all_bars, options.val_split, options.horizon)
    data = MarketData(
        source=described(all_bars),
        indicators=[indicator.name for indicator in indicators],
        context=list(CONTEXT),
        bars=sum(len(bars.table) for bars in all_bars),
        interval=str(all_bars[0].interval),
        training=joined(training),
        validation=joined(validation),
        periods={bars.symbol.casefold(): (bars.table.index[0], bars.table.index[-1]) for bars in all_bars},
        files_crc32=crc32_of(all_bars) if market is None else 0,
        notes=notes_on(all_bars) + notes,
        clock=clock_of(all_bars, training, validation, options.horizon),
    )
    if market is not None:
        data.optimum = optimum_on(data.validation, chance)
    what = f"training samples; use more bars{smaller(stride)} or smaller batches"
    check_batch_size(options, len(data.training), what)
    return data


def described(all_bars: Sequence[Bars]) -> str:
    """Return the source of the bars in words; of many symbols, the first ones are named."""
    if len(all_bars) == 1:
        return all_bars[0].source
    names = ", ".join(bars.symbol for bars in all_bars[:3]) + (", …" if len(all_bars) > 3 else "")
    return f"{len(all_bars)} symbols ({names}) of {all_bars[0].source}"


def notes_on(all_bars: Sequence[Bars]) -> list[str]:
    """Return what the user should know of how the files were read, with the sessions."""
    hours = dict.fromkeys(bars.hours for bars in all_bars if bars.hours)
    missing, count = sum(bars.missing for bars in all_bars), sum(len(bars.table) for bars in all_bars)
    lines = [f"bars from {words}" if words[0] != "a" else f"bars {words}" for words in list(hours)[:2]]
    if len(hours) > 2:
        lines = [f"{len(hours)} symbols or groups of them trade at different hours"]
    if hours:
        lines[-1] += f"; {missing:,} missing within them, {missing / (missing + count):.2%}"
    notes = Notes()
    for bars in all_bars:
        notes.update(bars.notes)
    return lines + sentences(notes)


def long_enough(all_bars: list[Bars], horizon: int, stride: int) -> tuple[list[Bars], list[str]]:
    """Return the symbols that give a sample, and a note on the others; all of them when none does."""
    needed = first_sample(stride) + horizon
    enough = [bars for bars in all_bars if len(bars.table) >= needed]
    if len(enough) in (0, len(all_bars)):
        return all_bars, []
    short = [bars.symbol for bars in all_bars if len(bars.table) < needed]
    names = ", ".join(short[:3]) + (", …" if len(short) > 3 else "")
    return enough, [f"symbols left out, with fewer than {needed:,} bars: {len(short):,} ({names})"]


def clock_of(
    all_bars: Sequence[Bars], training: Sequence[Samples], validation: Sequence[Samples], horizon: int
) -> Clock:
    """Return the times of the held-out samples, in the order in which `joined` puts them."""
    rises = torch.cat([part.future_return for part in training]).sign().sum()
    return Clock(
        sample_times(all_bars, validation), stretch_days(all_bars[0].table.index, horizon), bool(rises >= 0)
    )


def sample_times(all_bars: Sequence[Bars], parts: Sequence[Samples]) -> numpy.ndarray:
    """Return the times (samples,) of the samples of each symbol, int64 in microseconds."""
    pairs = zip(all_bars, parts, strict=True)
    return numpy.concatenate([bars.table.index.as_unit("us").asi8[part.bar.numpy()] for bars, part in pairs])


def load_table(options: Options) -> MarketData:
    """Return samples drawn by the table of probabilities. Rows are independent, so there is no embargo."""
    chances = draw_chances(options.indicators)
    samples = draw_samples(chances, options.rows)
    first = min(round(options.rows * (1 - options.val_split)), options.rows - 1)  # held-out row
    data = MarketData(
        source="usefulness by chance, decided by the signs of two context features",
        indicators=[f"indicator_{number}" for number in range(1, options.indicators + 1)],
        context=[f"feature_{number}" for number in range(1, FEATURES + 1)],
        bars=options.rows,
        interval="",
        training=samples[:first],
        validation=samples[first:],
        periods={},
        unit="rows",
    )
    data.optimum = table_optimum(chances, data.validation)
    check_batch_size(options, len(data.training), "training samples; use more --rows or smaller batches")
    return data


def optimum_on(samples: Samples, chance_of_rise: numpy.ndarray) -> Optimum:
    """Return the optimum on samples of generated bars with these probabilities of a rise (bars,).

    Only at the last bar of a block do prices say nothing about later bars. For samples at other bars, rise
    and fall are not equally likely given the calls, so the blind loss is None.
    """
    chance = torch.from_numpy(chance_of_rise)[samples.bar]
    optimum = known_optimum(samples.calls, chance.unsqueeze(1))
    at_ends = bool(((samples.bar + 1) % BLOCK == 0).all())
    return optimum if at_ends else replace(optimum, blind_bce=None)


def check_enough_to_learn(options: Options, bars: Bars, stride: int) -> None:
    """Raise UsageError when the bars of a single symbol give fewer training samples than one step needs."""
    samples = options.batch_size * options.accumulate
    needed = bars_needed(samples, options.val_split, options.horizon, stride)
    if len(bars.table) < needed:
        raise UsageError(
            f"too few bars: {needed:,} needed for {samples} training samples with --stride {stride}, "
            f"{len(bars.table):,} in {bars.source}; use more bars{smaller(stride)} or smaller batches"
        )


def smaller(stride: int) -> str:
    """Return the advice to use a smaller stride, if there is one."""
    return ", a smaller --stride" if stride > 1 else ""
