"""The price bars of each symbol in files of any known form, checked. Nothing is repaired silently."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten

import numpy
import pandas
from matplotlib import cbook

from examples.indicator_transformer import sessions
from examples.indicator_transformer.bar_checks import (
    Where,
    check_duplicates,
    check_order,
    check_spacing,
    check_values,
    in_words,
)
from examples.indicator_transformer.bar_columns import NUMBERS
from examples.indicator_transformer.price_files import (
    TEXT_OF,
    WITHOUT_PRICES,
    Notes,
    Part,
    check_rows,
    read_file,
)
from examples.programs.array_files import read_npz
from examples.programs.tables import is_table
from snippets.errors import UsageError

MAX_MISSING = 0.01  # share of the bars
NO_DATA = re.compile(r"(readme|notes?|licen[cs]e|changelog)\b.*", re.IGNORECASE)
NEWEST_FIRST = "series turned round, which have the newest bar first"
REPEATED = "rows dropped, which repeat another one"
STILL = "bars kept, in which nothing moved: the volume is 0, and all prices are the same"
EMPTY_FILES = "files left out, which are empty"
REPORTS = "text files left out, which hold no bars and are called like another file"
MOST_REASONS, MOST_OF_A_REASON = 8, 400  # in one error
MOST_LINES = 3  # of those left out, in the report


@dataclass(frozen=True)
class Bars:
    """The checked bars of one symbol."""

    symbol: str
    # Columns open, high, low, close, volume in float64; the DatetimeIndex "timestamp" is ascending, without
    # duplicates and in UTC, without a time zone (tz-naive).
    table: pandas.DataFrame
    interval: pandas.Timedelta  # the most common distance between two bars
    source: str  # in words, for the user
    hours: str = ""  # the sessions, in words; empty for days, and when they are unknown
    missing: int = 0  # bars, within the sessions
    gap: str = ""  # the row after the longest gap
    local: pandas.DatetimeIndex | None = None  # the times by the file's own clock, if that is not UTC
    clock: str = "in UTC"  # of the times that are shown, in words
    notes: Notes = field(default_factory=Notes)  # what was left out or guessed, and of how many rows

    @property
    def shown(self) -> pandas.DatetimeIndex:
        """The times as the file has them."""
        return self.table.index if self.local is None else self.local


def read_bars(path: Path, *, symbol: str | None = None, max_missing: float = MAX_MISSING) -> Bars:
    """Return the bars of the only symbol in a file or folder, or of `symbol`.

    Raises UsageError, which names the file and an offending row, for invalid bars, and when more than a share
    `max_missing` of the bars of its sessions is missing.
    """
    parts = parts_by_symbol(path)
    names = [group[0].symbol for group in parts]
    if symbol is None and len(parts) > 1:
        listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise UsageError(f"{path} has {len(names)} symbols: {listed}; name one of them with --symbol")
    chosen = [group for group in parts if symbol in (None, group[0].symbol)]
    if not chosen:
        raise UsageError(f"{path} has no symbol {symbol}; it has {', '.join(names[:20])}")
    bars = joined(chosen[0], path)
    check_missing(bars, max_missing)
    return bars


def read_data(path: Path, *, max_missing: float = MAX_MISSING) -> list[Bars]:
    """Return the bars of each symbol in a file, or in all files of a folder, sorted by file and symbol.

    Raises UsageError as `read_bars` does, and when the symbols have different intervals.
    """
    all_bars = [joined(group, path) for group in parts_by_symbol(path)]
    first = all_bars[0]
    for bars in all_bars[1:]:
        if bars.interval != first.interval:
            raise UsageError(
                f"{path} mixes intervals: {first.symbol} has a bar every {in_words(first.interval)}, "
                f"{bars.symbol} every {in_words(bars.interval)}; use one folder for each interval"
            )
    for bars in all_bars:
        check_missing(bars, max_missing)
    return all_bars


def parts_by_symbol(path: Path) -> list[list[Part]]:
    """Return the parts of each symbol of a file or folder, before they are joined.

    Raises UsageError, which names all files of a folder that cannot be read.

    Case is ignored: on a Mac, AAPL.csv and aapl.csv are the same file.
    """
    notes, groups = Notes(), dict[str, list[tuple[Path, Part]]]()
    if not path.exists():
        raise UsageError(f"cannot read {path}: No such file or directory")
    for file, parts in read_files(path, notes) if path.is_dir() else [(path, read_file(path))]:
        for part in parts:
            groups.setdefault(part.symbol.casefold(), []).append((file, part))
    for group in groups.values():
        first, *others = dict.fromkeys(file for file, _ in group)
        if others and not all(part.joinable for _, part in group):
            name = group[0][1].symbol
            raise UsageError(f"{path} has {name} twice: {first.name} and {others[0].name}; remove one")
    result = [[part for _, part in group] for group in groups.values()]
    result[0][0].notes.update(notes)
    return result


def read_files(folder: Path, notes: Notes) -> list[tuple[Path, list[Part]]]:
    """Return the parts of each file in a folder. Raises UsageError, which names all unreadable files."""
    paths, empty = files_of(folder)
    names = Counter(path.stem.casefold() for path in paths)
    found: list[tuple[Path, list[Part]]] = []
    failures: dict[Path, UsageError] = {}
    count = 0
    for path in paths:
        try:
            parts = read_file(path)
        except UsageError as error:
            if path.suffix.lower() == ".txt" and names[path.stem.casefold()] > 1:
                notes[REPORTS] += 1
            else:
                failures[path] = error
            continue
        count += sum(len(part.rows) for part in parts)
        check_rows(folder, count)
        found.append((path, parts))
    if failures:
        raise all_refused(folder, failures, empty)
    if not found:
        raise UsageError(f"{folder} has no file of bars; it needs one like SYMBOL.csv")
    if empty:
        notes[EMPTY_FILES] += len(empty)
    return found


def all_refused(folder: Path, failures: dict[Path, UsageError], empty: Sequence[Path]) -> UsageError:
    """Return the error for the files of a folder that cannot be read, with the reasons of the first ones."""
    if len(failures) == 1 and not empty:
        return next(iter(failures.values()))
    reasons = [
        shorten(str(error).removeprefix("cannot read ").replace(str(path), path.name, 1), MOST_OF_A_REASON)
        for path, error in failures.items()
    ]
    reasons += [f"{path.name} is empty" for path in empty]
    more = f" | and {len(reasons) - MOST_REASONS:,} more" if len(reasons) > MOST_REASONS else ""
    return UsageError(
        f"{folder} has {len(reasons)} files that are refused; mend them or take them out: "
        + " | ".join(reasons[:MOST_REASONS])
        + more
    )


def files_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files with bars in a folder and the empty ones, sorted without regard to case.

    Raises UsageError.
    """
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: (entry.name.casefold(), entry.name))
        paths = [entry for entry in entries if is_table(entry) and not NO_DATA.fullmatch(entry.name)]
        whole = [entry for entry in paths if entry.stat().st_size]
    except OSError as error:
        raise UsageError(f"cannot read the folder {folder}: {error.strerror}") from None
    if not whole:
        inside = next((entry.name for entry in entries if entry.is_dir() and entry.name[0] != "."), None)
        cure = f"name a folder in it, like {folder / inside}" if inside else "it needs one like SYMBOL.csv"
        raise UsageError(f"{folder} has no file of bars; {cure}")
    return whole, [path for path in paths if path not in whole]


