"""The hours in which a market trades, recognised from its bars: gaps count only within them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy
import pandas

DAY = 86_400_000_000  # microseconds
SHORTEST_BREAK = 600_000_000  # ten minutes; some futures pause for fifteen
# Clocks with daylight saving, in which a market that looks irregular in UTC may be regular.
CLOCKS = ("America/New_York", "Europe/London")
MOST_NAMED = 6  # sessions


@dataclass(frozen=True)
class Sessions:
    """The usual slots of a trading day. A slot is one interval of the clock."""

    usual: numpy.ndarray  # (slots of a day,) of bool, from midnight on
    start: int  # slot in which a trading day begins, after the longest break
    step: int  # length of a slot, microseconds
    irregular: int  # slots of all days that are unlike most days
    clock: str | None = None  # in which they are regular; None: that of the file
    offset: int = 0  # of the bars from the beginning of their slots, microseconds

    @property
    def around_the_clock(self) -> bool:
        """Whether there is no break."""
        return bool(self.usual.all())


def find_sessions(times: numpy.ndarray, step: int) -> Sessions | None:
    """Return the sessions of ascending `times` (bars,), int64 in microseconds of the file's clock.

    A slot is usual if more than half of the days have a bar in it; breaks of less than ten minutes are no
    breaks. None: a day has no whole number of slots, or there is only one day, so that nothing is usual.
    """
    if step >= DAY or DAY % step:
        return None
    best = sessions_of(times, step, None)
    for clock in CLOCKS if best and best.irregular else ():
        other = sessions_of(in_clock(times, clock), step, clock)
        if best and other and 2 * other.irregular < best.irregular:
            best = other
    return best


def sessions_of(times: numpy.ndarray, step: int, clock: str | None) -> Sessions | None:
    """Return the sessions by one clock, or None for a single day."""
    count = numpy.bincount(times // step % (DAY // step), minlength=DAY // step)
    days = int(numpy.quantile(count[count > 0], 0.9, method="lower"))  # not max: days may be incomplete
    if days < 2:
        return None
    usual = count > 0 if days == 2 else 2 * count > days
    for first, length in breaks_of(usual):
        if length * step < SHORTEST_BREAK:
            usual[(first + numpy.arange(length)) % len(usual)] = True
    irregular = int(numpy.minimum(count, numpy.abs(days - count)).sum())
    longest = max(breaks_of(usual), key=lambda part: part[1], default=(0, 0))
    offset = int(numpy.quantile(times % step, 0.5, method="lower"))
    return Sessions(usual, sum(longest) % len(usual), step, irregular, clock, offset)


def breaks_of(usual: numpy.ndarray) -> list[tuple[int, int]]:
    """Return first slot and length of each run of slots that are not usual; one may pass midnight."""
    if usual.all():
        return []
    first_open = int(usual.argmax())
    turned = numpy.roll(usual, -first_open)
    edges = numpy.flatnonzero(numpy.diff(turned.astype("i1"), append=1))
    starts, ends = edges[::2] + 1, edges[1::2] + 1
    return [
        ((first_open + int(start)) % len(usual), int(end - start))
        for start, end in zip(starts, ends, strict=True)
    ]


def missing_before(times: numpy.ndarray, step: int, sessions: Sessions | None) -> numpy.ndarray:
    """Return how many bars are missing before each bar (bars,): absent usual slots of its trading day.

    Nothing is missing before the first bar of a trading day or after the last. Around the clock, a gap of a
    day or longer counts only if the market trades on all days of the week.
    """
    if sessions is not None and sessions.clock is not None:
        times = in_clock(times, sessions.clock)
    slots, distance = DAY // step, numpy.diff(times) // step
    if sessions is None:  # gaps within a day of the clock
        same = numpy.diff(times // DAY) == 0
        missing = numpy.where(same, distance - 1, 0)
    elif sessions.around_the_clock:
        weekday = numpy.bincount((times // DAY + 3) % 7, minlength=7)
        all_week = 2 * weekday.min() >= weekday.max()
        missing = numpy.where((distance < slots) | all_week, distance - 1, 0)
    else:
        usual = numpy.roll(sessions.usual, -sessions.start)
        before = numpy.concatenate([[0], usual.cumsum()])
        day, slot = numpy.divmod(times // step - sessions.start, slots)
        absent = before[slot[1:]] - before[slot[:-1] + 1]
        missing = numpy.where(numpy.diff(day) == 0, absent, 0)
    return numpy.concatenate([[0], numpy.maximum(missing, 0)])


def in_clock(times: numpy.ndarray, clock: str) -> numpy.ndarray:
    """Return times in UTC as a clock of this time zone shows them, int64 in microseconds."""
    index = pandas.DatetimeIndex(times.astype("datetime64[us]")).tz_localize("UTC")
    return index.tz_convert(clock).tz_localize(None).as_unit("us").asi8


def in_words(sessions: Sessions | None) -> str:
    """Return the first and last bar of each session, like "09:30 to 11:29 and 13:00 to 14:59"."""
    if sessions is None:
        return ""
    count = int(sessions.usual.sum())
    if sessions.around_the_clock:
        return f"around the clock, {count:,} bars a day"
    parts = list(ranges(sessions))
    words = " and ".join(f"{first} to {last}" for first, last in parts)
    if len(parts) > MOST_NAMED:
        words = f"{len(parts)} sessions between {parts[0][0]} and {parts[-1][1]}"
    where = f", by the clock of {sessions.clock}" if sessions.clock else ""
    return f"{words}, {count:,} bars a day{where}"


def ranges(sessions: Sessions) -> Iterator[tuple[str, str]]:
    """Yield the times of the first and the last bar of each session, in the order of a trading day."""
    slots = len(sessions.usual)
    breaks = sorted(((first - sessions.start) % slots, length) for first, length in breaks_of(sessions.usual))
    begin = 0
    for first, length in breaks:
        yield time_of(sessions, begin), time_of(sessions, first - 1)
        begin = first + length


def time_of(sessions: Sessions, slot: int) -> str:
    """Return the time of day of a slot, counted from the beginning of the trading day."""
    begin = (slot + sessions.start) % len(sessions.usual) * sessions.step
    seconds = (begin + sessions.offset) // 1_000_000
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return f"{text}:{seconds % 60:02}" if sessions.step % 60_000_000 else text
