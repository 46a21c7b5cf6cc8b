"""Whether something was learned: against series whose answer is known."""

import numpy
import pandas
import pytest
import torch

from examples.indicator_transformer.learned import (
    Clock,
    difference,
    frequencies,
    sentences,
    stretch_days,
    what_was_learned,
)
from examples.indicator_transformer.samples import Samples

DAY = 86_400_000_000


def test_the_error_of_independent_days_is_the_usual_one():
    values = torch.tensor([1.0, -1.0, 3.0, 0.0, 2.0, 5.0, -2.0, 1.0, 0.0, 4.0])
    found = difference(values, Clock(numpy.arange(10) * DAY, 1))
    assert found.mean == pytest.approx(1.3)
    assert found.standard_error == pytest.approx(float(values.double().std() / 10**0.5))


def test_repeated_samples_of_a_day_add_no_certainty():
    values = torch.tensor([1.0, -1.0, 3.0, 0.0, 2.0, 5.0, -2.0, 1.0, 0.0, 4.0])
    alone = difference(values, Clock(numpy.arange(10) * DAY, 1))
    often = difference(values.repeat_interleave(7), Clock(numpy.arange(10).repeat(7) * DAY + 5, 1))
    assert often.standard_error == pytest.approx(alone.standard_error)
    assert (often.stretches, alone.stretches) == (10, 10)


def test_overlapping_samples_are_not_overrated():
    """Moving means of noise: the true error is known, and an error by sample is far too small."""
    random = numpy.random.default_rng(0)
    hits = 0
    for _ in range(200):
        noise = random.standard_normal(2000)
        means = torch.from_numpy(numpy.convolve(noise, numpy.ones(20) / 20, "valid"))
        found = difference(means, Clock(numpy.arange(len(means)) * DAY, 40))
        hits += abs(found.mean) < 2 * found.standard_error
    assert 180 <= hits <= 198  # about 95 %; by sample it would be 35 %


def test_few_stretches_give_no_error():
    found = difference(torch.zeros(9), Clock(numpy.arange(9) * DAY, 1))
    assert (found.standard_error, found.stretches) == (None, 9)


def test_a_stretch_is_as_long_as_the_horizon():
    days = pandas.bdate_range("2024-01-01", periods=300)
    assert stretch_days(days, 20) == 28
    assert stretch_days(pandas.date_range("2024-01-01", periods=300, freq="min"), 20) == 1


def made(rights):
    """Return samples of one indicator that calls up, and where it is right."""
    rights = torch.tensor(rights)
    count, one = len(rights), torch.ones(len(rights), 1)
    useful = (rights > 0).float().unsqueeze(1)
    return Samples(one, one, useful, rights.float().unsqueeze(1), one, torch.arange(count))


def test_sentences_for_better_worse_and_neither():
    samples = made([1.0, -1.0] * 20)
    clock = Clock(numpy.arange(40) * DAY, 1)
    oracle = torch.where(samples.indicator_usefulness > 0, 4.0, -4.0)
    for logits, word in ((oracle, "better than"), (-oracle, "worse than"), (0 * oracle, "no better than")):
        learned = what_was_learned(logits, torch.ones(40, 1), samples, clock, frequencies(samples))
        text = list(sentences(learned))
        assert text[0].startswith(f"BCE: {word} the calls alone: difference ")
        assert text[1].startswith(f"BCE: {word} constant frequencies: difference ")
        assert text[0].endswith(", by 40 stretches of a day")
    assert len(text) == 2  # nothing was selected, so there is no direction


def test_direction_is_compared_with_the_usual_one():
    samples = made([1.0, -1.0, 1.0] * 10)
    logits = torch.full((30, 1), 4.0)  # always follows the call, which is up
    for rises, name, mean in ((True, "always up", "+0.00%"), (False, "always down", "+33.33%")):
        learned = what_was_learned(
            logits, torch.ones(30, 1), samples, Clock(numpy.arange(30) * DAY, 1, rises), None
        )
        assert list(sentences(learned))[1].split(" difference ")[1].startswith(mean)
        assert name in list(sentences(learned))[1]
