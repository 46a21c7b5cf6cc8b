"""Samples: where they are, what they know, what decides their labels, and how they are divided."""

import numpy
import pandas
import pytest
import torch
from pandas.tseries.holiday import USFederalHolidayCalendar

from examples.indicator_transformer.bars import Bars
from examples.indicator_transformer.context_features import CONTEXT
from examples.indicator_transformer.data_sources import clock_of, load_for_training
from examples.indicator_transformer.generated_bars import generate_market
from examples.indicator_transformer.history import WARM_UP
from examples.indicator_transformer.indicators import INDICATORS, SMALL, compute_indicators
from examples.indicator_transformer.learned import FEWEST, difference
from examples.indicator_transformer.model import IndicatorTransformer, Size
from examples.indicator_transformer.options import resolve
from examples.indicator_transformer.samples import (
    WINDOW,
    Samples,
    bars_needed,
    joined,
    make_samples,
    split_by_time,
)
from examples.indicator_transformer.usefulness import usefulness
from snippets.errors import UsageError

HORIZON, STRIDE = 20, 60


@pytest.fixture(scope="module")
def bars():
    return generate_market(3000).bars


@pytest.fixture(scope="module")
def samples(bars):
    return make_samples(bars, SMALL, HORIZON, STRIDE)


def with_table(bars, table):
    return Bars(bars.symbol, table, bars.interval, bars.source)


def changed_after(bars, last, seed=0):
    """Return other bars after bar `last`, and the same until then."""
    table, random = bars.table.copy(), numpy.random.default_rng(seed)
    after = slice(last + 1, None)
    table.iloc[after, :4] *= random.uniform(0.5, 2, (len(table.iloc[after]), 1))
    table.iloc[after, 4] = random.uniform(0, 1e6, len(table.iloc[after]))
    return with_table(bars, table)


def assert_equal(first, second):
    for name, column in vars(first).items():
        assert torch.equal(column, vars(second)[name]), name


# ---- Samples ----


@pytest.mark.parametrize(("horizon", "stride"), [(20, 60), (1, 1), (60, 7), (2000, 100)])
def test_where_samples_are(bars, horizon, stride):
    at = make_samples(bars, SMALL[:2], horizon, stride).bar.tolist()
    every = range(stride - 1, 3000, stride)
    assert at == [bar for bar in every if bar >= WARM_UP and bar + horizon <= 2999]


def test_default_samples_end_with_the_hour(bars, samples):
    options = resolve({})
    assert (options.horizon, options.stride) == (HORIZON, STRIDE)
    assert set(bars.table.index[samples.bar.numpy()].minute) == {59}


@pytest.mark.parametrize("indicators", [SMALL, INDICATORS], ids=["24", "111"])
def test_shapes_and_finite_numbers(bars, indicators):
    samples = make_samples(bars, indicators, HORIZON, STRIDE)
    count = len(samples)
    assert count == len(samples.bar) == 37
    assert samples.market_context.shape == (count, len(CONTEXT))
    assert samples.future_return.shape == (count, 1)
    for column in (samples.indicator_values, samples.indicator_usefulness, samples.calls):
        assert column.shape == (count, len(indicators))
    assert all(column.isfinite().all() for column in vars(samples).values())
    assert all(column.dtype == torch.float32 for name, column in vars(samples).items() if name != "bar")
    assert samples.indicator_usefulness.min() >= 0
    assert samples.indicator_usefulness.max() == 1


def test_future_returns_and_labels(bars, samples):
    close = bars.table["close"].to_numpy()
    for row, bar in enumerate(samples.bar.tolist()):
        expected = numpy.log(close[bar + HORIZON] / close[bar])
        assert samples.future_return[row].item() == pytest.approx(expected, rel=1e-6)
    assert torch.equal(samples.indicator_usefulness, usefulness(samples.calls, samples.future_return))


def test_readings_are_those_of_the_bar(bars, samples):
    values, calls = compute_indicators(bars.table, SMALL)
    assert (samples.indicator_values.numpy() == values[samples.bar.numpy()]).all()
    assert (samples.calls.numpy() == calls[samples.bar.numpy()]).all()


def test_nothing_beyond_the_horizon_decides_a_sample(bars, samples):
    row = 20
    last = samples.bar[row].item() + HORIZON
    found = make_samples(changed_after(bars, last), SMALL, HORIZON, STRIDE)
    first = torch.arange(row + 1)
    assert_equal(found[first], samples[first])
    assert not torch.equal(found.market_context[row + 1 :], samples.market_context[row + 1 :])


