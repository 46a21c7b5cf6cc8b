"""Samples: the readings at one bar, and their usefulness by the bars after it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
import torch

from examples.indicator_transformer.bars import Bars
from examples.indicator_transformer.context_features import compute_context
from examples.indicator_transformer.history import WARM_UP
from examples.indicator_transformer.indicator import Indicator
from examples.indicator_transformer.indicators import compute_indicators
from examples.indicator_transformer.usefulness import usefulness
from snippets.errors import UsageError

WINDOW = 100  # bars before a sample on which its indicators mostly depend


# --8<-- [start:samples]
@dataclass
class Samples:
    """One row per sample; n samples."""

    indicator_values: torch.Tensor  # (n, indicators)
    market_context: torch.Tensor  # (n, features)
    indicator_usefulness: torch.Tensor  # (n, indicators), 0 to 1: the label
    future_return: torch.Tensor  # (n, 1): log-return over the horizon
    calls: torch.Tensor  # (n, indicators), -1 to 1: the direction that each indicator forecasts
    bar: torch.Tensor  # (n,) int64: position of the sample among the bars of its symbol

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.bar)

    def __getitem__(self, chosen: torch.Tensor | slice) -> "Samples":
        """Return the samples at the positions, or of the mask, `chosen`."""
        return Samples(*(column[chosen] for column in vars(self).values()))

    def to(self, device: torch.device) -> "Samples":
        """Return a copy on `device`."""
        return Samples(*(column.to(device) for column in vars(self).values()))


def make_samples(bars: Bars, indicators: Sequence[Indicator], horizon: int, stride: int) -> Samples:
    """Return a sample for every `stride`-th bar with enough bars before it and `horizon` bars after it.

    Raises UsageError when there is none.
    """
    values, calls = compute_indicators(bars.table, indicators)
    context = compute_context(bars.table)
    count = len(bars.table)
    at = numpy.arange(stride - 1, count - horizon, stride)  # with stride 60: the last minute of each hour
    at = at[at >= WARM_UP]
    if not len(at):
        needed = first_sample(stride) + horizon
        raise UsageError(
            f"too few bars: with --stride {stride}, the first sample needs {needed:,}, "
            f"and there are {count:,} of {bars.source}; use more bars or a smaller --stride"
        )
    close = numpy.log(bars.table["close"].to_numpy())
    future_return = torch.from_numpy(close[at + horizon] - close[at]).float().unsqueeze(1)
    values, context, calls = (torch.from_numpy(part[at]) for part in (values, context, calls))
    return Samples(
        values, context, usefulness(calls, future_return), future_return, calls, torch.from_numpy(at)
    )


# --8<-- [end:samples]
# --8<-- [start:split]
def split_by_time(
    parts: Sequence[Samples], all_bars: Sequence[Bars], share: float, horizon: int
) -> tuple[list[Samples], list[Samples]]:
    """Return each symbol's samples before and after one time; a `share` of all samples is after it.

    An embargo of WINDOW + `horizon` bars before that time is left out, because the bars of its labels overlap
    the inputs of the first validation samples. A random split would put neighbours with overlapping bars on
    both sides, and so validate on training data. Raises UsageError when a side is empty.
    """
    times = [
        bars.table.index.to_numpy()[part.bar.numpy()] for part, bars in zip(parts, all_bars, strict=True)
    ]
    moments = numpy.sort(numpy.concatenate(times))
    moment = moments[min(round(len(moments) * (1 - share)), len(moments) - 1)]
    training, validation = [], []
    for part, bars, when in zip(parts, all_bars, times, strict=True):
        first_later = int(bars.table.index.searchsorted(moment))
        training.append(part[part.bar < first_later - WINDOW - horizon])
        validation.append(part[torch.from_numpy(when >= moment)])
    counts = [sum(map(len, side)) for side in (training, validation)]
    if 0 in counts:
        raise UsageError(
            f"too few bars: {counts[0]} samples to learn from, {counts[1]} held out; use more bars or a "
            "smaller --stride"
        )
    return training, validation


# --8<-- [end:split]


def bars_needed(learned: int, share: float, horizon: int, stride: int) -> int:
    """Return the number of bars of one symbol for which the split gives `learned` training samples."""
    first_held_out = learned + (WINDOW + horizon) // stride
    samples = max(first_held_out + 1, int((first_held_out - 0.5) / (1 - share)))
    while round(samples * (1 - share)) < first_held_out:
        samples += 1
    return first_sample(stride) + (samples - 1) * stride + horizon


def first_sample(stride: int) -> int:
    """Return the number of bars up to the first sample, which is the last of them."""
    return stride * math.ceil((WARM_UP + 1) / stride)


def constant_readings(samples: Samples) -> str | None:
    """Return a note about readings that are equal in all samples, or None when there are none.

    On daily bars, for example, a VWAP of the day is the price itself, and the time of day is constant.
    """
    same = (samples.indicator_values == samples.indicator_values[:1]).all(0)
    count = int(same.sum())
    return f"{count} of {len(same)} readings never change on these bars" if count else None


def joined(parts: Sequence[Samples]) -> Samples:
    """Return the samples of several symbols as one."""
    return Samples(
        *(torch.cat(columns) for columns in zip(*(vars(part).values() for part in parts), strict=True))
    )
