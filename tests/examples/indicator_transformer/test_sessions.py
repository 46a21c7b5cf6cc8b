"""Sessions are found from bars whose hours and holes are known: what is missing is counted exactly."""

import numpy
import pandas
import pytest

from examples.indicator_transformer.sessions import DAY, find_sessions, in_words, missing_before

MINUTE = 60_000_000
CHINA = [*range(570, 690), *range(780, 900)]  # 09:30 to 11:29, 13:00 to 14:59
FUTURES = [*range(1260, 1440), *range(150), *range(540, 615), *range(630, 690), *range(810, 900)]
US = list(range(570, 960))


def bars(minutes, days, zone=None, start="2024-01-02"):
    """Return the times (bars,) of bars at these minutes of each business day, microseconds of UTC."""
    dates = pandas.bdate_range(start, periods=days).as_unit("us").asi8
    local = numpy.sort((dates[:, None] + MINUTE * numpy.array(minutes)).ravel())
    index = pandas.DatetimeIndex(local.astype("datetime64[us]"))
    if zone:
        index = index.tz_localize(zone, ambiguous="NaT", nonexistent="NaT").dropna().tz_convert("UTC")
    return index.tz_localize(None).as_unit("us").asi8 if zone else local


def counted(times, step=MINUTE):
    """Return how many bars are missing, and the hours in words."""
    sessions = find_sessions(times, step)
    return int(missing_before(times, step, sessions).sum()), in_words(sessions)


MARKETS = {
    "China": (bars(CHINA, 20), "09:30 to 11:29 and 13:00 to 14:59, 240 bars a day"),
    "futures": (
        bars(FUTURES, 20),
        "09:00 to 10:14 and 10:30 to 11:29 and 13:30 to 14:59 and 21:00 to 02:29, 555 bars a day",
    ),
    "US, own clock": (bars(US, 20), "09:30 to 15:59, 390 bars a day"),
    "US in UTC, a year": (
        bars(US, 250, "America/New_York"),
        "09:30 to 15:59, 390 bars a day, by the clock of America/New_York",
    ),
    "a week": (bars(CHINA, 5), "09:30 to 11:29 and 13:00 to 14:59, 240 bars a day"),
    "two days": (bars(CHINA, 2), "09:30 to 11:29 and 13:00 to 14:59, 240 bars a day"),
}


@pytest.mark.parametrize("name", MARKETS)
def test_hours_are_found_and_nothing_is_missing(name):
    times, words = MARKETS[name]
    assert counted(times) == (0, words)


@pytest.mark.parametrize("name", MARKETS)
def test_holes_within_sessions_are_counted_exactly(name):
    times, words = MARKETS[name]
    random = numpy.random.default_rng(0)
    holes = numpy.sort(random.choice(numpy.arange(5, 230), 7, replace=False))  # of the first day
    assert counted(numpy.delete(times, holes)) == (7, words)


def test_hours_begin_when_their_bars_do():
    times = bars(range(570, 960, 60), 20)
    assert counted(times, 60 * MINUTE) == (0, "09:30 to 15:30, 7 bars a day")


def test_a_hole_over_noon_counts_both_sides():
    times = bars(CHINA, 20)
    assert counted(numpy.delete(times, numpy.arange(240 + 110, 240 + 135)))[0] == 25


def test_late_opening_and_early_close_are_not_missing():
    times = bars(US, 20)
    assert counted(numpy.delete(times, [*range(390, 450), *range(2 * 390 - 180, 2 * 390)]))[0] == 0


def test_holidays_and_weekends_are_not_missing():
    times = bars(FUTURES, 20)
    day = times // DAY
    assert counted(times[day != day[0] + 7])[0] == 0


def test_round_the_clock_all_week_every_gap_counts():
    times = numpy.arange(21 * 1440) * MINUTE
    assert counted(times) == (0, "around the clock, 1,440 bars a day")
    assert counted(numpy.delete(times, numpy.r_[1430:1450, 5000:8000]))[0] == 3020


def test_currencies_close_at_weekends_only():
    hours = pandas.date_range("2024-01-07 22:00", "2024-03-01 21:00", freq="h")
    weekend = (hours.day_of_week == 5) | ((hours.day_of_week == 4) & (hours.hour >= 22))
    weekend |= (hours.day_of_week == 6) & (hours.hour < 22)
    times = hours[~weekend].as_unit("us").asi8
    assert counted(times, 60 * MINUTE) == (0, "around the clock, 24 bars a day")
    assert counted(numpy.delete(times, [50, 51, 200]), 60 * MINUTE)[0] == 3


def test_a_daily_pause_with_daylight_saving():
    """Futures in Chicago pause an hour a day, which is another hour of UTC in winter."""
    open_minutes = [*range(17 * 60), *range(18 * 60, 1440)]
    times = bars(open_minutes, 250, "America/New_York")
    assert counted(times)[0] == 0
    assert counted(numpy.delete(times, [100, 101, 5000]))[0] == 3


def test_one_day_tells_no_hours():
    times = bars(CHINA, 1)
    assert find_sessions(times, MINUTE) is None
    assert int(missing_before(times, MINUTE, None).sum()) == 90  # noon


def test_bars_of_seven_minutes_have_no_slots():
    assert find_sessions(bars(US, 5), 7 * MINUTE) is None


def test_a_pause_of_five_minutes_is_missing():
    times = bars([minute for minute in CHINA if not 660 <= minute < 665], 20)
    assert counted(times) == (100, "09:30 to 11:29 and 13:00 to 14:59, 240 bars a day")


@pytest.mark.parametrize(("days", "missing"), [(8, False), (12, True)])
def test_hours_of_most_days_count(days, missing):
    """Before the opening there are bars at 08:30 on all days, and after that on some days only."""
    early, rare = bars([510, *US], 20), bars(range(511, 570), 20)
    times = numpy.sort(numpy.concatenate([early, rare[: 59 * days]]))
    assert counted(times)[0] == (59 * (20 - days) if missing else 0)
