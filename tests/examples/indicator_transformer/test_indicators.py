"""The 111 indicators and ten context features: right numbers, from past bars only, whatever the scale."""

from collections import Counter
from fractions import Fraction

import numpy
import pandas
import pytest

from examples.indicator_transformer.anchored_vwap import ANCHORED_VWAP, VWAP, vwap_since
from examples.indicator_transformer.anchors import record_starts
from examples.indicator_transformer.context_features import CONTEXT, compute_context
from examples.indicator_transformer.generated_bars import BLOCK, generate_market
from examples.indicator_transformer.history import LIMIT, WARM_UP, History
from examples.indicator_transformer.indicators import INDICATORS, SMALL, compute_indicators
from examples.indicator_transformer.oscillators import BOLLINGER, RSI, SUPPORT_RESISTANCE, bollinger, rsi
from examples.indicator_transformer.trends import (
    EMA,
    MACD,
    SMA,
    above_ema,
    above_sma,
    macd_histogram,
    move_in_atrs,
    obv,
    random_walk_spread,
)

pytestmark = pytest.mark.unmeasured

NAMES = [indicator.name for indicator in INDICATORS]
START = "2024-12-29 20:00"  # Sunday: a day, a week, a month, a quarter and a year begin within three days
FOLLOWING = {"sma", "ema", "macd", "atr", "obv"}


def make_table(close, *, wick=0.0, volume=1.0, freq="min", start=START):
    """Return bars with these closes; highs and lows lie `wick` beyond open and close."""
    close = numpy.asarray(close, float)
    opening = numpy.concatenate([close[:1], close[:-1]])
    return pandas.DataFrame(
        {
            "open": opening,
            "high": numpy.maximum(opening, close) + wick,
            "low": numpy.minimum(opening, close) - wick,
            "close": close,
            "volume": numpy.broadcast_to(volume, close.shape).astype(float),
        },
        index=pandas.date_range(start, periods=len(close), freq=freq),
    )


def random_walk(count, seed=0, price=100.0, step=5e-4, **options):
    random = numpy.random.default_rng(seed)
    close = price * numpy.exp(step * random.standard_normal(count).cumsum())
    return make_table(close, wick=price * step / 3, volume=random.lognormal(5, 1, count), **options)


def column(values, name):
    return values[:, NAMES.index(name)]


def everything(table):
    """Return values, calls and context of all bars side by side."""
    return numpy.concatenate([*compute_indicators(table), compute_context(table)], axis=1)


@pytest.fixture(scope="module")
def market():
    return random_walk(5000)


@pytest.fixture(scope="module")
def computed(market):
    return everything(market)


def test_there_are_111_indicators_in_these_families():
    families = {
        "sma": 4, "ema": 9, "rsi": 5, "macd": 4, "atr": 5, "bollinger": 5, "obv": 1, "vwap": 7,
        "anchored_vwap": 70, "support_resistance": 1,
    }  # fmt: skip
    assert Counter(indicator.family for indicator in INDICATORS) == families
    assert len(INDICATORS) == len(set(NAMES)) == 111
    assert len(SMALL) == 24
    assert set(SMALL) < set(INDICATORS)
    small = Counter(indicator.family for indicator in SMALL)
    assert small.keys() == families.keys()
    assert small["anchored_vwap"] == 1
    assert len(CONTEXT) == len(set(CONTEXT)) == 10


def test_shapes_types_and_chosen_indicators(market, computed):
    values, calls = compute_indicators(market, SMALL)
    assert values.shape == calls.shape == (5000, 24)
    assert values.dtype == calls.dtype == compute_context(market).dtype == numpy.float32
    places = [NAMES.index(indicator.name) for indicator in SMALL]
    assert numpy.array_equal(values, computed[:, places], equal_nan=True)
    assert numpy.array_equal(calls, computed[:, 111:][:, places], equal_nan=True)