def joined(parts: Sequence[Part], source: Path) -> Bars:
    """Return the checked bars of one symbol from its parts. Raises UsageError."""
    notes = Notes()
    for part in parts:
        notes.update(part.notes)
    rows, owner = order_of(parts, notes)
    utc, local, values, lines = (collected(parts, name, rows) for name in ("utc", "local", "values", "rows"))

    def at(position: int) -> str:
        return parts[owner[position]].at(int(lines[position]))

    kept = check_duplicates(utc, values, at)
    if kept is not None:
        notes[REPEATED] += len(utc) - len(kept)
        utc, local, values, lines, owner = (column[kept] for column in (utc, local, values, lines, owner))
    name = parts[0].symbol
    if len(utc) < 2:
        raise UsageError(f"{source} has too few bars: {len(utc)} of {name}; two make an interval")
    index = pandas.DatetimeIndex(utc, name="timestamp")
    table = pandas.DataFrame(dict(zip(NUMBERS, values.T, strict=True)), index=index)
    check_values(table, at)
    still = int(((values[:, 4] == 0) & (values[:, 1] == values[:, 2])).sum())
    if still:
        notes[STILL] += still
    own = pandas.DatetimeIndex(local)
    spacing = check_spacing(index, own, at)
    return Bars(
        name,
        table,
        spacing.interval,
        f"{source}, every {in_words(spacing.interval)}",
        hours=sessions.in_words(spacing.sessions),
        missing=spacing.missing,
        gap=spacing.gap,
        local=None if (local == utc).all() else own,
        clock=parts[0].clock,
        notes=notes,
    )


