"""The check of price files: what it prints, and how it ends."""

import pandas
import pytest

from examples.indicator_transformer import check_data
from examples.indicator_transformer.bars import load_goog
from snippets.errors import UsageError


@pytest.fixture
def goog(tmp_path):
    """Return Google's days in Yahoo's form, of which two rows are empty."""
    table = load_goog().table.rename(columns=str.title).rename_axis("Date")
    table.insert(4, "Adj Close", table["Close"])
    table.iloc[[5, 6]] = float("nan")
    table.to_csv(tmp_path / "GOOG.csv")
    return tmp_path / "GOOG.csv"


def test_the_report_of_real_days(goog, capsys):
    assert check_data.main([str(goog)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "data       1,045 bars of 1 symbol, every 1 day"
    assert lines[1].endswith("2008-10-14 00:00:00; times are as in the file, which names no time zone")
    assert lines[2].strip().startswith("the adjusted close is ignored: a split or a dividend in these prices")
    assert lines[3].strip() == "rows dropped, in which prices are missing: 2"
    assert lines[5].split() == ["GOOG", "1,045", "95.96", "747.24", "+19.99%", "at", "2008-04-18", "00:00:00"]
    assert lines[6].endswith("open 100, high 104.06, low 95.96, close 100.34, volume 22351900")
    assert lines[7].startswith("samples    305 with the defaults of train.py; the first one takes 741 bars")


def test_a_split_is_hinted_at(tmp_path):
    days = pandas.date_range("2024-01-01", periods=4)
    prices = [100.0, 101, 50, 51]
    table = pandas.DataFrame(dict.fromkeys(("open", "high", "low", "close"), prices) | {"volume": 1}, days)
    table.to_csv(tmp_path / "ACME.csv", index_label="date")
    text = "\n".join(check_data.lines(check_data.read_data(tmp_path)))
    assert "-50.50% at 2024-01-03 00:00:00: a split?" in text


def test_data_is_an_option_as_in_training(goog, capsys):
    assert check_data.main(["--data", str(goog)]) == 0
    assert capsys.readouterr().out.startswith("data       1,045 bars")
    for words in ([], [str(goog), "--data", str(goog)]):
        with pytest.raises(UsageError, match="name one file or folder of prices"):
            check_data.main(words)


def test_data_that_training_refuses_are_refused(tmp_path):
    (tmp_path / "A.csv").write_text("nothing,here\n1,2\n")
    with pytest.raises(UsageError, match="has no column for the time, the open"):
        check_data.main([str(tmp_path)])
