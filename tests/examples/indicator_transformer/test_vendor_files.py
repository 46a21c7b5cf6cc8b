"""What vendors do to price files beyond their columns: signs, titles, names, failed downloads."""

import pytest

from examples.indicator_transformer.bars import read_data, sentences
from examples.indicator_transformer.price_files import symbol_of
from snippets.errors import UsageError

HEADER = "timestamp,open,high,low,close,volume"
CRSP = "PERMNO,date,TICKER,BIDLO,ASKHI,PRC,VOL,BID,ASK,OPENPRC"


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes files of this content into a folder, and returns that."""

    def write(**files):
        for name, lines in files.items():
            content = lines if isinstance(lines, bytes) else "\n".join(lines).encode()
            (tmp_path / name.replace("_csv", ".csv").replace("_txt", ".txt")).write_bytes(content)
        return tmp_path

    return write


def rows(*cells, first=2, start="2024-01-{:02}"):
    """Return a bar a day with these cells after the time."""
    return [start.format(first + day) + f",{text}" for day, text in enumerate(cells)]


def refusal(folder):
    """Return the error of a folder."""
    with pytest.raises(UsageError) as failure:
        read_data(folder)
    assert "\n" not in str(failure.value)
    return str(failure.value)


def test_dollars_commas_and_letters_of_volumes(folder):
    cells = ('"$1,234.50","$1,240",$1200.25,"$1,210.75",1.51B', '1234,1240,1200,1210,"0.5K"', "2,3,1,2,-")
    lines = ["Date,Open,High,Low,Price,Vol.", *rows(*cells, start="01/{:02}/2024", first=15)]
    (bars,) = read_data(folder(A_csv=lines))
    assert str(bars.table.index[0].date()) == "2024-01-15"
    assert bars.table.iloc[0].tolist() == [1234.5, 1240, 1200.25, 1210.75, 1.51e9]
    assert bars.table["volume"].tolist() == [1.51e9, 500, 0]
    assert sentences(bars.notes) == [
        "the close is the column Price",
        "rows with an empty volume, which counts as 0: 1",
        "dates are read as month/day/year",
    ]


def test_a_decimal_comma_is_no_thousands_comma(folder):
    cells = '"140,853","140,900","140,800","140,870",7'
    text = refusal(folder(A_csv=[HEADER, *rows(cells, cells)]))
    assert "line 2: open is 140,853, not a finite number" in text


def test_permno_keeps_one_share_whose_ticker_changed(folder):
    days = ["7,2024-01-02,FB,9,12,11,5,1,2,10", "7,2024-01-03,META,9,12,11,5,1,2,10"]
    untraded = "7,2024-01-04,META,9,12,-10.5,0,10,11,"
    (bars,) = read_data(folder(A_csv=[CRSP, *days, untraded, "7,2024-01-05,META,9,12,11,5,1,2,10"]))
    assert (bars.symbol, len(bars.table)) == ("7", 3)
    assert bars.table.iloc[1].tolist() == [10, 12, 9, 11, 5]
    assert sentences(bars.notes) == [
        "symbols are PERMNO, which stays when a share gets another ticker",
        "days dropped, without trade: their PRC below 0 is CRSP's average of bid and ask: 1",
    ]


def test_a_negative_close_of_others_is_an_error(folder):
    cells = "2,3,1,2,5", "2,3,1,-2,5"
    assert "line 3 has a price that is not above zero" in refusal(folder(A_csv=[HEADER, *rows(*cells)]))


def test_kraken_has_seven_columns_without_header(folder):
    (bars,) = read_data(folder(X_60_csv=[f"{1717200000 + 3600 * i},2,4,1,3,7,99" for i in range(3)]))
    assert bars.table.iloc[0].tolist() == [2, 4, 1, 3, 7]
    assert str(bars.interval) == "0 days 01:00:00"


def test_intervals_are_compared_before_gaps_are_counted(folder):
    hours = [f"{1717200000 + 3600 * i},2,4,1,3,7" for i in (0, 1, 2, 7, 8)]
    days = [f"{1717200000 + 86400 * i},2,4,1,3,7" for i in range(3)]
    path = folder(A_csv=hours, B_csv=days)
    assert "mixes intervals: A has a bar every 1 hour, B every 1 day" in refusal(path)
    (path / "B.csv").unlink()
    assert "4 bars are missing, 44.44% of all; fill the gaps" in refusal(path)


def test_chinese_names_in_gbk_are_read(folder):
    lines = [
        "600519 示例 日线",
        "日期,开盘,最高,最低,收盘,成交量",
        *rows(*["2,4,1,3,7"] * 3, start="2024/01/{:02}"),
    ]
    path = folder(**{"SH#600519_txt": "\r\n".join([*lines, "#数据来源"]).encode("gb18030")})
    (bars,) = read_data(path)
    assert (bars.symbol, len(bars.table)) == ("600519.SH", 3)
    assert sentences(bars.notes)[:4] == [
        "text is read as GB18030",
        "lines left out, above or below the table: 2",
        "line left out: 600519 示例 日线",
        "line left out: #数据来源",
    ]


def test_other_encodings_are_not_guessed(folder):
    text = refusal(folder(A_csv="Café,Zürich\n1,2\n".encode("latin-1")))
    assert "it is no UTF-8 text" in text


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("BTCUSDT-1m-2024-01.zip", "BTCUSDT"),
        ("DAT_ASCII_EURUSD_M1_202401.csv", "EURUSD"),
        ("EURUSD_Candlestick_1_Hour_BID_01.01.2024-26.10.2024.csv", "EURUSD"),
        ("SZ#000001.txt", "000001.SZ"),
        ("XBTUSD_1440.csv", "XBTUSD_1440"),  # another interval is another series
        ("acme.us.txt", "acme.us"),
    ],
)
def test_symbols_in_names_of_files(tmp_path, name, symbol):
    assert symbol_of(tmp_path / name) == symbol


def test_months_of_histdata_become_one_series(folder):
    first, second = ([f"202401{day:02} 170000;1;1;1;1;0" for day in days] for days in ((2, 3), (4, 5)))
    path = folder(
        DAT_ASCII_X_M1_202401_csv=first,
        DAT_ASCII_X_M1_202401_txt=["HistData.com", "Status Report"],
        DAT_ASCII_X_M1_202402_csv=second,
    )
    (bars,) = read_data(path)
    assert (bars.symbol, len(bars.table)) == ("X", 4)
    told = sentences(bars.notes)
    assert "text files left out, which hold no bars and are called like another file: 1" in told
    assert "bars kept, in which nothing moved: the volume is 0, and all prices are the same: 4" in told


def test_all_refused_files_of_a_folder_are_named(folder):
    path = folder(
        A_csv=[HEADER, *rows("2,3,1,2,5", "2,3,1,2,5")],
        B_csv=["<!DOCTYPE html>"],
        C_csv=['{"detail":"Error: over your limit"}'],
        D_csv=["Symbol,Shares", "A,120"],
        E_csv=[],
    )
    text = refusal(path)
    for words in ("has 4 files that are refused", "B.csv: it is a web page", "C.csv: it is JSON"):
        assert words in text
    assert "D.csv has no column for the time" in text and text.endswith("E.csv is empty")


def test_times_that_excel_has_rounded_are_shown(folder):
    text = refusal(folder(A_csv=[HEADER, "1.70421E+09,2,3,1,2,5", "1.70421E+09,2,3,1,2,5"]))
    assert "line 2 has no time from 1700 to 2200 but '1.70421E+09'; Excel has rounded the times" in text


def test_the_time_column_is_named_if_there_are_several(folder):
    lines = ["Unix,Date,Open,High,Low,Close,Volume ETH,Volume USD"]
    lines += ["1704153600,2024-01-02,2,3,1,2,5,9", "1704240000000,2024-01-03,2,3,1,2,5,9"]
    (bars,) = read_data(folder(A_csv=lines))
    assert bars.table["volume"].tolist() == [5, 5]
    assert sentences(bars.notes) == ["the time is the column Date", "the volume is the column Volume ETH"]
