"""Advice on price files with other columns, whose vendors are recognised by their column names."""

from collections.abc import Sequence

import pandas

# The columns of Binance's files after the six columns of a bar.
BINANCE = "close_time,quote_volume,trades,taker_buy_volume,taker_buy_quote_volume,ignore"
VENDORS = {"日期": "AKShare", "trade_date": "Tushare"}  # by the name of the time column
SYMBOLS = ("symbol", "ticker", "ts_code", "股票代码")
PAGE = 'the page "The indicator training system" has lines that convert it, under "Your own bars"'


def advice(columns: Sequence[str], needed: str) -> str:
    """Return advice on a file that lacks some `needed` columns; `columns` are in lower case."""
    first = next(iter(columns), "")
    if first.isdigit():  # the first bar is in place of the names
        problem = f"the first line, with the names of all {len(columns)} columns, is missing"
        if len(columns) == 12:
            return f"{problem}; in a file from Binance they are {needed},{BINANCE}: {PAGE}"
        return f"{problem}; add it, with {needed} among the names"
    vendors = [vendor for name, vendor in VENDORS.items() if name in columns]
    if first == "price":  # the header has three lines, whose first one has no column of times
        vendors.append("yfinance")
    if vendors:
        return f"this looks like a file from {vendors[0]}: {PAGE}"
    return f"name the columns {needed}"


def several_symbols(cells: pandas.DataFrame) -> str:
    """Return advice when a file has rows of several symbols, or "" when no column shows that."""
    for name in SYMBOLS:
        if list(cells.columns).count(name) == 1:
            count = cells[name].astype(str).nunique()  # a Parquet cell may be a list
            if count > 1:
                return f"; its column {name} names {count} symbols: write one file for each"
    return ""
