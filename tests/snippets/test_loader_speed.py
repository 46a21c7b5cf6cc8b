"""The measurement of loaders: what counts, what does not, and what the command prints."""

import time

import pytest

from snippets import loader_speed
from snippets.loader_speed import BusySamples, main, seconds_per_batch, seconds_per_step, seconds_to_first


@pytest.fixture
def clock(monkeypatch):
    """Return a list whose one number is the time that `loader_speed` reads."""
    now = [100.0]
    monkeypatch.setattr(loader_speed.time, "perf_counter", lambda: now[0])
    return now


def taking(clock, *seconds):
    """Yield a batch after each of these durations."""
    for duration in seconds:
        clock[0] += duration
        yield duration


def test_the_first_batch_counts_apart(clock):
    assert seconds_to_first(taking(clock, 2.5, 1.0)) == 2.5


def test_batches_that_lay_ready_do_not_count(clock):
    batches = taking(clock, 9.0, 9.0, 0.0, 2.0, 1.0, 50.0)
    assert seconds_per_batch(batches, prepared=2, count=3) == 1.0


@pytest.mark.parametrize(("workers", "expected"), [(0, 5.0), (1, 3.0), (4, 3.0)])
def test_workers_load_while_the_step_computes(workers, expected):
    assert seconds_per_step(2.0, 3.0, workers) == seconds_per_step(3.0, 2.0, workers) == expected


def test_samples_cost_cpu_time():
    start = time.thread_time()
    assert BusySamples(3, milliseconds=5)[2].tolist() == [2]
    assert time.thread_time() - start >= 0.005


def test_the_command_prints_a_line_per_number_of_workers(capsys):
    assert main(["0", "0", "--milliseconds", "0"]) == 0
    head, columns, *lines = capsys.readouterr().out.splitlines()
    assert head.endswith("0 ms of work per sample")
    assert columns.split() == ["workers", "first", "batch", "after", "that"]
    assert len(lines) == 2
    for line in lines:
        workers, first, unit, speed, unit_of_speed = line.split()
        assert (workers, unit, unit_of_speed) == ("0", "s", "samples/s")
        assert float(first) >= 0
        assert float(speed) > 100  # nothing to compute


@pytest.mark.parametrize("words", [["-1"], ["two"], ["--milliseconds", "-1"]])
def test_mistakes_in_the_command_are_named(words, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert words[-1] in capsys.readouterr().err.splitlines()[-1]
