"""Chains and hairpins: their frequencies, and the losses that are possible, from counts and by formula."""

import numpy
import pytest

from examples.genomic_caduceus.generated_sequences import chain_data, hairpins, markov_chains, markov_floors


def random():
    return numpy.random.default_rng(0)


def entropy(counts):
    """Return the mean loss of the best guess, in nats, from how often (…, base) came."""
    chances = counts / counts.sum(-1, keepdims=True)
    losses = -(counts * numpy.log(numpy.where(counts > 0, chances, 1))).sum(-1)
    return losses.sum() / counts.sum()


@pytest.mark.parametrize(("stay", "before", "both"), [(0.7, 0.940, 0.661), (0.85, 0.588, 0.295)])
def test_the_lowest_losses_are_those_that_are_known(stay, before, both):
    floors = markov_floors(stay)
    assert {name: round(loss, 3) for name, loss in floors.items()} == {
        "nothing": 1.386,
        "before": before,
        "both sides": both,
    }


@pytest.mark.parametrize("stay", [0.7, 0.85])
def test_chains_have_the_frequencies_behind_these_losses(stay):
    chains = markov_chains(4000, 32, random(), stay)
    assert chains.shape == (4000, 32) and set(numpy.unique(chains)) == {0, 1, 2, 3}
    for place in (0, 31):  # even at every place, the first one too
        assert numpy.bincount(chains[:, place]) / 4000 == pytest.approx([0.25] * 4, abs=0.03)
    steps = numpy.zeros((4, 4))
    numpy.add.at(steps, (chains[:, :-1], chains[:, 1:]), 1)
    expected = numpy.full((4, 4), (1 - stay) / 3)
    numpy.fill_diagonal(expected, stay)
    assert steps / steps.sum(1, keepdims=True) == pytest.approx(expected, abs=0.01)
    triples = numpy.zeros((4, 4, 4))
    numpy.add.at(triples, (chains[:, :-2], chains[:, 2:], chains[:, 1:-1]), 1)
    floors = markov_floors(stay)
    assert entropy(steps.sum(0)) == pytest.approx(floors["nothing"], abs=0.002)
    assert entropy(steps) == pytest.approx(floors["before"], abs=0.01)
    assert entropy(triples) == pytest.approx(floors["both sides"], abs=0.01)


def test_further_bases_say_nothing():
    """The one before decides: the one before that changes no frequency."""
    chains = markov_chains(4000, 32, random())
    older = numpy.zeros((4, 4, 4))
    numpy.add.at(older, (chains[:, :-2], chains[:, 1:-1], chains[:, 2:]), 1)
    found = older / older.sum(2, keepdims=True)
    assert abs(found - found.mean(0)).max() < 0.03


@pytest.mark.parametrize("length", [16, 17])
def test_hairpin_ends_in_its_own_reverse_complement(length):
    made = hairpins(500, length, random())
    half = length // 2
    assert made.shape == (500, length)
    assert numpy.array_equal(made[:, -half:], 3 - made[:, :half][:, ::-1])
    assert numpy.bincount(made[:, :half].ravel()) / (500 * half) == pytest.approx([0.25] * 4, abs=0.03)
    assert len(numpy.unique(made[:, :half], axis=0)) > 400  # and the first half is any


def test_the_data_of_a_seed():
    markov, again, other, hairpin = (
        chain_data(*given, length=20)
        for given in (("markov", 200, 0), ("markov", 200, 0), ("markov", 200, 1), ("hairpin", 200, 0))
    )
    for data in (markov, hairpin):
        assert data.train.shape == (200, 20) and data.val.shape == (50, 20)
        assert set(data.train.unique().tolist()) == {7, 8, 9, 10}
    assert markov.train.equal(again.train) and not markov.train.equal(other.train)
    assert markov.floors == markov_floors() and hairpin.floors == {}
    assert (hairpin.train[:, 0] + hairpin.train[:, -1] == 17).all()  # partners: 7 and 10, 8 and 9