def test_the_bars_until_the_horizon_decide_only_the_label(bars, samples):
    row = 20
    table = bars.table.copy()
    bar = samples.bar[row].item()
    turned = -1 if samples.future_return[row] > 0 else 1
    table.iloc[bar + 1 : bar + 1 + HORIZON, :4] = table["close"].iloc[bar] * (1 + turned * 0.001)
    found = make_samples(with_table(bars, table), SMALL, HORIZON, STRIDE)
    for name in ("indicator_values", "market_context", "calls"):
        assert torch.equal(vars(found)[name][row], vars(samples)[name][row])
    assert found.future_return[row].sign() == turned
    assert not torch.equal(found.indicator_usefulness[row], samples.indicator_usefulness[row])


def test_too_few_bars_are_refused_with_their_source(bars):
    needed = "with --stride 60, the first sample needs 800"  # the 780th bar, and 20 after it
    with pytest.raises(UsageError, match=f"too few bars: {needed}, and there are 300 of generated minute"):
        make_samples(with_table(bars, bars.table[:300]), SMALL, HORIZON, STRIDE)


# ---- The split ----


def symbol(name, start, count, stride):
    """Return bars without content, and samples of every `stride`-th one that know where they come from."""
    index = pandas.date_range(start, periods=count, freq="min")
    bar = torch.arange(WARM_UP, max(count - HORIZON, WARM_UP), stride)
    column = bar.float().unsqueeze(1)
    bars = Bars(name, pandas.DataFrame(index=index), pandas.Timedelta(minutes=1), "")
    return bars, Samples(column, column, column, column, column, bar)


@pytest.fixture
def three_symbols():
    """Return symbols whose bars begin and end at different times, one of them with a hole of a day."""
    bars, parts = zip(
        symbol("EARLY", "2025-01-01", 6000, 10),
        symbol("LATE", "2025-01-03 07:13", 9000, 7),
        symbol("HOLE", "2025-01-02", 8000, 11),
        strict=True,
    )
    index = bars[2].table.index
    index = index.where(index < index[4000], index + pandas.Timedelta(days=1))
    return [*bars[:2], with_table(bars[2], pandas.DataFrame(index=index))], list(parts)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_between_the_sides_is_an_embargo_in_every_symbol(three_symbols, share):
    all_bars, parts = three_symbols
    training, validation = split_by_time(parts, all_bars, share, HORIZON)
    moments = []
    for part, bars, early, late in zip(parts, all_bars, training, validation, strict=True):
        assert set(early.bar.tolist()) < set(part.bar.tolist())
        if len(late):
            assert late.bar.tolist() == part.bar[-len(late) :].tolist()  # its latest ones, all of them
            # Bars that the first held-out samples look at decide no label to learn from.
            assert early.bar.max() + HORIZON < late.bar.min() - WINDOW
            dropped = len(part) - len(early) - len(late)
            stride = part.bar[1] - part.bar[0]
            assert 0 < dropped <= (WINDOW + HORIZON) / stride + 2  # and no more than necessary
            moments.append(bars.table.index[late.bar.min().item()])
    known = [
        bars.table.index[early.bar.max().item() + HORIZON]
        for bars, early in zip(all_bars, training, strict=True)
        if len(early)
    ]
    assert max(known) < min(moments)  # by the clock, too, and across symbols
    counts = [sum(map(len, side)) for side in (parts, validation)]
    assert counts[1] / counts[0] == pytest.approx(share, abs=0.01)


def test_symbol_may_lie_on_one_side_of_split():
    all_bars, parts = zip(
        symbol("OLD", "2020-01-01", 6000, 10), symbol("NEW", "2025-01-01", 6000, 10), strict=True
    )
    training, validation = split_by_time(parts, all_bars, 0.5, HORIZON)
    assert [len(part) > 0 for part in training] == [True, False]
    assert [len(part) > 0 for part in validation] == [False, True]


def test_bars_after_the_moment_change_nothing_that_is_learned(bars):
    """Neither a training sample nor what the network normalises with."""

    def split(bars):
        return split_by_time([make_samples(bars, SMALL, HORIZON, STRIDE)], [bars], 0.3, HORIZON)

    ((training,), (validation,)) = split(bars)
    ((again,), (other,)) = split(changed_after(bars, validation.bar.min().item() - 1))
    assert_equal(training, again)
    assert not torch.equal(validation.indicator_values, other.indicator_values)
    models = []
    for part in (training, again, other):
        models.append(IndicatorTransformer(len(SMALL), len(CONTEXT), Size(8, 1, 2, 0.0)))
        models[-1].fit_normaliser(part.indicator_values, part.market_context)
    same, again, other = (dict(model.named_buffers()) for model in models)
    assert all(torch.equal(same[name], again[name]) for name in same)
    assert not any(torch.equal(same[name], other[name]) for name in same)