def test_the_table_stays_as_it_is():
    table = random_walk(300)
    before = table.copy()
    everything(table)
    pandas.testing.assert_frame_equal(table, before)


# Bars: the last of a day, the first of a week, the last of a year, and others.
@pytest.mark.parametrize("last", [239, 240, 720, 3119, 3120, 2047, 4321])
def test_nothing_looks_ahead(market, computed, last):
    random = numpy.random.default_rng(last)
    changed = market.copy()
    after = slice(last + 1, None)
    count = len(changed.iloc[after])
    changed.iloc[after, :4] *= random.uniform(0.5, 2, (count, 1))
    changed.iloc[after, 4] = random.uniform(0, 1e9, count)
    found = everything(changed)
    assert found[: last + 1].tobytes() == computed[: last + 1].tobytes()
    assert (found[after] != computed[after]).any(axis=0).sum() > 200, "most columns do depend on these bars"
    assert everything(market.iloc[: last + 1]).tobytes() == computed[: last + 1].tobytes()


def test_scale_changes_nothing_but_rounding(market, computed):
    scaled = market.copy()
    scaled.iloc[:, :4] *= 1000
    scaled["volume"] *= 7
    numpy.testing.assert_allclose(everything(scaled), computed, rtol=0, atol=2e-6)


def test_readings_after_warm_up_are_finite_and_bounded(computed):
    values, calls, context = numpy.split(computed, [111, 222], axis=1)
    assert numpy.isfinite(computed[WARM_UP:]).all()
    assert numpy.isnan(context[WARM_UP - 1]).any(), "the warm-up is no longer than it has to be"
    for readings in (values, context):
        assert numpy.nanmax(numpy.abs(readings)) <= LIMIT
        assert (readings[WARM_UP:].std(axis=0) > 0.05).all()
    assert numpy.nanmax(numpy.abs(calls)) <= 1
    assert (numpy.isnan(values) == numpy.isnan(calls)).all()
    missing = numpy.isnan(computed)
    assert (missing[1:] <= missing[:-1]).all(), "once finite, always finite"


@pytest.mark.parametrize("volume", [0.0, 3.0])
@pytest.mark.parametrize("price", [0.1, 100_000.1])
def test_constant_prices_say_nothing(price, volume):
    table = make_table(numpy.full(WARM_UP + 100, price), volume=volume)
    values, calls = compute_indicators(table)
    assert (values[WARM_UP:] == 0).all()
    assert (calls[WARM_UP:] == 0).all()
    context = compute_context(table)[WARM_UP:]
    others = {"trend_strength", "time_of_day", "weekday"}
    still = [CONTEXT.index(name) for name in CONTEXT if name not in others]
    assert (context[:, still] == 0).all()
    assert (context[:, CONTEXT.index("trend_strength")] == -1).all(), "an ADX of 0"


def test_no_volume_at_all():
    table = random_walk(WARM_UP + 500)
    table["volume"] = 0.0
    values, _ = compute_indicators(table)
    assert numpy.isfinite(values[WARM_UP:]).all()
    assert (values[WARM_UP:, [NAMES.index(i.name) for i in (*VWAP, *ANCHORED_VWAP)]] == 0).all()
    assert (column(values, "obv")[WARM_UP:] == 0).all()
    assert (compute_context(table)[WARM_UP:, CONTEXT.index("volume_profile")] == 0).all()


