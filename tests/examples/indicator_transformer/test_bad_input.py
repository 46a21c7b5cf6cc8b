"""Mistakes with the options and files of this system: one line, exit code 2, and nothing written."""

import pytest

from examples.indicator_transformer.generated_bars import generate_market
from tests.examples.program_runs import assert_refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--indicators 50", "--indicators: invalid choice: 50 (choose from 24, 111)"),
        ("--indicators all", "--indicators: invalid int value: 'all'"),
        ("--size tiny", "'tiny' (choose from"),
        ("--optimizer adam", "unknown option '--optimizer'; options: --help --device"),
        ("--bars 1999", "--bars: must be a whole number from 2000 to 100000000, not '1999'"),
        ("--bars many", "--bars: must be a whole number"),
        ("--horizon 0", "--horizon: must be a whole number from 1 to 10000, not '0'"),
        ("--horizon 61", "--horizon 61: generated bars know their future for 60 bars at most"),
        ("--horizon 100 --bars 3000", "--horizon 100: generated bars know their future for 60 bars at most"),
        ("--stride 0", "--stride: must be a whole number from 1"),
        (
            "--bars 3000 --stride 10000",
            "too few bars: 800,020 needed for 64 training samples with --stride 10000, 3,000 in generated",
        ),
        ("--val-split 0", "--val-split: must be a number above 0 and below 1, not '0'"),
        ("--val-split 1", "--val-split: must be a number above 0 and below 1"),
        (
            "--bars 3000 --val-split 0.99",
            "needed for 64 training samples with --stride 60, 3,000 in generated",
        ),
        ("--max-missing 2", "--max-missing: must be a number from 0 to 1"),
        (
            "--bars 3000 --stride 10 --batch-size 500",
            "7,140 needed for 500 training samples with --stride 10, 3,000 in",
        ),
        ("--bars 3000 --stride 10 --accumulate 3", "needed for 192 training samples with --stride 10"),
        (f"--data {__file__}", "test_bad_input.py: .py is no table here; it takes .csv, .tsv, .txt"),
        ("--data nowhere", "--data nowhere: neither bars nor goog nor table nor an existing file or folder"),
        ("--rows 99", "--rows: must be a whole number from 100 to 10000000, not '99'"),
        (
            "--data table --rows 100 --accumulate 2",
            "--batch-size 64 × --accumulate 2: there are only 80 training samples; use more --rows",
        ),
        ("--data .", "has no file of bars; it needs one like SYMBOL.csv"),
        (
            "--data goog --horizon 400",
            "1,047 in Google, daily, sample data of Matplotlib; use more bars or smaller batches",
        ),
    ],
)
def test_one_line_and_nothing_written(run_train, tmp_path, words, message):
    assert_refused(run_train(*words.split()), message)
    assert list(tmp_path.iterdir()) == []


def test_a_short_file_of_bars(run_train, tmp_path):
    (tmp_path / "bars").mkdir()
    generate_market(600).bars.table.to_csv(tmp_path / "bars" / "ONE.csv")
    needed = "too few bars: 5,660 needed for 64 training samples with --stride 60, 600 in "
    assert_refused(run_train("--data", "bars/"), needed)
    generate_market(700).bars.table.to_csv(tmp_path / "bars" / "TWO.csv")
    several = "with --stride 60, the first sample needs 800, and there are 600 of "
    assert_refused(run_train("--data", "bars/"), several)
    generate_market(3000).bars.table.to_csv(tmp_path / "bars" / "TWO.csv")
    assert_refused(run_train("--data", "bars/"), "--stride 60, 3,000 in ")
    assert [path.name for path in tmp_path.iterdir()] == ["bars"]


def test_daily_bars_need_a_smaller_stride(run_train):
    run = run_train("--data", "goog", "--stride", 60)
    assert_refused(run, "sample data of Matplotlib; use more bars, a smaller --stride or smaller batches")


def test_symbols_that_together_have_too_few_samples(run_train, tmp_path):
    (tmp_path / "market").mkdir()
    for name in ("ONE", "TWO"):
        generate_market(2000).bars.table.to_csv(tmp_path / "market" / f"{name}.csv")
    few = "--batch-size 64: there are only 30 training samples; use more bars, a smaller --stride or smaller"
    assert_refused(run_train("--data", "market"), few)


@pytest.mark.parametrize("words", [("--data", "x" * 300), ("--resume", "x" * 300), ("--out", "x" * 300)])
def test_a_path_that_the_system_refuses(run_train, words):
    run = run_train(*words)
    assert (run.code, run.err) == (1, f"error: {'x' * 300}: File name too long\n")


def test_a_damaged_file_of_bars_names_its_line(run_train, tmp_path):
    (tmp_path / "market").mkdir()
    table = generate_market(600).bars.table
    table.iloc[41, 1] = -1.0
    table.to_csv(tmp_path / "market" / "ONE.csv")
    assert_refused(run_train("--data", "market"), "market/ONE.csv, line 43")