def test_sides_without_samples_are_refused(three_symbols):
    all_bars, parts = three_symbols
    with pytest.raises(UsageError, match=r"too few bars: 0 samples to learn from, \d+ held out; use more"):
        split_by_time(parts, all_bars, 0.999, HORIZON)


def test_the_smallest_share_holds_out_one_sample(three_symbols):
    all_bars, parts = three_symbols
    _, validation = split_by_time(parts, all_bars, 1e-9, HORIZON)
    assert sum(map(len, validation)) == 1


def test_joined_samples_keep_their_order(samples):
    whole = joined([samples[torch.arange(5)], samples[samples.bar >= samples.bar[5]]])
    assert_equal(whole, samples)


@pytest.mark.parametrize(("share", "stride"), [(0.2, 1), (0.2, 60), (0.5, 7), (0.99, 1), (1e-9, 130)])
@pytest.mark.parametrize("learned", [1, 64])
def test_bars_needed_is_exact_to_one_bar(learned, share, stride):
    needed = bars_needed(learned, share, HORIZON, stride)
    found = []
    for count in (needed, needed - 1):
        index = pandas.date_range("2025-01-01", periods=count, freq="min")
        at = [bar for bar in range(stride - 1, count - HORIZON, stride) if bar >= WARM_UP]
        part = Samples(*[torch.zeros(len(at), 1)] * 5, torch.tensor(at))
        bars = Bars("A", pandas.DataFrame(index=index), pandas.Timedelta(minutes=1), "")
        try:
            (training,), _ = split_by_time([part], [bars], share, HORIZON)
            found.append(len(training))
        except (UsageError, IndexError):  # no training sample, no sample at all
            found.append(0)
    assert found == [learned, learned - 1]


def test_bars_that_nobody_has_are_counted_at_once():
    """Of almost all samples held out, hardly any are left to learn from."""
    assert bars_needed(64, 1 - 1e-12, HORIZON, 60) == pytest.approx(60 * 65.5e12, rel=1e-3)


# ---- What a run loads ----


def options(**typed):
    return resolve({"bars": 3000, "stride": 20, "batch_size": 8, **typed})


def test_a_run_loads_the_split_samples(bars):
    data = load_for_training(options())
    every = make_samples(bars, SMALL, HORIZON, 20)
    at = [data.training.bar, data.validation.bar]
    assert set(torch.cat(at).tolist()) < set(every.bar.tolist())
    assert at[0].max() + HORIZON + WINDOW < at[1].min()
    assert_equal(data.validation, every[every.bar >= at[1].min()])
    assert data.indicators == [indicator.name for indicator in SMALL]
    assert (data.bars, data.interval) == (3000, "0 days 00:01:00")
    assert data.optimum.best_bce > 0


def test_blind_optimum_is_known_only_at_block_ends():
    """Elsewhere prices tell which way their block drifts, and who reads them beats the blind forecaster."""
    at_ends, between = (load_for_training(options(stride=stride)).optimum for stride in (60, 59))
    assert at_ends.best_bce < at_ends.blind_bce
    assert between.blind_bce is None


def write(folder, **symbols):
    folder.mkdir(exist_ok=True)
    for name, table in symbols.items():
        table.to_csv(folder / f"{name}.csv")
    return options(data=str(folder))


def test_the_fingerprint_notices_any_other_number(tmp_path, bars):
    """A run that goes on must find its data, and volumes decide readings but no direction."""
    data = load_for_training(write(tmp_path / "a", ONE=bars.table))
    assert load_for_training(write(tmp_path / "b", ONE=bars.table)).fingerprint() == data.fingerprint()
    louder, sooner = bars.table.copy(), bars.table.copy()
    louder.iloc[1500, 4] *= 2
    sooner.index -= pandas.Timedelta(hours=1)
    for number, table in enumerate((louder, sooner, bars.table[:-1])):
        other = load_for_training(write(tmp_path / f"c{number}", ONE=table))
        assert other.fingerprint() != data.fingerprint()


@pytest.mark.parametrize(("freq", "stride"), [("1min", 60), ("4h", 60), ("1D", 1), ("7D", 1)])
def test_every_daily_or_longer_bar_is_a_sample(tmp_path, bars, freq, stride):
    table = bars.table.set_axis(pandas.date_range("1900-01-01", periods=3000, freq=freq, name="timestamp"))
    (tmp_path / "days").mkdir()
    table.to_csv(tmp_path / "days" / "ONE.csv")
    data = load_for_training(resolve({"data": str(tmp_path / "days"), "batch_size": 8}))
    assert set(data.training.bar.diff().tolist()) == {stride}
    typed = load_for_training(resolve({"data": str(tmp_path / "days"), "batch_size": 8, "stride": 7}))
    assert set(typed.training.bar.diff().tolist()) == {7}


