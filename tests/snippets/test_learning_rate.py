"""The factors of a schedule, at points that can be worked out by hand."""

import pytest

from snippets.learning_rate import cosine, warm_up


def test_warming_up_rises_evenly_and_stays():
    assert [warm_up(step, 3) for step in range(5)] == [0.25, 0.5, 0.75, 1, 1]
    assert warm_up(0, 0) == 1


@pytest.mark.parametrize("least", [0.0, 0.1])
def test_half_a_cosine_falls_to_the_least_and_stays(least):
    middle = (1 + least) / 2
    assert [cosine(step, 4, least) for step in (0, 2, 4, 9)] == pytest.approx([1, middle, least, least])
    assert cosine(1, 3, least) == pytest.approx(least + (1 - least) * 0.75)  # the cosine of 60° is a half