def test_a_market_that_falls_asleep():
    """Sums that slide leave rounding errors behind, which must not be blown up by a division."""
    table = random_walk(WARM_UP + 300)
    asleep = make_table(numpy.full(3000, table["close"].iloc[-1]), volume=0.0)
    table = pandas.concat([table, asleep.set_index(table.index[-1] + (asleep.index - asleep.index[0]))])
    found = everything(table)
    assert numpy.isfinite(found[WARM_UP:]).all()
    last = dict(zip(NAMES, found[-1, :111], strict=True))
    for indicator in (*SMA, *EMA, *RSI, *MACD, *BOLLINGER, *SUPPORT_RESISTANCE):
        assert abs(last[indicator.name]) < 1e-3, indicator.name
    assert last["obv"] == 0
    context = dict(zip(CONTEXT, found[-1, 222:], strict=True))
    assert context["volume_profile"] == context["efficiency"] == context["mean_reversion"] == 0


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_few_bars_give_few_readings(count):
    table = random_walk(count)
    values, calls = compute_indicators(table)
    assert values.shape == calls.shape == (count, 111)
    assert compute_context(table).shape == (count, 10)
    assert numpy.isnan(column(values, "sma_50")).all()
    assert numpy.isfinite(column(values, "vwap")).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_calls_in_a_market_that_only_rises_or_falls(sign):
    """The last bar leaps: it is ahead of all means and outside of all bands."""
    distance = numpy.append(numpy.linspace(0, 40, 2999), 50)
    table = make_table(100 + sign * distance, volume=5.0, start="2025-01-07 00:00")
    _, calls = compute_indicators(table)
    middles = {"vwap", "avwap_hour", "avwap_week", "avwap_month", "avwap_year"}
    for indicator, call in zip(INDICATORS, calls[-1], strict=True):
        if indicator.family in FOLLOWING or indicator.name in middles:
            assert sign * call > 0.1, indicator
        elif indicator.family in ("rsi", "bollinger", "support_resistance"):
            assert sign * call < -0.1, indicator
        elif "plus" in indicator.name:
            assert call <= 0, indicator
        elif "minus" in indicator.name:
            assert call >= 0, indicator
    side = "plus" if sign > 0 else "minus"
    assert sign * calls[-1, NAMES.index(f"vwap_{side}_1")] < -0.1
    assert calls[-1, NAMES.index("vwap_minus_1" if sign > 0 else "vwap_plus_1")] == 0


def test_bands_are_shifted_readings(computed):
    values = computed[WARM_UP:, :111]
    middle = column(values, "vwap")
    inside = (numpy.abs(middle) < 2) & (middle != 0)  # 0: no deviation yet
    for band, name in ((1, "vwap_plus_1"), (3, "vwap_plus_3"), (-2, "vwap_minus_2")):
        numpy.testing.assert_allclose(column(values, name)[inside], middle[inside] - band, atol=1e-6)


def test_random_walk_readings_have_unit_spread():
    values, _ = compute_indicators(random_walk(60_000), (*SMA, *EMA[:5], *MACD))
    assert numpy.abs(values[WARM_UP:].std(axis=0) - 1).max() < 0.08


@pytest.mark.parametrize("bars", [5, 20, 200])
def test_the_spread_of_averages_in_closed_form(bars):
    simple = (bars - 1) * (2 * bars - 1) / (6 * bars)  # sum of ((bars - 1 - k) / bars)², k = 0 … bars - 1
    assert random_walk_spread(lambda prices: above_sma(prices, bars)) ** 2 == pytest.approx(simple)
    kept = 1 - 2 / (bars + 1)
    assert random_walk_spread(lambda prices: above_ema(prices, bars)) ** 2 == pytest.approx(
        kept**2 / (1 - kept**2)
    )


def exponential_mean(series, bars):
    mean, means = series[:bars].mean(), []
    for value in series[bars:]:
        mean += 2 / (bars + 1) * (value - mean)
        means.append(mean)
    return numpy.array(means)


def test_averages_by_hand():
    prices = random_walk(1500)["close"].to_numpy()
    assert above_sma(prices, 20)[-1] == pytest.approx(prices[-1] - prices[-20:].mean())
    assert above_ema(prices, 21)[-1] == pytest.approx(prices[-1] - exponential_mean(prices, 21)[-1])
    line = exponential_mean(prices[14:], 12) - exponential_mean(prices, 26)  # both start after bar 26
    expected = line[-1] - exponential_mean(line, 9)[-1]
    assert macd_histogram(prices, 12, 26, 9)[-1] == pytest.approx(expected, abs=1e-12)