def test_needed_daily_bars_are_named_and_suffice(tmp_path, bars):
    """The page says 970, nearly four years of trading days."""
    table = bars.table.set_axis(pandas.date_range("2000-01-01", periods=3000, name="timestamp"))
    folder = tmp_path / "days"
    folder.mkdir()
    table[:969].to_csv(folder / "ONE.csv")
    settings = resolve({"data": str(folder)})
    with pytest.raises(UsageError, match=r"too few bars: 970 needed .* --stride 1, 969 in .*more bars or s"):
        load_for_training(settings)
    table[:970].to_csv(folder / "ONE.csv")
    assert len(load_for_training(settings).training) == 64


def held_out_stretches(index, stride, share=0.2):
    """Return the stretches of time that a verdict on one symbol with bars at `index` would count."""
    at = [bar for bar in range(stride - 1, len(index) - HORIZON, stride) if bar >= WARM_UP]
    part = Samples(*[torch.ones(len(at), 1)] * 5, torch.tensor(at))
    all_bars = [Bars("A", pandas.DataFrame(index=index), index[1] - index[0], "")]
    clock = clock_of(all_bars, *split_by_time([part], all_bars, share, HORIZON), HORIZON)
    return difference(torch.zeros(len(clock.times)), clock).stretches


def trading_days(start):
    days = pandas.bdate_range(start, periods=2300)
    return days.difference(USFederalHolidayCalendar().holidays("2000", "2040"))


def days_with_golden_weeks(start):
    """Return weekdays without two weeks a year, roughly those of Shanghai."""
    days = pandas.bdate_range(start, periods=2300)
    return days[~(days.month.isin([2, 10]) & (days.day < 8))]


def session_minutes(*parts):
    minutes = numpy.concatenate([numpy.arange(*part) for part in parts]).astype("timedelta64[m]")

    def index(start):
        days = pandas.bdate_range(start, periods=60).to_numpy().astype("datetime64[m]")
        first = start.day * 7  # the file begins within a session
        return pandas.DatetimeIndex((days[:, None] + minutes).ravel())[first:]

    return index


@pytest.mark.parametrize(
    ("bars_from", "stride", "share", "enough", "to_train"),
    [
        (trading_days, 1, 0.2, 1_750, 970),
        (days_with_golden_weeks, 1, 0.2, 1_850, 970),
        (lambda start: pandas.date_range(start, periods=2000), 1, 0.2, 1_650, 970),
        (session_minutes((570, 690), (780, 900)), 60, 0.2, 12_000, 5_660),
        (session_minutes((570, 960)), 60, 0.2, 19_000, 5_660),
        (lambda start: pandas.date_range(start, periods=70_000, freq="min"), 60, 0.2, 66_000, 5_660),
        (trading_days, 1, 0.5, 1_250, 970),
    ],
)
def test_bars_on_the_page_are_enough_for_a_verdict(bars_from, stride, share, enough, to_train):
    """Whenever they begin; a tenth fewer are not, and those that suffice to train are far too few."""
    indices = [bars_from(start) for start in pandas.date_range("2015-01-01", periods=12, freq="17D")]
    assert bars_needed(64, 0.2, HORIZON, stride) == to_train
    assert min(held_out_stretches(index[:enough], stride, share) for index in indices) >= FEWEST
    if share == 0.2:
        for count in (enough * 9 // 10, to_train):
            assert min(held_out_stretches(index[:count], stride) for index in indices) < FEWEST


def symbols_of(bar):
    """Return the positions (n,) of two symbols' samples, of which those of the first come first."""
    return bar.tensor_split((bar.diff() < 0).nonzero().flatten() + 1)


def test_two_symbols_are_divided_at_the_same_moment(tmp_path, bars):
    later = bars.table.copy()
    later.index += pandas.Timedelta(hours=5)
    data = load_for_training(write(tmp_path / "two", ONE=bars.table, TWO=later))
    assert data.bars == 6000
    early, late = (
        [
            table.index[part.numpy()]
            for table, part in zip((bars.table, later), symbols_of(side.bar), strict=True)
        ]
        for side in (data.training, data.validation)
    )
    moment = min(times.min() for times in late)
    for times in early:
        assert times.max() + pandas.Timedelta(minutes=HORIZON + WINDOW) < moment
    assert data.optimum is None  # nobody knows it


def test_unknown_horizon_is_refused_before_the_work(monkeypatch):
    from examples.indicator_transformer import data_sources

    monkeypatch.setattr(data_sources, "make_samples", None)
    with pytest.raises(UsageError, match="--horizon 61"):
        load_for_training(options(horizon=61))
