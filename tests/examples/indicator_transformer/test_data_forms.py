"""Each form of price files that the page lists is read as it is, or refused in the words of its entry."""

from pathlib import Path

import pandas
import pytest

from examples.indicator_transformer.bars import read_data, sentences
from snippets.errors import UsageError
from tests.examples.indicator_transformer import data_forms
from tools.read_yaml import read_yaml

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/data/data_forms/indicator_transformer.yaml"
FORMS = {form["name"]["en"]: form for form in read_yaml(DOCUMENT)}
DAY, NOON = "2024-01-02 00:00", "2024-01-02 14:30"
HEADLESS = "it has no header: its columns are read as time, open, high, low, close, volume"
DROPPED = "rows dropped, in which prices are missing: 1"
TURNED = "series turned round, which have the newest bar first: 1"
SECOND_DAY = ["2024-01-02 14:30", "2024-01-02 14:31", "2024-01-03 14:30"]

# name: symbols, first time in UTC, frequency (or all times), and what is told
EXPECTED = {
    "Columns of this handbook": (["ACME"], NOON, "min", []),
    "Yahoo Finance, downloaded history": (
        ["ACME"],
        ["2024-01-02", "2024-01-03", "2024-01-05"],
        None,
        ["the adjusted close is ignored: a split or a dividend in these prices looks like a move", DROPPED],
    ),
    "yfinance `download`, one share": (["ACME"], DAY, "D", []),
    "yfinance `download`, several shares": (["ACME", "EMCA"], None, None, [DROPPED]),
    "yfinance `Ticker.history`": (["ACME"], "2024-01-02 05:00", "D", []),
    "Stooq, one symbol": (["acme_us_d"], DAY, "D", []),
    "Stooq, bulk `.txt`": (["ACME.US"], "2024-01-02 15:30", "5min", []),
    "Binance klines until 2024": (
        ["ACMEUSDT"], NOON, "min", [HEADLESS, "times are read as Unix milliseconds"],
    ),
    "Binance klines since 2025, `.zip` as downloaded": (
        ["ACMEUSDT"], "2025-01-31 23:59", "min", [HEADLESS, "times are read as Unix microseconds"],
    ),
    "Kaggle: Huge Stock Market Dataset": (["acme.us"], DAY, "D", []),
    "Kaggle: S&P 500, `all_stocks_5yr.csv`": (["ACME", "EMCA"], DAY, "D", []),
    "Kaggle: Bitcoin by the minute": (
        ["btcusd"], NOON, "min",
        ["the volume is the column Volume_(BTC)", DROPPED, "times are read as Unix seconds"],
    ),
    "AKShare `stock_zh_a_hist`": (["000001"], DAY, "D", []),
    "AKShare `stock_zh_a_hist_min_em`": (["sz000001"], "2024-01-02 09:31", "min", []),
    "AKShare `stock_zh_a_minute`": (["sh600519"], "2024-01-02 09:31", "min", []),
    "Tushare `daily`": (["000001.SZ"], DAY, "D", [TURNED]),
    "BaoStock, minutes": (["sh.600000"], "2024-01-02 09:35", "5min", []),
    "Alpaca, CSV of a data frame": (["ACME"], NOON, "min", []),
    "Alpaca, bars as JSON lines": (["ACME"], NOON, "min", []),
    "Polygon (Massive) flat files, `.csv.gz`": (
        ["ACME", "EMCA"], SECOND_DAY, None, ["times are read as Unix nanoseconds"],
    ),
    "MetaTrader 5, exported bars": (["EURUSD_M1"], NOON, "min", ["the volume is the column <TICKVOL>"]),
    "FirstRate Data": (["ACME_1min"], "2024-01-02 09:30", "min", [HEADLESS]),
    "Kibot, minutes": (["ACME"], "2024-01-31 09:30", "min", None),
    "HistData, generic ASCII": (["EURUSD"], NOON, "min", [HEADLESS]),
    "nasdaq.com, historical data": (
        ["HistoricalData_1"], "2024-01-15", "D", ["dates are read as month/day/year", TURNED],
    ),
    "Investing.com, historical data": (
        ["ACME Historical Data"], "2024-01-15", "D",
        ["the close is the column Price", TURNED],
    ),
    "CryptoDataDownload": (
        ["ACMEUSDT"], NOON, "h",
        [
            "the time is the column Date", "the volume is the column Volume ACME",
            "lines left out, above or below the table: 1",
            "line left out: https://www.CryptoDataDownload.com", TURNED,
        ],
    ),
    "Kraken, OHLCVT": (
        ["ACMEUSD_1"], NOON, "min", [f"{HEADLESS}, number of trades", "times are read as Unix seconds"],
    ),
    "CRSP daily stock file from WRDS": (
        ["10001"], ["2024-01-02", "2024-01-03", "2024-01-05"], None,
        [
            "symbols are PERMNO, which stays when a share gets another ticker",
            "days dropped, without trade: their PRC below 0 is CRSP's average of bid and ask: 1",
        ],
    ),
    "TDX, exported `.txt` in GBK": (
        ["600519.SH"], DAY, "D",
        [
            "text is read as GB18030", "lines left out, above or below the table: 2",
            "line left out: 600519 示例 日线 前复权", "line left out: #数据来源:通达信",
        ],
    ),
}  # fmt: skip
READ = [name for name, form in FORMS.items() if form["result"] == "read"]