def test_an_average_is_read_in_units_of_chance():
    table = random_walk(500)
    history = History(table)
    expected = above_ema(history.close, 21) / history.close / history.volatility
    expected /= random_walk_spread(lambda prices: above_ema(prices, 21))
    found = column(compute_indicators(table)[0], "ema_21")
    numpy.testing.assert_allclose(found[200:], expected[200:], rtol=1e-6)
    returns = numpy.diff(numpy.log(table["close"].to_numpy()))
    assert history.volatility[-1] == pytest.approx(exponential_mean(returns**2, 100)[-1] ** 0.5)


def test_rsi():
    rising = History(make_table(numpy.arange(1.0, 100)))
    assert (rsi(rising, 14)[14:] == 0.5).all(), "an RSI of 100"
    falling = History(make_table(numpy.arange(100.0, 1, -1)))
    assert (rsi(falling, 14)[14:] == -0.5).all()
    table = random_walk(300)
    moves = numpy.diff(table["close"].to_numpy())
    up, down = (numpy.maximum(sign * moves, 0)[:14].mean() for sign in (1, -1))
    for move in moves[14:]:  # Wilder: the mean keeps 13/14 of what it was
        up, down = (13 * up + max(move, 0)) / 14, (13 * down + max(-move, 0)) / 14
    assert rsi(History(table), 14)[-1] == pytest.approx(up / (up + down) - 0.5)


def test_bollinger():
    table = random_walk(300)
    last = table["close"].to_numpy()[-20:]
    expected = (last[-1] - last.mean()) / (2 * last.std())
    assert bollinger(History(table), 20)[-1] == pytest.approx(expected)


def test_bollinger_of_large_prices_that_move_by_cents():
    prices = 100_000 + random_walk(2000, price=1.0, step=0.01)["close"].to_numpy()
    last = [Fraction(price) for price in prices[-50:]]
    mean = sum(last) / 50
    variance = sum((price - mean) ** 2 for price in last) / 50
    expected = float(last[-1] - mean) / (2 * float(variance) ** 0.5)
    assert bollinger(History(make_table(prices)), 50)[-1] == pytest.approx(expected, rel=1e-6)


def test_atr_and_obv():
    table = make_table(100 + numpy.arange(80.0), wick=0.5, volume=2.0)  # each bar's range is 2
    assert move_in_atrs(History(table), 14)[-1] == pytest.approx(14 / (2 * 14**0.5))
    assert obv(History(table), 60)[-1] == pytest.approx(60**0.5)
    table = random_walk(200)
    close, volume = table["close"].to_numpy(), table["volume"].to_numpy()[-60:]
    expected = (numpy.sign(numpy.diff(close)[-60:]) * volume).sum() / volume.sum() * 60**0.5
    assert obv(History(table), 60)[-1] == pytest.approx(expected)


def test_support_and_resistance():
    close = numpy.full(300, 100.0)
    close[100], close[150], close[-1] = 90.0, 110.0, 105.0
    values, calls = compute_indicators(make_table(close), SUPPORT_RESISTANCE)
    assert values[-1, 0] == pytest.approx(0.5)
    assert calls[-1, 0] == 0
    close[-1] = 110.0
    _, calls = compute_indicators(make_table(close), SUPPORT_RESISTANCE)
    assert calls[-1, 0] == pytest.approx(-numpy.tanh(2))


def test_vwap_of_equal_volumes_is_the_mean():
    price = random_walk(500)["close"].to_numpy()
    starts = numpy.arange(500) % 250 == 0
    mean, std = vwap_since(starts, price, numpy.full(500, 3.0))
    assert mean[249] == pytest.approx(price[:250].mean(), rel=1e-14)
    assert std[499] == pytest.approx(price[250:].std(), rel=1e-10)
    assert mean[250] == price[250]
    assert std[250] == 0


