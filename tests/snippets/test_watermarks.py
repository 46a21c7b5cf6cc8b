"""The watermark variables are accepted and refused as PyTorch does it, with the cure in the message."""

import math

import pytest
import torch

from snippets.errors import UsageError, exit_with_one_line
from snippets.watermarks import HIGH, LOW, Watermarks, check_watermarks, main

MESSAGE = {  # high: the pair that the message recommends
    "1.0": "set both: PYTORCH_MPS_HIGH_WATERMARK_RATIO=1 PYTORCH_MPS_LOW_WATERMARK_RATIO=0.9",
    "0.7": "set both: PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7 PYTORCH_MPS_LOW_WATERMARK_RATIO=0.63",
    "1.39": "set both: PYTORCH_MPS_HIGH_WATERMARK_RATIO=1.39 PYTORCH_MPS_LOW_WATERMARK_RATIO=1.25",
}


@pytest.mark.parametrize(
    ("high", "low", "expected"),
    [
        (None, None, (1.7, 1.4)),
        ("1.4", None, (1.4, 1.4)),
        ("1.0", "0.9", (1.0, 0.9)),
        ("0.9", "0.9", (0.9, 0.9)),
        ("1.0", "0", (1.0, 0.0)),  # no soft limit
        ("0.0", None, (0.0, 1.4)),  # no hard limit
        ("0", "2.0", (0.0, 2.0)),
        ("2", None, (2.0, 1.4)),
        (None, "1.7", (1.7, 1.7)),
        (" 1.5", "1e0", (1.5, 1.0)),
    ],
)
def test_pairs_that_pytorch_accepts(high, low, expected):
    given = {name: value for name, value in ((HIGH, high), (LOW, low)) if value is not None}
    assert check_watermarks(given) == Watermarks(*expected)


@pytest.mark.parametrize("high", MESSAGE)
def test_lowering_high_alone_names_the_pair_to_set(high):
    with pytest.raises(UsageError) as caught:
        check_watermarks({HIGH: high})
    assert str(caught.value).startswith(f"{LOW}=1.4, its default, is not from 0 to {float(high):g}; ")
    assert str(caught.value).endswith(MESSAGE[high])
    pair = dict(part.split("=") for part in MESSAGE[high].removeprefix("set both: ").split())
    assert check_watermarks(pair).high == float(high)


@pytest.mark.parametrize(
    ("high", "low"),
    [
        *[("2.1", None), ("-0.1", None), ("nan", None), ("inf", None), (None, "1.8")],
        *[("1.0", "1.1"), ("1.0", "-0.1"), ("1.0", "nan"), ("0", "2.1")],
    ],
)
def test_pairs_that_pytorch_refuses(high, low):
    given = {name: value for name, value in ((HIGH, high), (LOW, low)) if value is not None}
    with pytest.raises(UsageError):
        check_watermarks(given)


@pytest.mark.parametrize("text", ["", "0,9", "90%", "off", "0.9GB"])
@pytest.mark.parametrize("name", [HIGH, LOW])
def test_what_pytorch_would_read_as_another_number_is_refused(name, text):
    """PyTorch uses strtod, which stops at the first strange character: "0,9" is 0, which means no limit."""
    with pytest.raises(UsageError, match="is not a number like"):
        check_watermarks({name: text})


def test_limits_in_bytes():
    assert Watermarks(1.7, 1.4).limits(1000) == (1700, 1400)
    assert Watermarks(0.0, 0.0).limits(1000) == (math.inf, math.inf)


@pytest.fixture
def without_mps(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for name in (HIGH, LOW):
        monkeypatch.delenv(name, raising=False)


def test_command_line(without_mps, monkeypatch, capsys):
    monkeypatch.setenv(HIGH, "1.0")
    monkeypatch.setenv(LOW, "0.9")
    assert exit_with_one_line(main, []) == 0
    expected = ["allocations fail beyond: ratio 1", "caches are emptied beyond: ratio 0.9"]
    assert capsys.readouterr().out.splitlines()[1:] == expected


def test_command_line_with_a_bad_pair(without_mps, monkeypatch, capsys):
    monkeypatch.setenv(HIGH, "1.0")
    assert exit_with_one_line(main, []) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert MESSAGE["1.0"] in printed.err


def test_output_on_a_mac(monkeypatch, capsys):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 16 * 2**30 * 2 // 3)
    monkeypatch.setenv(HIGH, "0")
    monkeypatch.setenv(LOW, "1.4")
    assert main([]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "Metal recommends at most 10.67 GiB for the GPU",
        "allocations fail beyond: inf GiB",
        "caches are emptied beyond: 14.93 GiB",
    ]
    assert "removes the limit" in printed.err


def test_the_command_takes_no_arguments():
    with pytest.raises(UsageError, match="takes no arguments"):
        main(["0.9"])