def write_files(name, folder):
    """Write the files of a form."""
    form = FORMS[name]
    if "made_by" in form:
        getattr(data_forms, form["made_by"])(folder)
    for file, text in form.get("files", {}).items():
        (folder / file).write_text(text)


def test_all_forms_are_expected():
    assert list(EXPECTED) == READ


@pytest.mark.parametrize("name", READ)
def test_a_form_is_read_as_it_is(name, tmp_path):
    write_files(name, tmp_path)
    symbols, first, frequency, told = EXPECTED[name]
    all_bars = read_data(tmp_path)
    assert [bars.symbol for bars in all_bars] == symbols
    for bars in all_bars:
        expected = [[10 + i, 12 + i, 9 + i, 11 + i, 100 + i] for i in range(3)]
        assert bars.table.to_numpy().tolist() == expected
        if first is not None:
            times = first if frequency is None else pandas.date_range(first, periods=3, freq=frequency)
            assert list(bars.table.index) == list(pandas.DatetimeIndex(times))
    if told is not None:
        assert sentences(all_bars[0].notes) == told
    if len(list(tmp_path.iterdir())) == 1:  # the file itself is read, too
        path = next(tmp_path.iterdir())
        assert [bars.symbol for bars in read_data(path)] == symbols


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form["result"] == "refused"])
def test_a_form_is_refused_in_its_words(name, tmp_path):
    write_files(name, tmp_path)
    with pytest.raises(UsageError) as failure:
        read_data(tmp_path)
    assert FORMS[name]["message"] in str(failure.value)
    assert "\n" not in str(failure.value)


def test_the_clock_of_the_exchange_is_kept(tmp_path):
    write_files("yfinance `Ticker.history`", tmp_path)
    (bars,) = read_data(tmp_path)
    assert bars.clock == "by the clock of the file"
    assert list(bars.shown.strftime("%d %H:%M")) == ["02 00:00", "03 00:00", "04 00:00"]


def test_days_first_and_slashes_and_dots(tmp_path):
    written = ("31/01/2024", "01/02/2024"), ("31.1.2024", "1.2.2024"), ("2024/1/31", "2024/2/1")
    for number, dates in enumerate(written):
        path = tmp_path / f"{number}.csv"
        path.write_text("Date,Open,High,Low,Close,Volume\n" + "".join(f"{day},1,1,1,1,1\n" for day in dates))
        assert list(read_data(path)[0].table.index.strftime("%m-%d")) == ["01-31", "02-01"]