def test_vwap_before_there_is_volume():
    price, volume = numpy.array([5.0, 7.0, 8.0, 9.0]), numpy.array([0.0, 0.0, 2.0, 6.0])
    mean, std = vwap_since(numpy.array([True, False, False, False]), price, volume)
    assert mean.tolist() == [5, 7, 8, 8.75]
    assert std.tolist() == [0, 0, 0, pytest.approx(0.1875**0.5)]


def test_equal_prices_have_exactly_zero_deviation():
    """The first bar sets the reference, but has no volume: all others are off it by the same amount."""
    random = numpy.random.default_rng(0)
    price, volume = numpy.full(2000, 1.1), random.lognormal(0, 2, 2000)
    price[0], volume[0] = 1.0, 0.0
    mean, std = vwap_since(numpy.arange(2000) == 0, price, volume)
    assert (std == 0).all()
    numpy.testing.assert_allclose(mean[1:], 1.1, rtol=1e-15)


def test_vwap_of_large_prices_that_move_by_cents():
    """Compared with exact fractions: a difference of squares would have lost all digits."""
    random = numpy.random.default_rng(0)
    price = (1e5 + 0.01 * random.standard_normal(400).cumsum()).round(4)
    volume = random.lognormal(5, 2, 400)
    starts = numpy.isin(numpy.arange(400), [0, 170])
    mean, std = vwap_since(starts, price, volume)
    for last, first in ((169, 0), (180, 170), (399, 170)):
        pairs = [(Fraction(volume[at]), Fraction(price[at])) for at in range(first, last + 1)]
        total = sum(size for size, _ in pairs)
        exact = sum(size * value for size, value in pairs) / total
        variance = sum(size * (value - exact) ** 2 for size, value in pairs) / total
        assert mean[last] == pytest.approx(float(exact), rel=1e-15)
        assert std[last] == pytest.approx(float(variance) ** 0.5, rel=1e-10)


def periods_of(index):
    """Return the beginning of the period that each bar belongs to, for each kind of period."""
    day = index.normalize()
    return {
        "hour": index.floor("h"),
        "day": day,
        "week": day - pandas.to_timedelta(day.day_of_week, unit="D"),
        **{name: index.to_period(name[0].upper()) for name in ("month", "quarter", "year")},
    }


def naive_anchor(table, periods, name, last):
    """Return where the VWAP `name` of the bar at `last` starts, found by looking at all of its past."""
    period, _, event = name.partition("_")
    first = int(numpy.argmax(periods[period] == periods[period][last]))
    if not event:
        return first
    past = table[event].to_numpy()[first : last + 1]
    return first + int(past.argmin() if event == "low" else past.argmax())


def test_every_anchored_vwap_against_a_naive_one():
    table = random_walk(400, freq="20min", start="2024-12-27 07:20")
    table.iloc[60:70, 4] = 0.0
    values, _ = compute_indicators(table)
    typical = table[["high", "low", "close"]].mean(axis=1).to_numpy(numpy.longdouble)
    close, volume = table["close"].to_numpy(), table["volume"].to_numpy()
    names = {
        indicator.name: indicator.name.removeprefix("avwap_") for indicator in (VWAP[0], *ANCHORED_VWAP[::7])
    } | {"vwap": "day"}
    assert len(names) == 11
    periods = periods_of(table.index)
    for name, anchor in names.items():
        expected = []
        for last in range(len(table)):
            since = slice(naive_anchor(table, periods, anchor, last), last + 1)
            total = volume[since].sum()
            mean = (typical[since] * volume[since]).sum() / total if total else typical[last]
            std = ((typical[since] - mean) ** 2 * volume[since]).sum() / total if total else 0
            expected.append((close[last] - mean) / std**0.5 if std > 1e-20 else 0.0)
        expected = numpy.clip(numpy.array(expected, float), -LIMIT, LIMIT)
        numpy.testing.assert_allclose(column(values, name), expected, rtol=1e-5, atol=1e-6, err_msg=name)


