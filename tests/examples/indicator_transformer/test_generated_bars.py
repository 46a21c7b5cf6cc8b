"""Generated bars: proper bars, the announced law, and its exact chances."""

import numpy
import pandas
import pytest

from examples.indicator_transformer.bars import read_bars
from examples.indicator_transformer.generated_bars import (
    BLOCK,
    DRIFT,
    HORIZON,
    NOISE,
    STRENGTH,
    generate_market,
)
from snippets.errors import UsageError

BLOCKS = 5000
BEST = 0.9031995  # Φ(1.3)


@pytest.fixture(scope="module")
def market():
    return generate_market(BLOCKS * BLOCK)


@pytest.fixture(scope="module")
def returns(market):
    """Return the log-return of each bar, (blocks, BLOCK)."""
    table = market.bars.table
    return numpy.log(table["close"] / table["open"]).to_numpy().reshape(-1, BLOCK)


def four_deviations(count, deviation=1.0):
    """Return by how much the mean of `count` independent numbers may differ from what it should be."""
    return 4 * deviation / count**0.5


def test_they_are_proper_bars(market):
    table = market.bars.table
    assert len(table) == BLOCKS * BLOCK
    assert (table["high"] >= table[["open", "close"]].max(axis=1)).all()
    assert (table["low"] <= table[["open", "close"]].min(axis=1)).all()
    assert (table["open"].iloc[1:].to_numpy() == table["close"].iloc[:-1].to_numpy()).all()
    assert (table > 0).all(axis=None)
    assert set(table.dtypes) == {numpy.dtype(float)}
    assert market.bars.interval == pandas.Timedelta(minutes=1)


def test_the_reader_takes_them(tmp_path):
    bars = generate_market(600).bars
    path = tmp_path / f"{bars.symbol}.csv"
    bars.table.to_csv(path)
    read = read_bars(path)
    numpy.testing.assert_array_equal(read.table.to_numpy(), bars.table.to_numpy())
    assert (read.table.index == bars.table.index).all()
    assert (read.symbol, read.interval) == (bars.symbol, bars.interval)


def test_equal_seeds_give_equal_bars():
    first, again, other = (generate_market(600, seed) for seed in (3, 3, 4))
    assert first.bars.table.equals(again.bars.table)
    assert (first.direction == again.direction).all()
    assert not first.bars.table["close"].equals(other.bars.table["close"])


@pytest.mark.parametrize(("wanted", "bars"), [(1, 60), (60, 60), (61, 120), (2_000, 2_040)])
def test_blocks_are_whole(wanted, bars):
    market = generate_market(wanted)
    assert len(market.bars.table) == len(market.chance_of_rise(HORIZON)) == bars
    assert len(market.direction) == len(market.continues) == bars // BLOCK


# ---- The law ----


def test_the_announcement_comes_true(market):
    assert set(market.direction) == set(market.continues) == {-1.0, 1.0}
    assert (market.direction[1:] == market.direction[:-1] * market.continues[:-1]).all()


def test_the_levels_of_the_volume_never_overlap(market):
    volume = market.bars.table["volume"].to_numpy().reshape(-1, BLOCK)
    high = market.continues > 0
    assert volume[high].min() >= 1500 > volume[~high].max()
    assert volume[high].mean() == pytest.approx(3000, rel=0.01)
    assert volume[~high].mean() == pytest.approx(1000, rel=0.01)


def test_returns_are_drift_and_noise(market, returns):
    noise = returns - DRIFT * market.direction[:, None]
    assert abs(noise.mean()) < four_deviations(noise.size, NOISE)
    assert noise.std() == pytest.approx(NOISE, rel=0.01)
    neighbours = (noise.ravel()[1:] * noise.ravel()[:-1]).mean() / NOISE**2
    assert abs(neighbours) < four_deviations(noise.size)
    strength = DRIFT * HORIZON / (NOISE * HORIZON**0.5)
    assert strength == pytest.approx(STRENGTH)


def test_prices_alone_say_nothing_about_the_next_block(market, returns):
    """Neither a block's direction, nor its return, nor its size goes with what it announces."""
    moves = returns.sum(1)
    sizes = numpy.abs(returns).mean(1)
    following = market.direction[1:]
    for seen in (
        market.direction[:-1],
        moves[:-1],
        sizes[:-1] - sizes.mean(),
        moves[:-1] * (sizes[:-1] > 4e-4),
    ):
        correlation = (seen / seen.std() * following).mean()
        assert abs(correlation) < four_deviations(BLOCKS)
    with_volume = moves[:-1] * market.continues[:-1]
    assert (numpy.sign(with_volume) == following).mean() > 0.98


# ---- The chances ----


def test_the_best_accuracy_at_the_end_of_a_block(market):
    chance = market.chance_of_rise(HORIZON)[BLOCK - 1 :: BLOCK]
    follows = market.direction * market.continues
    assert numpy.allclose(chance, numpy.where(follows > 0, BEST, 1 - BEST), atol=1e-7)


@pytest.mark.parametrize("horizon", [1, 20, 60])
@pytest.mark.parametrize("place", [0, 30, 45, 50, 58, 59])
def test_chances_are_those_of_simulated_continuations(market, horizon, place):
    random = numpy.random.default_rng(place)
    chances = market.chance_of_rise(horizon)
    for block in (1, 2, 3, 4):
        now, then = market.direction[block], market.direction[block] * market.continues[block]
        drifts = [now if place + ahead < BLOCK else then for ahead in range(1, horizon + 1)]
        # Of independent normal steps only the sum matters, which is normal too.
        sums = DRIFT * sum(drifts) + NOISE * random.standard_normal((40_000, horizon)).sum(1)
        assert (sums > 0).mean() == pytest.approx(chances[block * BLOCK + place], abs=0.01)


@pytest.mark.parametrize("place", [0, 30, 49, 59])
def test_chances_are_the_shares_of_rises_in_the_bars(market, place):
    """Bars with the same chance do rise that often; the last block has no future."""
    close = numpy.log(market.bars.table["close"].to_numpy())
    at = numpy.arange(place, len(close) - BLOCK, BLOCK)
    rises = close[at + HORIZON] > close[at]
    chance = market.chance_of_rise(HORIZON)[at].round(6)
    kinds = numpy.unique(chance)
    assert len(kinds) == (3 if place == 49 else 2)  # half in the next block: if that turns, nobody knows
    for kind in kinds:
        group = rises[chance == kind]
        assert len(group) > 1000
        assert abs(group.mean() - kind) < four_deviations(len(group), (kind * (1 - kind)) ** 0.5)


def test_beyond_the_announcement_nobody_knows(market):
    assert market.chance_of_rise(BLOCK).shape == (BLOCKS * BLOCK,)
    with pytest.raises(
        UsageError, match="--horizon 61: generated bars know their future for 60 bars at most"
    ):
        market.chance_of_rise(BLOCK + 1)
