"""The subject of an evaluation: the network in a checkpoint, and held-out samples."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pandas
import torch

from examples.indicator_transformer.bar_checks import in_words
from examples.indicator_transformer.bars import Bars
from examples.indicator_transformer.data_sources import (
    MarketData,
    Periods,
    described,
    load_bars,
    load_for_training,
    long_enough,
    notes_on,
    optimum_on,
    sample_times,
)
from examples.indicator_transformer.evaluation_report import Reference
from examples.indicator_transformer.generated_bars import generate_market
from examples.indicator_transformer.learned import Clock, frequencies, stretch_days
from examples.indicator_transformer.options import Options, find_data
from examples.indicator_transformer.prediction import TrainedNetwork, rebuild_network
from examples.indicator_transformer.samples import Samples, constant_readings, joined, make_samples
from examples.indicator_transformer.train import PROGRAM
from examples.programs.options import check_saved
from examples.programs.trained import load_best
from snippets.errors import UsageError

NEVER = (pandas.Timestamp.max, pandas.Timestamp.min)  # an empty period

NEW_SEED = 1  # of generated bars for evaluation: train.py uses seed 0


@dataclass
class Trained:
    """A trained network and its run."""

    network: TrainedNetwork
    options: Options
    config: dict[str, Any]
    checkpoint: Path
    step: int
    note: str | None  # for the user


@dataclass
class HeldOut:
    """Samples for an evaluation, with their properties."""

    samples: Samples
    source: str  # a description of the bars
    why: str  # why the network has not seen them
    bars: int
    interval: pandas.Timedelta
    reference: Reference
    notes: list[str]  # for the user


def load_trained(path: Path) -> Trained:
    """Return the network of a run folder or checkpoint, on the CPU.

    Raises UsageError when there is none, or when its indicators differ from those of this version.
    """
    content, checkpoint, note = load_best(path, PROGRAM.system)
    config, network = content["config"], rebuild_network(content, checkpoint)
    options = saved_options(config["options"], checkpoint)
    return Trained(network, options, config, checkpoint, content["step"], note)


def saved_options(saved: dict[str, Any], checkpoint: Path) -> Options:
    """Return the options in a checkpoint, without requiring its data to exist.

    Raises UsageError when this version has other options.
    """
    try:
        options = Options(**saved)
    except TypeError:
        differing = saved.keys() ^ {field.name for field in fields(Options)}
        raise UsageError(
            f"{checkpoint} was made by another version of this program: only one of them has "
            f"--{min(differing)}; use the version that trained it, or train again"
        ) from None
    check_saved({"options": saved}, PROGRAM.read_command_line, Options, checkpoint)
    return options


def data_of_run(trained: Trained) -> MarketData:
    """Return the samples of the run. Raises UsageError when its bars are missing or changed."""
    data = load_for_training(trained.options)
    names = [indicator.name for indicator in trained.network.indicators]
    if data.indicators != names or data.fingerprint() != trained.config.get("data_crc32"):
        raise UsageError(
            f"the samples of {trained.options.data} are not those that the network learned from, so nobody "
            "can tell which ones are held out"
        )
    return data


def held_out(trained: Trained, other: str | None) -> HeldOut:
    """Return the held-out samples of the run or, when other bars are named, all samples of those.

    Raises UsageError when there are none.
    """
    if other is not None:
        return other_bars(trained, other)
    try:
        data = data_of_run(trained)
    except UsageError as gone:
        raise UsageError(f"{gone}; other bars can be named with --data") from None
    interval = pandas.Timedelta(data.interval)
    notes = data.notes + overlap(trained.options, interval)
    if trained.checkpoint.name == "best.pt":
        notes.append("best.pt was chosen by its loss on these samples, so that loss is a little too low")
    return HeldOut(
        samples=data.validation,
        source=data.source,
        why="the latest of the run",
        bars=data.bars,
        interval=interval,
        reference=Reference(frequencies(data.training), data.optimum, data.clock),
        notes=[*notes, *filter(None, [constant_readings(data.validation)])],
    )


def other_bars(trained: Trained, other: str) -> HeldOut:
    """Return the samples of the bars named `other`; "bars" are generated with their own seed.

    Samples whose symbol and time are in the bars of the run are left out. Raises UsageError when none is
    left.
    """
    options = replace(trained.options, data=other, data_name=find_data(other))
    market = generate_market(options.bars, NEW_SEED) if options.data_name == "bars" else None
    all_bars = load_bars(options) if market is None else [market.bars]
    interval, expected = all_bars[0].interval, trained.network.interval
    all_bars, left_out = long_enough(all_bars, options.horizon, options.stride_of(interval))
    notes, frequency, periods = notes_on(all_bars) + left_out + overlap(options, interval), None, None
    rises = True
    try:
        learned = data_of_run(trained)
        frequency, periods = frequencies(learned.training), learned.periods
        rises = learned.clock is None or learned.clock.rises
    except UsageError as gone:
        notes.append(f"nothing to take constant frequencies from: {gone}")
    if market is not None:
        periods = {}  # of the same symbol and time, but from another seed
    parts, why = new_samples(all_bars, trained, periods)
    samples = joined(parts)
    days = stretch_days(all_bars[0].table.index, options.horizon)
    clock = Clock(sample_times(all_bars, parts), days, rises)
    if interval != expected:
        notes.append(
            f"these bars come every {in_words(interval)}; the network learned from bars every "
            f"{in_words(expected)}"
        )
    known = None if market is None else optimum_on(samples, market.chance_of_rise(options.horizon))
    return HeldOut(
        samples=samples,
        source=described(all_bars),
        why=why,
        bars=sum(len(bars.table) for bars in all_bars),
        interval=interval,
        reference=Reference(frequency, known, clock),
        notes=[*notes, *filter(None, [constant_readings(samples)])],
    )


def overlap(options: Options, interval: pandas.Timedelta) -> list[str]:
    """Return notes about the standard errors when neighbouring samples share bars."""
    stride = options.stride_of(interval)
    if stride >= options.horizon:
        return []
    every = "every bar" if stride == 1 else f"every {stride} bars"
    shared = f"a sample {every}, decided by the {options.horizon} bars after it"
    return [f"{shared}: neighbours share bars, so true standard errors are larger"]


def new_samples(
    all_bars: Sequence[Bars], trained: Trained, periods: Periods | None
) -> tuple[list[Samples], str]:
    """Return each symbol's samples outside the periods of the run, and why the network has not seen them.

    The held-out part of the run is also left out, because it selected the best checkpoint. With `periods`
    None, when they are unknown, all samples are kept. Raises UsageError when none is left.
    """
    options = trained.options
    parts, known = [], 0
    for bars in all_bars:
        part = make_samples(
            bars, trained.network.indicators, options.horizon, options.stride_of(bars.interval)
        )
        first, last = (periods or {}).get(bars.symbol.casefold(), NEVER)
        times = bars.table.index[part.bar.numpy()]
        new = torch.from_numpy((times < first) | (times > last))
        parts.append(part[new])
        known += len(part) - len(parts[-1])
    if not any(map(len, parts)):
        raise UsageError(
            f"all {known:,} samples are of a symbol and time that the run had bars of; leave out --data to "
            "evaluate the network on the latest ones, which were held out"
        )
    if periods is None:
        return parts, "all; not checked whether the network learned from them"
    if known:
        return parts, f"{known:,} more are left out: the run had bars of their symbol and time"
    return parts, "all: the network has not learned from these bars"