def test_equal_prices_start_no_new_record():
    table = make_table([5, 7, 7, 6, 8, 8, 3], start="2025-01-07 00:00")
    assert numpy.flatnonzero(record_starts(History(table), "day_high")).tolist() == [0, 1, 4]
    table = make_table([5, 7, 4, 4], start="2025-01-06 23:58")
    table["low"] = table["close"]
    assert numpy.flatnonzero(record_starts(History(table), "day_low")).tolist() == [0, 2], "a day begins"
    assert numpy.flatnonzero(record_starts(History(table), "week_low")).tolist() == [0, 2]


def test_shared_parts_are_computed_once():
    calls = []

    def part(history, number):
        calls.append(number)
        return number

    history = History(random_walk(10))
    assert [history.once(part, 1), history.once(part, 2), history.once(part, 1)] == [1, 2, 1]
    assert calls == [1, 2]


def feature(table, name, row=-1):
    return compute_context(table)[row, CONTEXT.index(name)]


def test_context_of_a_straight_rise():
    table = make_table(numpy.exp(1e-4 * numpy.arange(WARM_UP + 200)))
    assert feature(table, "efficiency") == pytest.approx(1)
    assert feature(table, "breakout") == 1
    assert feature(table, "breadth") == pytest.approx(60**0.5, abs=LIMIT) == LIMIT
    assert feature(table, "momentum") == LIMIT  # 60 / √60, cut off
    assert feature(table, "volatility_regime") == pytest.approx(0, abs=1e-6)
    assert feature(table, "trend_strength") == pytest.approx(100 / 25 - 1)
    # Of n points on a line, the last is (n - 1) / 2 steps above the mean, and √((n² - 1) / 12) the spread.
    assert feature(table, "mean_reversion") == pytest.approx(3**0.5, rel=0.03)


def test_context_of_a_zigzag():
    table = make_table(numpy.tile([100, 101, 102, 101], 500)[: WARM_UP + 199])
    for name in ("efficiency", "breadth", "momentum", "volatility_regime"):
        assert feature(table, name) == pytest.approx(0, abs=1e-3), name
    assert feature(table, "mean_reversion") == pytest.approx(2**0.5, rel=1e-5)
    assert feature(table, "trend_strength") < -0.6


def test_context_knows_the_time():
    table = make_table(numpy.ones(7 * 24), freq="h", start="2025-01-06")  # a Monday
    context = compute_context(table)
    hours = context[:24, CONTEXT.index("time_of_day")]
    numpy.testing.assert_allclose(hours, numpy.sin(numpy.arange(24) * numpy.pi / 12), atol=1e-6)
    days = context[::24, CONTEXT.index("weekday")]
    numpy.testing.assert_allclose(days, numpy.sin(numpy.arange(7) * 2 * numpy.pi / 7), atol=1e-6)
    assert len(numpy.unique(days)) == 7


def test_context_sees_louder_markets():
    table = random_walk(3000)
    moves = numpy.diff(numpy.log(table["close"].to_numpy()), prepend=numpy.log(100))
    moves[-60:] *= 4
    volume = numpy.repeat([1.0, 3.0], [2940, 60])
    louder = make_table(100 * numpy.exp(moves.cumsum()), volume=volume)
    assert feature(louder, "volatility_regime") > 0.5
    long = (WARM_UP - 60 + 60 * 3) / WARM_UP
    assert feature(louder, "volume_profile") == pytest.approx(numpy.log(3 / long))


def test_the_volume_of_generated_hours_shows_in_the_context():
    generated = generate_market(12_000)
    at = numpy.arange(BLOCK - 1, 12_000, BLOCK)
    at = at[at >= WARM_UP]
    profile = compute_context(generated.bars.table)[at, CONTEXT.index("volume_profile")]
    high = generated.continues[at // BLOCK] > 0
    assert profile[high].min() > profile[~high].max() + 0.3
