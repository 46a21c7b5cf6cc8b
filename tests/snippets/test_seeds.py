"""Seeds make draws repeat, and saved states continue them."""

import random

import numpy
import pytest
import torch

from snippets.seeds import (
    make_deterministic,
    random_states,
    restore_random_states,
    seed_everything,
    sum_with_threads,
)

CPU = torch.device("cpu")


def draw():
    return random.random(), numpy.random.rand(), torch.rand(3).tolist()


def test_equal_seeds_give_equal_draws():
    seed_everything(7)
    first = draw()
    seed_everything(7)
    assert draw() == first
    seed_everything(8)
    assert draw() != first


def test_restored_states_continue_after_a_file(tmp_path):
    seed_everything(1)
    draw()
    torch.save(random_states(CPU), tmp_path / "states.pt")
    expected = draw()
    draw()
    restore_random_states(torch.load(tmp_path / "states.pt", weights_only=True), CPU)
    assert draw() == expected


def test_the_devices_own_generator_is_kept(monkeypatch):
    """With a stand-in for torch.mps: the calls are those that the real module has."""

    class Generator:
        state = torch.tensor([1])

        def get_rng_state(self):
            return self.state

        def set_rng_state(self, state):
            self.state = state

    module = Generator()
    monkeypatch.setattr(torch, "get_device_module", lambda device: module)
    mps = torch.device("mps")
    states = random_states(mps)
    assert states["mps"].tolist() == [1]
    module.state = torch.tensor([2])
    restore_random_states(states, mps)
    assert module.state.tolist() == [1]
    restore_random_states(states, torch.device("cuda"))  # another device: its generator is left alone
    assert module.state.tolist() == [1]


def test_sum_depends_on_the_number_of_threads():
    """A sum of 100,000 values is shared among threads; the same number of them gives the same bits."""
    values = torch.rand(100_000, generator=torch.Generator().manual_seed(0))
    before = torch.get_num_threads()
    one, two = sum_with_threads(values, 1), sum_with_threads(values, 2)
    assert one != two
    assert one == pytest.approx(two, rel=1e-6)
    assert [sum_with_threads(values, 1) for _ in range(5)] == [one] * 5
    assert [sum_with_threads(values, 2) for _ in range(5)] == [two] * 5
    assert torch.get_num_threads() == before
    assert sum_with_threads(values[:1000], 1) == sum_with_threads(values[:1000], 2)  # too few to be shared


def test_deterministic_mode_raises_or_warns():
    """`put_` is the operator that has no deterministic form on any device."""

    def put():
        return torch.zeros(3).put_(torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))

    try:
        make_deterministic()
        with pytest.raises(RuntimeError, match="put_ does not have a deterministic implementation"):
            put()
        make_deterministic(warn_only=True)
        with pytest.warns(UserWarning, match="put_ does not have a deterministic implementation"):
            put()
        assert torch.empty(4).isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)
    put()
