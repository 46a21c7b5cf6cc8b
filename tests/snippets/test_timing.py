"""Timing, on a simulated clock: a device that computes while the program goes on, and one that does not."""

import random
import re

import pytest
import torch

from snippets import timing
from snippets.device import synchronize
from snippets.errors import exit_with_one_line
from snippets.timing import compare, measure, spread, time_without_waiting

MPS, CPU = torch.device("mps"), torch.device("cpu")
HAND_OVER = 0.001  # seconds that the program needs to give the device some work


class Clock:
    """Simulated time, with a device that works through a queue."""

    def __init__(self):
        self.now = self.device_idle_at = 0.0
        self.calls = []

    def read(self):
        return self.now

    def give(self, seconds, name=""):
        """Give the device work of `seconds`; returns when it has been handed over."""
        self.calls.append(name)
        self.now += HAND_OVER
        self.device_idle_at = max(self.now, self.device_idle_at) + seconds

    def wait(self):
        self.now = max(self.now, self.device_idle_at)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing.time, "perf_counter", clock.read)
    monkeypatch.setattr(torch.mps, "synchronize", clock.wait)
    return clock


def test_each_device_is_waited_for_in_its_own_way(monkeypatch):
    waited = []
    monkeypatch.setattr(torch.mps, "synchronize", lambda: waited.append("mps"))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: waited.append(str(device)))
    for name in ("cpu", "mps", "cuda:1"):
        synchronize(torch.device(name))
    assert waited == ["mps", "cuda:1"]


def test_quantiles_of_known_values():
    values = [float(value) for value in range(101)]
    random.Random(0).shuffle(values)
    found = spread(values)
    assert (found.median, found.low, found.high, found.count) == (50.0, 10.0, 90.0, 101)
    assert spread([1.0, 2.0]).low == pytest.approx(1.1)
    assert spread([3.0]) == timing.Spread(3.0, 3.0, 3.0, 1)


def test_waiting_gives_the_time_of_the_work(clock):
    seconds = measure(lambda: clock.give(0.5), MPS, warm_up=2, repeats=5)
    assert seconds == pytest.approx([0.5 + HAND_OVER] * 5)


def test_without_waiting_only_the_hand_over_is_timed(clock):
    seconds = time_without_waiting(lambda: clock.give(0.5), repeats=5)
    assert seconds == pytest.approx([HAND_OVER] * 5)
    assert clock.device_idle_at == pytest.approx(5 * 0.5 + HAND_OVER)  # the device has hardly begun


def test_the_first_calls_do_not_count(clock):
    costs = iter([9.0, 9.0, 9.0, 0.5, 0.5])
    assert measure(lambda: clock.give(next(costs)), MPS, warm_up=3, repeats=2) == pytest.approx(
        [0.5 + HAND_OVER] * 2
    )
    assert next(costs, None) is None


def test_queued_warm_up_is_not_timed(clock):
    costs = iter([9.0, 0.5])
    assert measure(lambda: clock.give(next(costs)), MPS, warm_up=1, repeats=1) == pytest.approx(
        [0.5 + HAND_OVER]
    )


def test_a_comparison_alternates_and_pairs(clock):
    found = compare(
        lambda: clock.give(0.2 - HAND_OVER, "a"),
        lambda: clock.give(0.3 - HAND_OVER, "b"),
        MPS,
        warm_up=1,
        pairs=4,
    )
    assert "".join(clock.calls) == "ab" + "abba" * 2
    assert (found.first.median, found.second.median) == pytest.approx((0.2, 0.3))
    assert found.ratio.median == pytest.approx(1.5)
    assert found.ratio.count == 4


def test_pairs_see_through_a_machine_that_becomes_slower(clock):
    """Over the run everything becomes four times as slow; the medians move, the ratios of pairs hardly do."""

    def work(share):
        return lambda: clock.give(share * (1 + clock.now / 30) - HAND_OVER)

    found = compare(work(1.0), work(1.1), MPS, warm_up=0, pairs=20)
    assert found.first.high > 2.5 * found.first.low
    assert found.ratio.median == pytest.approx(1.1, rel=0.005)


def test_on_the_cpu_both_ways_agree(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])

    def work():
        now[0] += 0.25

    assert measure(work, CPU, warm_up=1, repeats=3) == time_without_waiting(work, repeats=3) == [0.25] * 3


def test_the_command_prints_both(monkeypatch, capsys):
    monkeypatch.setattr(timing, "CPU_SIZE", 64)
    assert timing.main(["cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "64 × 64 matrices, float32, on cpu (as requested)"
    found = [
        re.fullmatch(r"(not )?waiting +([\d.]+) ms \([\d.]+ to [\d.]+\) +([\d.]+) TFLOPS", line)
        for line in lines[2:]
    ]
    assert len(found) == 2 and all(found)


def test_two_devices_are_an_error(capsys):
    assert exit_with_one_line(timing.main, ["cpu", "mps"]) == 2
    assert capsys.readouterr().err == "error: expected at most one device, got 'cpu mps'\n"


def test_a_rate_follows_from_the_time():
    assert timing.describe("waiting", spread([0.001]), 1000).split()[-2:] == ["2.00", "TFLOPS"]
