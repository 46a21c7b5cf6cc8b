"""What to do with a price file whose columns are not ours: vendors are known by the names that they use."""

from collections.abc import Sequence

import pandas

# What Binance's files have behind the six columns of a bar.
BINANCE = "close_time,quote_volume,trades,taker_buy_volume,taker_buy_quote_volume,ignore"
VENDORS = {"日期": "AKShare", "trade_date": "Tushare"}  # by the column of times
SYMBOLS = ("symbol", "ticker", "ts_code", "股票代码")
PAGE = 'the page "The indicator training system" has lines that convert it, under "Your own bars"'


def advice(columns: Sequence[str], needed: str) -> str:
    """Return what to do about a file without some `needed` columns; its own are in small letters."""
    first = next(iter(columns), "")
    if first.isdigit():  # the first bar stands where the names should be
        problem = f"the first line, with the names of all {len(columns)} columns, is missing"
        if len(columns) == 12:
            return f"{problem}; in a file from Binance they are {needed},{BINANCE}: {PAGE}"
        return f"{problem}; add it, with {needed} among the names"
    vendors = [vendor for name, vendor in VENDORS.items() if name in columns]
    if first == "price":  # above it, in the header of three lines, stand no times
        vendors.append("yfinance")
    if vendors:
        return f"this looks like a file from {vendors[0]}: {PAGE}"
    return f"name the columns {needed}"


def several_symbols(cells: pandas.DataFrame) -> str:
    """Return in words that rows of several symbols are in one file; empty where no column says so."""
    for name in SYMBOLS:
        if list(cells.columns).count(name) == 1:
            count = cells[name].astype(str).nunique()  # a cell of Parquet may be a list
            if count > 1:
                return f"; its column {name} names {count} symbols: write one file for each"
    return ""
