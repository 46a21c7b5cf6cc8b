"""Which columns of a table are those of price bars, by the names that vendors give them.

The names were read in the sources that docs/data/data_forms/indicator_transformer.yaml lists.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

from snippets.errors import UsageError

PRICES = ("open", "high", "low", "close")
NUMBERS = (*PRICES, "volume")
# --8<-- [start:names]
# In any case and any order; <OPEN> is open. Of several names in a file, the first one here counts.
NAMES = {
    "time": (
        "timestamp", "datetime", "date_time", "trade_time", "open_time", "open time", "window_start",
        "gmt time", "时间", "time", "date", "trade_date", "day", "日期", "交易日期", "ts", "t", "unix",
        "index", "",
    ),
    "open": ("open", "o", "开盘", "开盘价", "openprc"),
    "high": ("high", "h", "最高", "最高价", "askhi"),
    "low": ("low", "l", "最低", "最低价", "bidlo"),
    "close": ("close", "c", "收盘", "收盘价", "close/last", "prc", "price"),
    "volume": ("volume", "tickvol", "tick_volume", "vol", "vol.", "v", "成交量", "volume_(btc)"),
    "symbol": ("permno", "symbol", "ticker", "ts_code", "code", "股票代码", "代码", "name"),
}  # fmt: skip
# --8<-- [end:names]
DAYS, CLOCKS = ("date", "日期", "交易日期"), ("time", "时间")  # of separate columns for day and time of day
ADJUSTED = ("adj close", "adj_close", "adjclose")
BINANCE = 12  # columns of its files, which have no header
CRSP = "prc"  # its close; below 0, it is the average of bid and ask on a day without trade
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|nan|null|", re.IGNORECASE)
VOLUME_OF = re.compile(r"volume [a-z0-9]{2,10}")  # Volume ETH of CryptoDataDownload
DATE = re.compile(r"\d{8}|\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{4}")


@dataclass(frozen=True)
class Columns:
    """The columns of a table, by their names there."""

    time: str
    numbers: tuple[str, ...]  # in the order of NUMBERS
    clock: str | None = None  # the time of day, when `time` is only the date
    symbol: str | None = None
    notes: tuple[str, ...] = ()  # for the user
    below_zero: bool = False  # whether a close below 0 marks a day without trade

    def all(self) -> list[str]:
        """Return the names of all columns: time, numbers, and those that are not None."""
        return [self.time, *self.numbers, *filter(None, (self.clock, self.symbol))]


def plain(name: str) -> str:
    """Return a name in lower case, without spaces or angle brackets around it."""
    return name.strip().strip("<>").strip().lower()


def are_bars(cells: Sequence[str]) -> bool:
    """Return whether the first cells of a table are a bar already, so that the names are missing."""
    return sum(NUMBER.fullmatch(cell) is not None and cell != "" for cell in cells) >= 4


def are_chinese(cells: Sequence[str]) -> bool:
    """Return whether Chinese names of most prices are among the cells, which a wrong encoding never gives."""
    return sum(plain(cell) in NAMES[role] and not cell.isascii() for cell in cells for role in PRICES) >= 3


def is_yfinance(cells: Sequence[str]) -> bool:
    """Return whether the first cells begin the three header lines of yfinance's `download`."""
    return len(cells) > 1 and cells[0] in ("Price", "Ticker") and "" not in cells


def find_columns(source: object, names: Sequence[str]) -> Columns:
    """Return the columns of bars among those with these names. Raises UsageError."""
    known = [plain(name) for name in names]
    found: dict[str, str] = {}
    for role, possible in NAMES.items():
        chosen = next((name for name in possible if name in known), None)
        if (
            role == "volume" and chosen is None
        ):  # CryptoDataDownload has one of each currency, the traded first
            chosen = next((name for name in known if VOLUME_OF.fullmatch(name)), None)
        if chosen is None or (chosen == "price" and not {"open", "high", "low"} <= found.keys()):
            continue  # a price alone is a trade
        if known.count(chosen) > 1:
            raise UsageError(f"{source} has {known.count(chosen)} columns {chosen}; keep one of them")
        found[role] = names[known.index(chosen)]
    wanted = "the time", *(f"the {name}" for name in NUMBERS)
    missing = [words for words, role in zip(wanted, ("time", *NUMBERS), strict=True) if role not in found]
    if missing:
        cure = "name the columns timestamp,open,high,low,close,volume"
        if missing == ["the volume"]:
            cure = "add a column volume, with 1 in each row if there is none"
        raise UsageError(
            f"{source} has no column for {', '.join(missing)}; it has "
            f"{shorten(', '.join(filter(None, names)), 200)}; {cure}"
        )
    columns = Columns(found["time"], tuple(found[role] for role in NUMBERS), symbol=found.get("symbol"))
    columns = replace(columns, below_zero=plain(found["close"]) == CRSP)
    return with_notes(with_clock(columns, names, known), known)


