"""Checkpoints hold the whole state, survive failed writes, and never execute what a file says."""

import os
import pickle
import resource
import signal

import pytest
import torch

from snippets.checkpoints import TrainingState, all_finite, load_checkpoint, save_checkpoint
from snippets.errors import RunError, UsageError


def make_state(seed=0, width=4):
    torch.manual_seed(seed)
    model = torch.nn.Linear(3, width)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    return TrainingState(model, [optimizer], [scheduler], torch.device("cpu"), progress={"seconds": 0.0})


def train(state, steps):
    for _ in range(steps):
        loss = state.model(torch.randn(8, 3)).square().mean()
        state.model.zero_grad()
        loss.backward()
        state.optimizers[0].step()
        state.schedulers[0].step()
        state.step += 1
        state.progress["seconds"] += 1.0


def assert_equal(first, second):
    for name, value in first.model.state_dict().items():
        assert torch.equal(value, second.model.state_dict()[name])
    assert first.step == second.step
    assert first.progress == second.progress


def test_a_restored_state_continues_bit_equal(tmp_path):
    whole = make_state()
    train(whole, 7)

    first = make_state()
    train(first, 3)
    save_checkpoint(tmp_path / "last.pt", first, {"seed": 0})
    second = make_state(seed=5)
    content = load_checkpoint(tmp_path / "last.pt")
    assert content["config"] == {"seed": 0}
    second.restore(content)
    assert second.schedulers[0].get_last_lr() == first.schedulers[0].get_last_lr()
    train(second, 4)
    assert_equal(whole, second)


def test_the_previous_checkpoint_survives_a_write_that_fails(tmp_path):
    """A limit on the size of files makes the operating system refuse the second write half way."""
    path, state = tmp_path / "last.pt", make_state(width=20_000)
    save_checkpoint(path, state, {})
    before = path.read_bytes()
    state.step = 99
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
        with pytest.raises(RunError, match=r"cannot write .*the checkpoint before it is untouched"):
            save_checkpoint(path, state, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert path.read_bytes() == before
    assert load_checkpoint(path)["step"] == 0
    assert list(tmp_path.iterdir()) == [path]


def test_loading_puts_everything_on_the_cpu(tmp_path, monkeypatch):
    """A checkpoint from a Mac carries the tag "mps"; without map_location other machines refuse it."""
    save_checkpoint(tmp_path / "last.pt", make_state(), {})
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "mps")
    save_checkpoint(tmp_path / "from_mac.pt", make_state(), {})
    if not torch.backends.mps.is_available():
        with pytest.raises(RuntimeError, match="mps"):
            torch.load(tmp_path / "from_mac.pt", weights_only=True)
    weights = load_checkpoint(tmp_path / "from_mac.pt")["model"]
    assert {weight.device.type for weight in weights.values()} == {"cpu"}


class Malicious:
    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


def test_code_in_a_checkpoint_is_not_executed(tmp_path):
    trace = tmp_path / "executed"
    torch.save({"model": Malicious(trace)}, tmp_path / "last.pt")
    with pytest.raises(UsageError, match="cannot read checkpoint"):
        load_checkpoint(tmp_path / "last.pt")
    assert not trace.exists()
    torch.load(tmp_path / "last.pt", weights_only=False)  # the file is dangerous indeed
    assert trace.exists()


def test_files_that_are_no_checkpoints(tmp_path):
    with pytest.raises(UsageError, match="there is no checkpoint"):
        load_checkpoint(tmp_path / "none.pt")
    (tmp_path / "text.pt").write_text("hello")
    with pytest.raises(UsageError, match="cannot read checkpoint"):
        load_checkpoint(tmp_path / "text.pt")
    torch.save({"weights": 1}, tmp_path / "other.pt")
    with pytest.raises(UsageError, match="not a checkpoint of a run"):
        load_checkpoint(tmp_path / "other.pt")
    (tmp_path / "pickle.pt").write_bytes(pickle.dumps([1], 2))
    with pytest.raises(UsageError):
        load_checkpoint(tmp_path / "pickle.pt")


def test_a_cut_checkpoint_is_named(tmp_path):
    path = tmp_path / "last.pt"
    save_checkpoint(path, make_state(), {})
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(UsageError, match=r"cannot read checkpoint .*last\.pt"):
        load_checkpoint(path)


def test_weights_that_are_not_numbers_are_noticed():
    model = torch.nn.Linear(2, 2)
    assert all_finite(model)
    with torch.no_grad():
        model.bias[1] = torch.inf
    assert not all_finite(model)
