"""Price files as their vendors write them: the reader names the vendor, and the page's lines convert them.

The forms: yfinance 1.7.0 (three header lines since 0.2.51); the README of binance/binance-public-data and its
issue 386 (microseconds since 2025); AKShare 1.19.5, `stock_zh_a_hist`; Tushare's documentation of `daily`.
"""

import runpy
from pathlib import Path

import pandas
import pytest

from examples.indicator_transformer.bars import COLUMNS, read_bars, read_folder
from snippets.errors import UsageError
from tests.snippets.test_recipes import shape_defects
from tools.checks.sections import parse_sections

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {path.stem: path for path in sorted((ROOT / "snippets/price_files").glob("*.py"))}
DAYS = ["2024-12-30", "2024-12-31", "2025-01-02"]

FILES = {
    "yfinance": {
        "yahoo.csv": """\
Price,Close,Close,High,High,Low,Low,Open,Open,Volume,Volume
Ticker,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT
Date,,,,,,,,,,
2024-12-30,11.0,21.0,12.0,22.0,9.0,19.0,10.0,20.0,100,200
2024-12-31,11.5,21.5,12.5,22.5,9.5,19.5,10.5,20.5,101,201
2025-01-02,11.9,,12.9,,9.9,,10.9,,102,
"""
    },
    "binance": {
        "BTCUSDT-1m-2024-12.csv": """\
1735689480000,10.0,12.0,9.0,11.0,100.0,1735689539999,1100.0,13,40.0,440.0,0
1735689540000,10.5,12.5,9.5,11.5,101.0,1735689599999,1100.0,13,40.0,440.0,0
""",
        "BTCUSDT-1m-2025-01.csv": """\
1735689600000000,10.9,12.9,9.9,11.9,102.0,1735689659999999,1100.0,13,40.0,440.0,0
""",
    },
    "akshare": {
        "akshare.csv": """\
,日期,股票代码,开盘,收盘,最高,最低,成交量,成交额,振幅,涨跌幅,涨跌额,换手率
0,2024-12-30,000001,10.0,11.0,12.0,9.0,100,1100.0,3.0,1.0,0.1,0.5
1,2024-12-31,000001,10.5,11.5,12.5,9.5,101,1100.0,3.0,1.0,0.1,0.5
2,2025-01-02,000001,10.9,11.9,12.9,9.9,102,1100.0,3.0,1.0,0.1,0.5
"""
    },
    "tushare": {
        "tushare.csv": """\
,ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount
0,000001.SZ,20250102,10.9,12.9,9.9,11.9,8.72,-0.02,-0.23,102.0,1100.0
1,000001.SZ,20241231,10.5,12.5,9.5,11.5,8.72,-0.02,-0.23,101.0,1100.0
2,000001.SZ,20241230,10.0,12.0,9.0,11.0,8.72,-0.02,-0.23,100.0,1100.0
"""
    },
}
SYMBOLS = {"yfinance": "AAPL", "binance": "BTCUSDT", "akshare": "000001", "tushare": "000001.SZ"}


@pytest.fixture
def folder(request, tmp_path, monkeypatch):
    """Return an empty folder with the files of a vendor, which is also the current one."""
    for name, text in FILES[request.param].items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


vendors = pytest.mark.parametrize(("folder", "vendor"), [(name, name) for name in FILES], indirect=["folder"])


@vendors
def test_a_vendors_file_is_converted_into_what_is_read(folder, vendor):
    runpy.run_path(str(PROGRAMS[vendor]), run_name="__main__")
    bars = {bars.symbol: bars for bars in read_folder(folder / "prices")}
    table = bars[SYMBOLS[vendor]].table
    expected = [[10, 12, 9, 11, 100], [10.5, 12.5, 9.5, 11.5, 101], [10.9, 12.9, 9.9, 11.9, 102]]
    assert table.to_numpy().tolist() == expected
    if vendor == "binance":  # 2025 begins with the third bar
        days = pandas.date_range("2024-12-31 23:58", periods=3, freq="min")
    else:
        days = pandas.DatetimeIndex(DAYS)
    assert list(table.index) == list(days)
    if vendor == "yfinance":  # on the last day, the other share was not traded
        assert bars["MSFT"].table["open"].tolist() == [20, 20.5]


@vendors
def test_unconverted_it_is_refused_with_the_vendors_name(folder, vendor):
    name = next(iter(FILES[vendor]))
    with pytest.raises(UsageError) as refused:
        read_bars(folder / name)
    assert f"from {vendor}".lower() in str(refused.value).lower()
    assert '"The indicator training system"' in str(refused.value)
    if vendor == "binance":
        assert (
            f"all 12 columns, is missing; in a file from Binance they are {','.join(COLUMNS)},close_time"
            in (str(refused.value))
        )


def test_names_from_the_hint_fit_the_rows(tmp_path):
    """Whoever names all 12 columns is told next that the times are numbers."""
    text = FILES["binance"]["BTCUSDT-1m-2024-12.csv"]
    path = tmp_path / "BTCUSDT.csv"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_bars(path)
    names = str(refused.value).split("they are ")[1].split(":")[0]
    path.write_text(f"{names}\n{text}")
    with pytest.raises(UsageError, match="line 2 has no time from 1700 to 2200"):
        read_bars(path)


@pytest.mark.parametrize("renamed", [False, True])
def test_several_symbols_in_one_file(tmp_path, renamed):
    """Flat files of Polygon (now Massive) have all tickers of a day, one after the other."""
    time, times = ("timestamp", DAYS) if renamed else ("window_start", range(3))
    rows = [f"{ticker},100,10,11,12,9,{when},5" for ticker in ("A", "AA") for when in times]
    path = tmp_path / "2024.csv"
    path.write_text("\n".join([f"ticker,volume,open,close,high,low,{time},transactions", *rows]))
    with pytest.raises(UsageError, match="; its column ticker names 2 symbols: write one file for each"):
        read_bars(path)


@pytest.mark.parametrize(
    "columns", [{}, {"ticker": [["A"], ["B"]]}, {"ticker": ["A"] * 2, "Ticker": ["B"] * 2}]
)
def test_odd_columns_are_refused_like_others(tmp_path, columns):
    pandas.DataFrame(columns).to_parquet(tmp_path / "A.parquet")
    with pytest.raises(UsageError, match=r"needs one column timestamp|neither numbers nor texts"):
        read_bars(tmp_path / "A.parquet")


def test_symbol_may_change_in_an_ordered_file(tmp_path):
    """Bars of futures name another contract every few months."""
    path = tmp_path / "ES.csv"
    rows = [f"{day},{name},10,12,9,11,100" for day, name in zip(DAYS, ("ESZ4", "ESZ4", "ESH5"), strict=True)]
    path.write_text("\n".join(["timestamp,symbol,open,high,low,close,volume", *rows]))
    assert len(read_bars(path).table) == 3


def test_numbers_in_the_first_line_of_another_vendor(tmp_path):
    path = tmp_path / "A.csv"
    path.write_text("20240102,10,12,9,11,100\n20240103,10,12,9,11,100\n")
    with pytest.raises(
        UsageError, match="the names of all 6 columns, is missing; add it, with timestamp,open"
    ):
        read_bars(path)


@pytest.mark.parametrize("vendor", FILES)
def test_what_is_pasted_is_short(vendor):
    (section,), defects = parse_sections(PROGRAMS[vendor], ROOT)
    assert not defects
    assert len([line for line in section.text.splitlines() if line.strip()]) <= 12
    assert shape_defects(section.text) == ["imports pandas"]


def test_every_vendor_is_tested():
    assert PROGRAMS.keys() == FILES.keys()
