"""Bars that are absent because the exchange is closed, and bars that are missing, within one day in UTC."""

import numpy
import pandas
import pytest

from examples.indicator_transformer.bar_checks import check_spacing, closing_times, most_common_distance
from examples.indicator_transformer.bars import read_bars
from snippets.errors import UsageError

WEEKDAYS = pandas.bdate_range("2024-01-01", "2024-12-31")
WINTER = WEEKDAYS[:40]
MORNING, AFTERNOON = ("9:30", "11:30"), ("13:00", "15:00")
SHANGHAI, SYDNEY = "Asia/Shanghai", "Australia/Sydney"
CHICAGO, NEW_YORK = "America/Chicago", "America/New_York"


def sessions(*hours, zone, days=WEEKDAYS, freq="min"):
    """Return the times of the bars of sessions that all `days` have, like ("9:30", "11:30"), end excluded."""
    spans = [[pandas.Timedelta(f"{hour}:00") for hour in session] for session in hours]
    parts = [
        pandas.date_range(day + start, day + end, freq=freq, inclusive="left", unit="us")
        for day in days
        for start, end in spans
    ]
    return pandas.DatetimeIndex(numpy.concatenate(parts)).tz_localize(zone)


def in_utc(times):
    return times.tz_convert("UTC").tz_localize(None)


def check(times, max_missing=0.0):
    check_spacing(times, most_common_distance(times), max_missing, str)


def refused(times, max_missing=0.01):
    """Return what the check says about times that it has to refuse."""
    with pytest.raises(UsageError) as failure:
        check(times, max_missing)
    return str(failure.value)


@pytest.mark.parametrize(
    ("times", "breaks", "length"),
    [
        pytest.param(sessions(MORNING, AFTERNOON, zone=SHANGHAI), 262, "91min", id="lunch"),
        pytest.param(
            sessions(MORNING, AFTERNOON, zone=SHANGHAI, freq="60min"), 262, "150min", id="lunch, hours"
        ),
        # In the summer of Sydney from 23:00 to 5:00 in UTC: four breaks in each of 26 weeks, one in the last.
        pytest.param(sessions(("10:00", "16:00"), zone=SYDNEY), 105, "1081min", id="Sydney"),
        # In winter from 9:00 to 1:00 in UTC.
        pytest.param(sessions(("4:00", "20:00"), zone=NEW_YORK, days=WINTER), 32, "481min", id="extended"),
        pytest.param(
            sessions(("0:00", "16:00"), ("17:00", "24:00"), zone=CHICAGO, days=WINTER),
            40,
            "61min",
            id="futures",
        ),
    ],
)
def test_closing_times_within_a_day(times, breaks, length):
    times = in_utc(times)
    interval = most_common_distance(times)
    steps, days = numpy.diff(times.to_numpy()), times.normalize()
    same_day = days[1:] == days[:-1]
    gaps = same_day & (steps > interval)
    assert (steps[gaps] == pandas.Timedelta(length)).all()
    assert gaps.sum() == breaks
    assert ((closing_times(times, interval) & same_day) == gaps).all()
    check(times)


def test_a_file_with_offsets_over_a_change_of_daylight_saving(tmp_path):
    days = pandas.bdate_range("2024-09-16", "2024-10-25")  # Sydney changes on 2024-10-06
    times = [str(time) for time in sessions(("10:00", "16:00"), zone=SYDNEY, days=days, freq="5min")]
    assert {time[-6:] for time in times} == {"+10:00", "+11:00"}
    rows = [f"{time},10,12,9,11,100" for time in times]
    (tmp_path / "A.csv").write_text("\n".join(["time,open,high,low,close,volume", *rows]))
    assert len(read_bars(tmp_path / "A.csv", max_missing=0).table) == 30 * 72


@pytest.fixture
def shanghai():
    """Return the minutes of 20 days, in UTC: 240 on each, with a break after half of them."""
    return in_utc(sessions(MORNING, AFTERNOON, zone=SHANGHAI, days=WEEKDAYS[:20]))


def test_one_outage_in_20_days(shanghai):
    text = refused(shanghai.delete(range(4 * 240 + 150, 4 * 240 + 210)))
    assert "61 minutes after" in text
    assert "60 bars are missing, 1.25% of all" in text


def test_one_outage_around_the_clock():
    times = pandas.date_range("2024-01-01", periods=20 * 1440, freq="min")
    text = refused(times.delete(range(5000, 5180)), max_missing=0.006)
    assert (
        "5000 is 181 minutes after the bar before it, the first gap; 180 bars are missing, 0.62% of all"
        in text
    )


def test_an_outage_over_lunch_makes_the_whole_gap_missing(shanghai):
    assert "105 bars are missing" in refused(shanghai.delete(range(4 * 240 + 115, 4 * 240 + 130)))


def test_outages_of_one_length_at_different_times_of_day(shanghai):
    absent = [240 * day + 3 * day + minute for day in range(10) for minute in range(10, 45)]
    assert "350 bars are missing" in refused(shanghai.delete(absent))


def test_one_day_cannot_tell_lunch_from_missing_bars_but_two_can(shanghai):
    assert "91 minutes after the bar before it, the first gap; 90 bars are missing" in refused(shanghai[:240])
    check(shanghai[:480])


@pytest.mark.parametrize(("days_with_gap", "accepted"), [(9, False), (10, True)])
def test_a_tenth_of_the_days(days_with_gap, accepted):
    times = sessions(("0:00", "4:00"), zone=None, days=WEEKDAYS[:100])
    gap = [240 * 7 * day + minute for day in range(days_with_gap) for minute in range(60, 180)]
    if accepted:
        check(times.delete(gap))
    else:
        assert "1080 bars are missing" in refused(times.delete(gap))


@pytest.mark.parametrize(("minutes", "accepted"), [(29, False), (30, True)])
def test_half_an_hour(minutes, accepted):
    times = sessions(("0:00", "4:00"), zone=None, days=WEEKDAYS[:20])
    times = times.delete([240 * day + minute for day in range(20) for minute in range(60, 60 + minutes)])
    if accepted:
        check(times)
    else:
        assert "580 bars are missing" in refused(times)


@pytest.mark.parametrize("freq", ["min", "5min", "30min", "60min", "4h"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_many_single_missing_bars(freq, share):
    times = pandas.date_range("2023-01-01", "2024-01-01", freq=freq)
    present = numpy.random.default_rng(0).random(len(times)) >= share
    assert "bars are missing" in refused(times[present])


def test_an_irregular_grid(shanghai):
    late = shanghai.where(numpy.arange(len(shanghai)) % 7 != 3, shanghai + pandas.Timedelta(seconds=20))
    assert "3 is 80 seconds after the bar before it, but most bars are 1 minute apart" in refused(late)


def test_one_bar_off_the_grid_of_a_market_with_a_break():
    hours = sessions(MORNING, AFTERNOON, zone=None, freq="60min").delete(4 * 50 + 2)  # the first after lunch
    assert "202 is 210 minutes after the bar before it, but most bars are 1 hour apart" in refused(hours)