def with_clock(columns: Columns, names: Sequence[str], known: Sequence[str]) -> Columns:
    """Return the columns with the date and the time of day, when the table has a column for each."""
    day = next((name for name in DAYS if name in known), None)
    if plain(columns.time) not in CLOCKS or day is None:
        return columns
    return replace(columns, time=names[known.index(day)], clock=columns.time)


def with_notes(columns: Columns, known: Sequence[str]) -> Columns:
    """Return the columns with notes on what is ignored or has an unusual name."""
    notes = []
    if any(name in ADJUSTED for name in known):
        notes.append("the adjusted close is ignored: a split or a dividend in these prices looks like a move")
    if plain(columns.numbers[3]) == "price":
        notes.append(f"the close is the column {columns.numbers[3]}")
    if columns.clock is None and sum(name in known for name in NAMES["time"] if name) > 1:
        notes.append(f"the time is the column {columns.time}")
    if columns.symbol and plain(columns.symbol) == "permno":
        notes.append("symbols are PERMNO, which stays when a share gets another ticker")
    if plain(columns.numbers[-1]) not in ("volume", "vol", "vol.", "v", "成交量"):
        notes.append(f"the volume is the column {columns.numbers[-1]}")
    return replace(columns, notes=tuple(notes))


def without_header(source: object, cells: Sequence[str]) -> Columns:
    """Return the columns, called 1, 2, …, of a table whose first cells are a bar. Raises UsageError."""
    places = [str(place) for place in range(1, len(cells) + 1)]
    if len(cells) == BINANCE or len(cells) == 6:
        columns = Columns("1", tuple(places[1:6]))
        read_as = "time, open, high, low, close, volume"
    elif len(cells) == 7 and DATE.fullmatch(cells[0]) and re.fullmatch(r"[\d:]{4,8}", cells[1]):
        columns = Columns("1", tuple(places[2:7]), clock="2")
        read_as = "date, time, open, high, low, close, volume"
    elif len(cells) == 7 and re.fullmatch(r"\d{9,19}", cells[0]):  # Kraken
        columns = Columns("1", tuple(places[1:6]))
        read_as = "time, open, high, low, close, volume, number of trades"
    else:
        raise UsageError(
            f"{source} has no line with the names of its {len(cells)} columns; add one, with "
            "timestamp,open,high,low,close,volume among the names"
        )
    return replace(columns, notes=(f"it has no header: its columns are read as {read_as}",))


def of_yfinance(source: object, rows: Sequence[Sequence[str]]) -> tuple[dict[str, Columns], int]:
    """Return the columns of each share in a file of yfinance's `download`, and the number of header lines.

    `rows` are its first three. The columns are called 1, 2, …. Raises UsageError.
    """
    first = "Price" if rows[0][0] == "Price" else "Ticker"
    prices, shares = (rows[0], rows[1]) if first == "Price" else (rows[1], rows[0])
    places: dict[str, dict[str, str]] = {}
    for place in range(1, len(prices)):
        places.setdefault(shares[place], {})[plain(prices[place])] = str(place + 1)
    lines = 3 if plain(rows[2][0]) in NAMES["time"] and not any(rows[2][1:]) else 2
    found = {}
    for share, by_name in places.items():
        if lacking := [name for name in NUMBERS if name not in by_name]:
            raise UsageError(f"{source} has no column for the {', the '.join(lacking)} of {share}")
        notes = with_notes(Columns("1", NUMBERS), list(by_name)).notes
        found[share] = Columns("1", tuple(by_name[name] for name in NUMBERS), notes=notes)
    return found, lines
