"""Predictions of a trained network for the latest bars: selected indicators and their direction."""

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy
import pandas
import torch

from examples.indicator_transformer.anchors import EVENTS, PERIODS
from examples.indicator_transformer.bar_checks import in_words
from examples.indicator_transformer.bars import Bars, check_enough
from examples.indicator_transformer.context_features import CONTEXT, compute_context
from examples.indicator_transformer.evaluation import BATCH, forecast, selected_weights
from examples.indicator_transformer.history import WARM_UP, History
from examples.indicator_transformer.indicator import Indicator
from examples.indicator_transformer.indicators import INDICATORS, compute_indicators
from examples.indicator_transformer.model import SIZES, IndicatorTransformer, Size
from examples.indicator_transformer.train import PROGRAM
from examples.programs.trained import check_computed, filled
from snippets.checkpoints import load_checkpoint
from snippets.errors import UsageError


@dataclass(frozen=True)
class TrainedNetwork:
    """A network with the normaliser of its training data, and the inputs that it expects."""

    model: IndicatorTransformer  # on the CPU, in evaluation mode
    indicators: list[Indicator]
    interval: pandas.Timedelta  # of the training bars
    generated: bool = False  # whether the training bars were generated


@dataclass(frozen=True)
class Prediction:
    """The predictions for n bars. Arrays are (n, indicators) in float32, in the network's order."""

    times: pandas.DatetimeIndex  # (n,), UTC
    direction: numpy.ndarray  # (n,), -1 to 1: the joint call of the selected indicators; 0: none selected
    chance: numpy.ndarray  # probability that each indicator is useful now; above one half it is selected
    weights: numpy.ndarray  # of selected indicators, with the sum 1; 0 for the others
    calls: numpy.ndarray  # the direction that each indicator forecasts, -1 to 1


def load_network(path: Path) -> TrainedNetwork:
    """Return the network in a checkpoint of train.py, with the normaliser of its training.

    Raises UsageError as `load_checkpoint` and `rebuild_network` do. Code in the file is not executed.
    """
    return rebuild_network(load_checkpoint(path, PROGRAM.system), path)


def rebuild_network(content: dict[str, Any], path: Path) -> TrainedNetwork:
    """Return the network in the `content` of the checkpoint at `path`.

    The checkpoint names the readings that the network expects. Raises UsageError when this version computes
    other readings.
    """
    names, context, interval, size = what_it_learned(content["config"], path)
    known = {indicator.name: indicator for indicator in INDICATORS}
    indicators = ((name, name if name in known else None) for name in names)
    for there, here in (*indicators, *zip_longest(context, CONTEXT)):
        if there != here:
            raise UsageError(
                f"{path} was trained on other readings: {there or 'nothing'} there, {here or 'nothing'} in "
                "this version; use the version that trained it, or train again"
            )
    model = filled(lambda: IndicatorTransformer(len(names), len(CONTEXT), size), content["model"])
    model.register_forward_hook(check_computed)
    generated = content["config"]["options"].get("data_name") == "bars"
    return TrainedNetwork(model, [known[name] for name in names], interval, generated)


def what_it_learned(
    config: dict[str, Any], path: Path
) -> tuple[list[str], list[str], pandas.Timedelta, Size]:
    """Return indicators, context and interval of the training data of a checkpoint, and the network's size.

    Raises UsageError when `config` lacks them.
    """
    try:
        if config["options"].get("data_name") == "table":
            raise UsageError(
                f"{path} was trained on --data table, which has no bars; name one trained on bars"
            )
        size = SIZES[config["options"]["size"]]
        names, context = ([str(name) for name in config[key]] for key in ("indicators", "context"))
        interval = pandas.Timedelta(str(config["interval"]))
        if not interval > pandas.Timedelta(0):  # false for NaT
            raise ValueError
    except KeyError as unknown:
        raise UsageError(f"{path} does not say on what it was trained: no {unknown}; train again") from None
    except (AttributeError, TypeError, ValueError):
        raise UsageError(f"{path} does not say on what it was trained; name another checkpoint") from None
    return names, context, interval, size


def check_bars_fit(network: TrainedNetwork, bars: Bars, last: int) -> None:
    """Raise UsageError unless enough bars precede the `last` ones, at the interval of the training."""
    if bars.interval != network.interval:
        raise UsageError(
            f"{bars.source}: the network learned from bars every {in_words(network.interval)} and knows "
            "nothing of others; use such bars"
        )
    check_enough(bars, WARM_UP + last)


def cut_periods(network: TrainedNetwork, table: pandas.DataFrame, last: int) -> list[str]:
    """Return the periods, like "week", that began before `table` and include some of the `last` bars.

    Only periods at which VWAPs of the network are anchored count. In them these VWAPs start with the first
    bar, and would differ if the table began earlier.
    """
    before = table.index[0] - pandas.Timedelta(seconds=1)
    edges = History(table.iloc[:2].set_index(pandas.DatetimeIndex([before, table.index[-last]])))
    parts = (getattr(indicator.read, "keywords", {}) for indicator in network.indicators)
    anchors = dict.fromkeys(keywords["anchor"] for keywords in parts if "anchor" in keywords)
    periods = dict.fromkeys(EVENTS[anchor][0] if anchor in EVENTS else anchor for anchor in anchors)
    numbers = {period: PERIODS[period](edges) for period in periods}
    return [period for period, (earlier, later) in numbers.items() if earlier == later]


@torch.no_grad()
def predict(network: TrainedNetwork, bars: Bars, last: int, device: torch.device) -> Prediction:
    """Return the predictions for the `last` bars, computed on `device` in float32.

    Each prediction depends only on its bar and earlier ones. Raises UsageError when the bars do not fit the
    network.
    """
    check_bars_fit(network, bars, last)
    values, calls = compute_indicators(bars.table, network.indicators)
    context = compute_context(bars.table)
    values, calls, context = (torch.from_numpy(rows[-last:]).to(device) for rows in (values, calls, context))
    model = network.model.to(device)
    parts = [model(*part) for part in zip(values.split(BATCH), context.split(BATCH), strict=True)]
    logits, weights = (torch.cat(column) for column in zip(*parts, strict=True))
    selected = selected_weights(logits, weights)
    columns = forecast(logits, weights, calls), logits.sigmoid(), selected, calls
    return Prediction(bars.table.index[-last:], *(column.cpu().numpy() for column in columns))
