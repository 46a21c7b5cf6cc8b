"""Seeds make draws repeat, and saved states continue them."""

import random

import numpy
import torch

from snippets.seeds import random_states, restore_random_states, seed_everything

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