def collected(parts: Sequence[Part], name: str, rows: numpy.ndarray | None) -> numpy.ndarray:
    """Return a column of all parts, at the positions `rows` if given; large ones are not copied in vain."""
    columns = [getattr(part, name) for part in parts]
    column = columns[0] if len(columns) == 1 else numpy.concatenate(columns)
    return column if rows is None else column[rows]


def order_of(parts: Sequence[Part], notes: Notes) -> tuple[numpy.ndarray | None, numpy.ndarray]:
    """Return the positions of all rows by ascending time, None if they are so, and the part of each row.

    Parts with the newest bar first are turned round. Raises UsageError for a part without an order.
    """
    pieces, begin = [], 0
    for part in parts:
        newest_first = part.utc[0] > part.utc[-1] and (part.utc[1:] <= part.utc[:-1]).all()
        turn = slice(None, None, -1 if newest_first else 1)
        check_order(part.utc[turn], in_file(part, turn))
        if newest_first:
            notes[NEWEST_FIRST] += 1
        elif len(parts) == 1:
            return None, numpy.broadcast_to(0, len(part.utc))
        pieces.append(begin + numpy.arange(len(part.utc))[turn])
        begin += len(part.utc)
    rows = numpy.concatenate(pieces)
    owner = numpy.repeat(numpy.arange(len(parts)), [len(part.utc) for part in parts])
    if len(parts) > 1:
        rows = rows[numpy.argsort(collected(parts, "utc", rows), kind="stable")]
    return rows, owner[rows]


def in_file(part: Part, turn: slice) -> Where:
    """Return what describes a row of a part by its position, after the rows are turned."""
    return lambda position: part.at(int(part.rows[turn][position]))


def sentences(notes: Notes) -> list[str]:
    """Return the notes for the user, with the text of the first lines that were left out."""
    found = [f"{words}: {count:,}" if count else words for words, count in notes.items()]
    left_out = [words for words in found if words.startswith(TEXT_OF)]
    return [words for words in found if words not in left_out[MOST_LINES:]]


def check_missing(bars: Bars, max_missing: float) -> None:
    """Raise UsageError when more than a share `max_missing` of the bars of the sessions is missing."""
    share = bars.missing / (bars.missing + len(bars.table))
    if share > max_missing:
        empty = f" ({WITHOUT_PRICES}: {bars.notes[WITHOUT_PRICES]:,})" if bars.notes[WITHOUT_PRICES] else ""
        raise UsageError(
            f"{bars.gap} comes after the longest gap; {bars.missing:,} bars are missing, {share:.2%} of all"
            f"{empty}; fill the gaps, or allow them with --max-missing {math.ceil(share * 1000) / 1000:g}"
        )


def check_enough(bars: Bars, needed: int) -> None:
    """Raise UsageError when there are fewer than `needed` bars."""
    if len(bars.table) < needed:
        raise UsageError(f"too few bars: {needed} needed, {len(bars.table)} in {bars.source}")


def load_goog() -> Bars:
    """Return the daily bars of Google from Matplotlib's sample data, which need no download.

    They are 1,047 trading days from 2004-08-19, the first one of the share, to 2008-10-14. The file's
    `adj_close`, the close adjusted for splits and dividends, is ignored; it equals the close on every day.
    Raises UsageError when Matplotlib was installed without its sample data.
    """
    path = Path(cbook.get_sample_data("goog.npz", asfileobj=False))
    try:
        days = read_npz(path, ["price_data"])["price_data"]
    except UsageError as error:
        raise UsageError(f"{error}; install Matplotlib with its sample data, as pip does") from None
    times = pandas.DatetimeIndex(days["date"].astype("datetime64[us]"), name="timestamp")
    table = pandas.DataFrame({name: days[name].astype("float64") for name in NUMBERS}, index=times)
    return Bars("GOOG", table, pandas.Timedelta(days=1), "Google, daily, sample data of Matplotlib")
