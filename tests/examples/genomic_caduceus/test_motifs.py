"""Sequences with a motif: the likelihood ratio against all placements, and the accuracies that are known."""

import itertools
import math

import numpy
import pytest
import torch

from examples.genomic_caduceus.generated_sequences import (
    Motif,
    best_possible,
    generate,
    log_likelihood_ratio,
    motif_data,
)


def random():
    return numpy.random.default_rng(0)


def soft_motif(places):
    """Return a motif with any probabilities."""
    table = random().random((places, 4)) + 0.05
    return Motif(table / table.sum(1, keepdims=True))


def all_sequences(length):
    """Return every sequence of a length, (4 ** length, length)."""
    return numpy.array(list(itertools.product(range(4), repeat=length)))


def probability(sequence, motif):
    """Return P(sequence | motif): every place on either strand is equally likely, other bases are even."""
    length, places = len(sequence), len(motif.table)
    total = 0.0
    for strand in (0, 1):
        for start in range(length - places + 1):
            chance = 1.0
            for place in range(length):
                within = place - start
                if not 0 <= within < places:
                    chance *= 1 / 4
                elif strand == 0:
                    chance *= motif.table[within, sequence[place]]
                else:  # the other strand is read from its end, and there stands the partner
                    chance *= motif.table[places - 1 - within, 3 - sequence[place]]
            total += chance / (2 * (length - places + 1))
    return total


@pytest.mark.parametrize(("length", "places"), [(5, 3), (4, 4), (3, 1)])
def test_the_ratio_equals_brute_force_over_all_placements(length, places):
    motif, sequences = soft_motif(places), all_sequences(length)
    chances = [probability(sequence, motif) for sequence in sequences]
    assert sum(chances) == pytest.approx(1)
    expected = [math.log(chance * 4**length) for chance in chances]
    numpy.testing.assert_allclose(log_likelihood_ratio(sequences, motif), expected, atol=1e-12)


def test_the_ratio_is_that_of_the_other_strand():
    motif = Motif.drawn(6, 0.05, random())
    sequences, _ = generate(200, 20, motif, random())
    other = 3 - sequences[:, ::-1]
    ratio = log_likelihood_ratio(sequences, motif)
    numpy.testing.assert_allclose(log_likelihood_ratio(other, motif), ratio, atol=1e-12)
    assert ratio.std() > 1


def test_sequences_come_as_often_as_the_probabilities_say():
    """Of all 64 of three bases; within five standard deviations."""
    motif = soft_motif(2)
    sequences, classes = generate(40_000, 3, motif, random())
    assert classes.mean() == pytest.approx(0.5, abs=0.02)
    numbers = sequences @ [16, 4, 1]
    for kind, chances in (
        (0, [1 / 64] * 64),
        (1, [probability(sequence, motif) for sequence in all_sequences(3)]),
    ):
        counts = numpy.bincount(numbers[classes == kind], minlength=64)
        expected = counts.sum() * numpy.array(chances)
        assert (abs(counts - expected) < 5 * numpy.sqrt(expected)).all()


def test_a_drawn_motif_has_one_base_per_place():
    motif = Motif.drawn(1000, 0.06, random())
    assert motif.table.sum(1) == pytest.approx(1)
    assert set(motif.table.max(1).round(6)) == {0.94} and set(motif.table.min(1).round(6)) == {0.02}
    assert numpy.bincount(motif.table.argmax(1)).min() > 200
    assert numpy.array_equal(motif.other_strand().other_strand().table, motif.table)


@pytest.mark.parametrize(
    ("length", "places", "error", "accuracy", "loss"),
    [
        (64, 8, 0.05, (0.94, 0.967), (0.12, 0.18)),  # 0.946 to 0.960 and 0.128 to 0.166, by the motif drawn
        (64, 12, 0.05, (0.98, 0.996), (0.02, 0.045)),  # 0.988, 0.032
        (200, 12, 0.05, (0.974, 0.99), (0.045, 0.08)),  # 0.982, 0.061
        (128, 10, 0.02, (0.98, 0.996), (0.027, 0.055)),  # 0.989, 0.040
    ],
)
def test_the_best_possible_is_what_is_known(length, places, error, accuracy, loss):
    chance = random()
    motif = Motif.drawn(places, error, chance)
    found = best_possible(*generate(4000, length, motif, chance), motif)
    assert accuracy[0] < found[0] < accuracy[1]
    assert loss[0] < found[1] < loss[1]


def test_nobody_surpasses_the_best_possible():
    """A wrong motif, or a wrong rule, gives less."""
    chance = random()
    motif, wrong = Motif.drawn(8, 0.05, chance), Motif.drawn(8, 0.05, chance)
    made = generate(4000, 64, motif, chance)
    best = best_possible(*made, motif)
    assert best_possible(*made, wrong)[0] < 0.6 < 0.9 < best[0]
    ratio = log_likelihood_ratio(made[0], motif)
    for threshold in (-2, 2):
        assert ((ratio > threshold) == made[1]).mean() < best[0]


def test_the_data_set_of_a_seed():
    first, again, other = (motif_data(100, seed) for seed in (0, 0, 1))
    assert (len(first.train), len(first.val), len(first.test), first.length) == (100, 25, 500, 64)
    assert first.best == again.best and 0.96 < first.best[0] < 0.99
    assert torch.equal(first.train.tokens, again.train.tokens)
    assert not torch.equal(first.train.tokens, other.train.tokens)
    assert set(first.train.tokens.unique().tolist()) == {7, 8, 9, 10}
    assert first.names == ("background", "motif")
    found = first.test.tokens.numpy() - 7.0
    assert found.mean() == pytest.approx(1.5, abs=0.05)


def test_a_sequence_may_be_shorter_than_the_usual_motif():
    data = motif_data(20, 0, length=6)
    assert data.length == 6 and "a motif of 6 bases" in data.source
