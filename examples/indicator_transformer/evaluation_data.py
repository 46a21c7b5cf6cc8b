"""What is evaluated: the network in a checkpoint, and samples that it has not learned from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas
import torch

from examples.indicator_transformer.bar_checks import in_words
from examples.indicator_transformer.bars import Bars
from examples.indicator_transformer.evaluation_report import Reference
from examples.indicator_transformer.generated_bars import GeneratedMarket, generate_market
from examples.indicator_transformer.history import WARM_UP
from examples.indicator_transformer.market_data import MarketData, load_bars, load_for_training
from examples.indicator_transformer.options import Options, find_data, resolve
from examples.indicator_transformer.prediction import TrainedNetwork, load_network
from examples.indicator_transformer.samples import Samples, joined, make_samples
from examples.indicator_transformer.train import SYSTEM
from examples.indicator_transformer.usefulness import Optimum, known_optimum
from snippets.checkpoints import DamagedCheckpoint, load_checkpoint, load_newest
from snippets.errors import UsageError
from snippets.training_options import options_to_continue

NEW_SEED = 1  # of generated bars that no run learns from: train.py generates with seed 0


@dataclass
class Trained:
    """A network that has learned, and how it came about."""

    network: TrainedNetwork
    options: Options
    config: dict[str, Any]
    checkpoint: Path
    step: int
    note: str | None  # to be told to the user


@dataclass
class HeldOut:
    """Samples for an evaluation, and what is known about them."""

    samples: Samples
    source: str  # in words: the bars
    why: str  # in words: why the network has not seen them
    bars: int
    interval: pandas.Timedelta
    reference: Reference
    notes: list[str]  # to be told to the user


def find_checkpoint(path: Path) -> tuple[dict[str, Any], Path, str | None]:
    """Return the content and the path of the checkpoint that `path` means, and a note for the user.

    Of a run folder that is best.pt, or the newest one when that is missing or damaged. Raises UsageError.
    """
    if not path.exists():
        raise UsageError(f"there is no run folder or checkpoint {path}")
    if not path.is_dir():
        return load_checkpoint(path, SYSTEM), path, None
    folder = path / "checkpoints"
    if not folder.is_dir():
        raise UsageError(f"{path} holds no run (no folder checkpoints); name a run folder or a checkpoint")
    best = folder / "best.pt"
    try:
        return load_checkpoint(best, SYSTEM), best, None
    except DamagedCheckpoint as damage:
        content, newest, _ = load_newest(folder, SYSTEM)
        return content, newest, f"{damage}; taking {newest} instead"


def load_trained(path: Path) -> Trained:
    """Return the network of a run folder or checkpoint, on the CPU.

    Raises UsageError when there is none, and when it expects other readings than this version computes.
    """
    content, checkpoint, note = find_checkpoint(path)
    config, network = content["config"], load_network(checkpoint)
    options = options_to_continue(config["options"], {}, resolve, checkpoint)
    return Trained(network, options, config, checkpoint, content["step"], note)


def data_of_run(trained: Trained) -> MarketData:
    """Return the samples of the run itself. Raises UsageError when its bars are gone or have changed."""
    data = load_for_training(trained.options)
    names = [indicator.name for indicator in trained.network.indicators]
    if data.indicators != names or data.fingerprint() != trained.config.get("data_crc32"):
        raise UsageError(
            f"the samples of {trained.options.data} are not those that the network learned from, so nobody "
            "can tell which ones are held out; name other bars with --data"
        )
    return data


def held_out(trained: Trained, other: str | None) -> HeldOut:
    """Return the held-out samples of the run or, when other bars are named, all samples of these.

    Raises UsageError when there are none.
    """
    if other is not None:
        return other_bars(trained, other)
    data = data_of_run(trained)
    return HeldOut(
        samples=data.validation,
        source=data.source,
        why="the latest of the run",
        bars=data.bars,
        interval=pandas.Timedelta(data.interval),
        reference=Reference(frequencies(data.training), data.optimum),
        notes=overlap(trained.options),
    )


def other_bars(trained: Trained, other: str) -> HeldOut:
    """Return all samples of the bars that `other` names; "bars" are generated from a seed of their own.

    Raises UsageError when the network learned from these bars, and when there is no sample.
    """
    options = replace(trained.options, data=other, data_name=find_data(other))
    check_not_learned(trained.options, options)
    market = generate_market(options.bars, NEW_SEED) if options.data_name == "bars" else None
    all_bars = load_bars(options) if market is None else [market.bars]
    samples = all_samples(all_bars, trained)
    known = None if market is None else optimum(market, samples, options.horizon)
    notes, frequency = overlap(options), None
    try:
        frequency = frequencies(data_of_run(trained).training)
    except UsageError as gone:
        notes.append(f"nothing to take constant frequencies from: {gone}")
    interval, learned = all_bars[0].interval, trained.network.interval
    if interval != learned:
        notes.append(
            f"these bars come every {in_words(interval)}; the network learned from bars every "
            f"{in_words(learned)}"
        )
    return HeldOut(
        samples=samples,
        source="; ".join(bars.source for bars in all_bars),
        why="all: the network has not learned from these bars",
        bars=sum(len(bars.table) for bars in all_bars),
        interval=interval,
        reference=Reference(frequency, known),
        notes=notes,
    )


def check_not_learned(learned: Options, wanted: Options) -> None:
    """Raise UsageError when both mean the same bars. Generated ones are made again, from another seed."""
    if wanted.data_name != learned.data_name or wanted.data_name == "bars":
        return
    if len({Path(options.data).expanduser().resolve() for options in (learned, wanted)}) == 1:
        raise UsageError(
            f"--data {wanted.data} is what the network learned from; leave out --data to evaluate it on the "
            "latest part, which was held out"
        )


def overlap(options: Options) -> list[str]:
    """Return what to know about the standard errors when neighbouring samples share bars."""
    if options.stride >= options.horizon:
        return []
    shared = f"a sample every {options.stride} bars, decided by the {options.horizon} bars after it"
    return [f"{shared}: neighbours share bars, so true standard errors are larger"]


def all_samples(all_bars: Sequence[Bars], trained: Trained) -> Samples:
    """Return the samples of all bars. Raises UsageError when there is none."""
    options = trained.options
    samples = joined(
        [make_samples(bars, trained.network.indicators, options.horizon, options.stride) for bars in all_bars]
    )
    if not len(samples):
        raise UsageError(
            f"too few bars: the first sample needs {WARM_UP} before and {options.horizon} after it, and "
            f"there is one every {options.stride}"
        )
    return samples


def optimum(market: GeneratedMarket, samples: Samples, horizon: int) -> Optimum:
    """Return what is known about samples of generated bars."""
    chance = torch.from_numpy(market.chance_of_rise(horizon))[samples.bar]
    return known_optimum(samples.calls, chance.unsqueeze(1))


def frequencies(learned: Samples) -> torch.Tensor:
    """Return the mean usefulness of each indicator (indicators,) in training, by Laplace's rule.

    As if each had been useful once and useless once more: no frequency is 0 or 1, whose logarithm would make
    a single surprise cost infinitely much.
    """
    useful = learned.indicator_usefulness
    return (useful.sum(0) + 1) / (len(useful) + 2)
