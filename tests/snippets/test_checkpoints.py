"""Checkpoints hold the whole state, survive failed writes, and never execute what a file says."""

import collections
import contextlib
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import zipfile

import pytest
import torch

from snippets import checkpoints
from snippets.checkpoints import (
    DamagedCheckpoint,
    TrainingState,
    all_finite,
    load_checkpoint,
    load_newest,
    load_weights,
    save_checkpoint,
)
from snippets.errors import RunError, UsageError

ONE_THREAD = {"OMP_NUM_THREADS": "1"}


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
        state.scaler.scale(loss).backward()
        state.scaler.step(state.optimizers[0])
        state.scaler.update()
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
    save_checkpoint(tmp_path / "last.pt", first.capture(), {"seed": 0})
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
    save_checkpoint(path, state.capture(), {})
    before = path.read_bytes()
    state.step = 99
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
        with pytest.raises(RunError, match=r"cannot write .*the checkpoint before it is untouched"):
            save_checkpoint(path, state.capture(), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert path.read_bytes() == before
    assert load_checkpoint(path)["step"] == 0
    assert list(tmp_path.iterdir()) == [path]


def test_loading_puts_everything_on_the_cpu(tmp_path, monkeypatch):
    """A checkpoint from a Mac carries the tag "mps"; without map_location other machines refuse it."""
    save_checkpoint(tmp_path / "last.pt", make_state().capture(), {})
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "mps")
    save_checkpoint(tmp_path / "from_mac.pt", make_state().capture(), {})
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


@pytest.mark.parametrize(
    "part",
    [
        *[{"format": value} for value in ("1", None, torch.ones(1), 1.0, [])],
        *[{"step": value} for value in ("1", None, -1, torch.ones(1), 1.0)],
        *[{"model": value} for value in (None, [], {"weight": 1}, {1: torch.ones(1)})],
        *[{"config": {"steps_per_epoch": value}} for value in (0, None, "1", 1.0)],
        *[{name: 7} for name in ("config", "optimizers")],
    ],
    ids=str,
)
def test_parts_of_another_kind_are_no_checkpoint(tmp_path, part):
    whole = {"format": 1, "model": {}, "optimizers": [], "step": 0, "config": {}}
    torch.save(whole | part, tmp_path / "x.pt")
    with pytest.raises(UsageError, match="not a checkpoint of a run in this project"):
        load_checkpoint(tmp_path / "x.pt")


def test_settings_of_another_kind_are_refused_and_nothing_changes():
    state = make_state()
    before = flatten([state.model.state_dict(), state.optimizers[0].state_dict()])
    for name, value in (("lr", "x"), ("lr", None), ("lr", 10**400), ("amsgrad", True), ("betas", [0.9])):
        captured = make_state(seed=1).capture()
        captured["optimizers"][0]["param_groups"][0][name] = value
        with pytest.raises(UsageError, match="none that training could have made"):
            state.restore(captured)
    assert flatten([state.model.state_dict(), state.optimizers[0].state_dict()]) == before


def test_truncated_checkpoints_are_noticed(tmp_path):
    """Cut off anywhere: in the tensors, in the list of parts, before the last byte."""
    path = tmp_path / "last.pt"
    save_checkpoint(path, make_state().capture(), {})
    raw, chance = path.read_bytes(), random.Random(0)
    lengths = {0, 1, len(raw) - 1, len(raw) - 22, *(chance.randrange(len(raw)) for _ in range(150))}
    for length in lengths:
        path.write_bytes(raw[:length])
        with pytest.raises(DamagedCheckpoint, match=r"cannot read checkpoint .*last\.pt: it is damaged"):
            load_checkpoint(path)


def after_flips(path, places):
    """Flip the bits at `places` of the checkpoint at `path`, one at a time, and count what loading gives.

    Returns how many were noticed, how many did not matter, and how many torch.load alone takes for sound.
    """
    raw, counts = path.read_bytes(), collections.Counter()
    whole = flatten(load_checkpoint(path))
    for place in places:
        changed = bytearray(raw)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        try:
            assert flatten(load_checkpoint(path)) == whole, f"bit {place} changed a number"
            counts["harmless"] += 1
        except DamagedCheckpoint:
            counts["noticed"] += 1
        with contextlib.suppress(Exception):
            counts["silent"] += flatten(torch.load(path, weights_only=True)) != whole
    path.write_bytes(raw)
    return counts


def flatten(value):
    """Return nested content as a string in which tensors are their bytes."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{list(value.shape)}{value.numpy().tobytes().hex()}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{flatten(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return type(value).__name__ + "(" + ",".join(map(flatten, value)) + ")"
    return repr(value)


def make_small_checkpoint(path):
    """Write a checkpoint of a few kilobytes: without random states, which are most of a small one."""
    state = make_state()
    train(state, 2)
    save_checkpoint(path, state.capture() | {"random_states": {}}, {"system": "test"})


@pytest.mark.slow
def test_flipped_bits_are_noticed(tmp_path):
    """PyTorch itself does not check: most of these load as other numbers without an error."""
    path = tmp_path / "last.pt"
    make_small_checkpoint(path)
    bits, chance = path.stat().st_size * 8, random.Random(0)
    counts = after_flips(path, [chance.randrange(bits) for _ in range(300)])
    assert counts["noticed"] > 150
    assert counts["harmless"] > 20  # padding between the parts
    assert counts["silent"] > 20


def test_a_part_marked_as_a_folder_is_noticed(tmp_path):
    """PyTorch would leave the memory of its tensor unfilled; every CRC-32 is right."""
    path = tmp_path / "last.pt"
    make_small_checkpoint(path)
    raw = bytearray(path.read_bytes())
    entry = raw.rindex(b"PK\1\2", 0, raw.rindex(b"data/0"))
    raw[entry + 38] ^= 0x10  # the attributes, as MS-DOS has them
    path.write_bytes(raw)
    assert zipfile.ZipFile(path).testzip() is None
    with pytest.raises(DamagedCheckpoint):
        load_checkpoint(path)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_every_single_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "last.pt"
    make_small_checkpoint(path)
    bits = path.stat().st_size * 8
    counts = after_flips(path, range(bits))
    assert counts["noticed"] + counts["harmless"] == bits


def test_a_part_that_cannot_be_read_is_damage(tmp_path, monkeypatch):
    """What zipfile does not notice and PyTorch does counts as damage; a lack of memory does not."""
    path = tmp_path / "last.pt"
    make_small_checkpoint(path)

    def fail(*arguments, **options):
        raise RuntimeError(text)

    monkeypatch.setattr(checkpoints.torch, "load", fail)
    text = "PytorchStreamReader failed"
    with pytest.raises(DamagedCheckpoint):
        load_checkpoint(path)
    text = "DefaultCPUAllocator: can't allocate memory"
    with pytest.raises(RuntimeError, match="can't allocate"):
        load_checkpoint(path)


def test_the_checkpoint_before_the_last_is_kept(tmp_path):
    path, state = tmp_path / "last.pt", make_state()
    for state.step in (1, 2, 3):
        save_checkpoint(path, state.capture(), {}, keep_previous=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["last.pt", "previous.pt"]
    assert load_checkpoint(path)["step"] == 3
    assert load_checkpoint(tmp_path / "previous.pt")["step"] == 2
    content, read, note = load_newest(tmp_path)
    assert (content["step"], read, note) == (3, path, None)


def test_damaged_last_checkpoint_is_replaced_by_previous(tmp_path):
    last, previous, state = tmp_path / "last.pt", tmp_path / "previous.pt", make_state()
    for state.step in (1, 2):
        save_checkpoint(last, state.capture(), {"system": "test"}, keep_previous=True)
    last.write_bytes(last.read_bytes()[:1000])
    content, path, note = load_newest(tmp_path, "test")
    assert (content["step"], path) == (1, previous)
    assert note == f"cannot read checkpoint {last}: it is damaged or cut off; taking {previous} instead"

    state.step = 3
    save_checkpoint(last, state.capture(), {"system": "test"}, keep_previous=True)
    assert load_checkpoint(previous)["step"] == 1  # a damaged file does not replace a whole one
    assert load_checkpoint(last)["step"] == 3

    last.unlink()
    content, path, note = load_newest(tmp_path, "test")
    assert (content["step"], path) == (1, previous)
    assert note == f"there is no checkpoint {last}; taking {previous} instead"

    previous.write_bytes(b"")
    with pytest.raises(UsageError, match=r"there is no checkpoint .*last\.pt; cannot read .*previous\.pt"):
        load_newest(tmp_path)
    previous.unlink()
    with pytest.raises(UsageError, match=r"there is no checkpoint .*last\.pt$"):
        load_newest(tmp_path)


# Saves steps 1, 2, 3 over each other, and in the last save is killed at one of the moments.
KILLED_SAVE = """
import os, pathlib, signal, sys
import torch
from snippets.checkpoints import TrainingState, save_checkpoint

folder = pathlib.Path(sys.argv[1])

def killed_at(owner, name, when, count):
    original, calls = getattr(owner, name), []
    def replacement(*arguments, **options):
        calls.append(name)
        if when == "before" and len(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*arguments, **options)
        if when == "after" and len(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(owner, name, replacement)

class Killer:
    def __init__(self, file): self.file, self.left = file, 3000
    def write(self, part):
        self.left -= len(part)
        if self.left < 0:
            self.file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.file.write(part)

def half_written(content, file, save=torch.save):
    save(content, Killer(file))

moments = {
    "half written": lambda: setattr(torch, "save", half_written),
    "before fsync": lambda: killed_at(os, "fsync", "before", 1),
    "before the first rename": lambda: killed_at(pathlib.Path, "replace", "before", 1),
    "between the renames": lambda: killed_at(pathlib.Path, "replace", "after", 1),
    "after the second rename": lambda: killed_at(pathlib.Path, "replace", "after", 2),
}
state = TrainingState(torch.nn.Linear(3, 4), [], [], torch.device("cpu"))
for moment, arrange in moments.items():
    where = folder / moment
    where.mkdir()
    for state.step in (1, 2):
        save_checkpoint(where / "last.pt", state.capture(), {}, keep_previous=True)
    child = os.fork()
    if child == 0:
        arrange()
        state.step = 3
        save_checkpoint(where / "last.pt", state.capture(), {}, keep_previous=True)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, moment
"""


@pytest.mark.program
def test_kill_during_save_leaves_a_whole_checkpoint(tmp_path):
    command = [sys.executable, "-c", KILLED_SAVE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD)
    assert done.returncode == 0, done.stderr
    found = {}
    for folder in tmp_path.iterdir():
        content, path, _ = load_newest(folder)
        found[folder.name] = (content["step"], path.name, len(list(folder.glob(".*.tmp"))))
    assert found == {
        "half written": (2, "last.pt", 1),
        "before fsync": (2, "last.pt", 1),
        "before the first rename": (2, "last.pt", 1),
        "between the renames": (2, "previous.pt", 1),
        "after the second rename": (3, "last.pt", 0),
    }


def test_what_cannot_be_continued_says_why(tmp_path):
    path, captured = tmp_path / "last.pt", make_state().capture()
    save_checkpoint(path, captured, {"system": "two_tower"})
    assert load_checkpoint(path, "two_tower")["step"] == 0
    with pytest.raises(UsageError, match=r"is a checkpoint of two_tower, not of cifar_optimizers; name one"):
        load_checkpoint(path, "cifar_optimizers")
    content = torch.load(path, weights_only=True)
    torch.save(content | {"format": checkpoints.FORMAT + 1}, path)
    with pytest.raises(UsageError, match="was made by a newer version of this project; use that"):
        load_checkpoint(path)
    del content["format"]
    torch.save(content, path)
    with pytest.raises(UsageError, match="was made by an older version of this project; use that"):
        load_checkpoint(path)
    # these say that something else is wrong than damage: an older checkpoint would not help
    save_checkpoint(tmp_path / "previous.pt", captured, {"system": "two_tower"})
    with pytest.raises(UsageError, match="older version"):
        load_newest(tmp_path, "two_tower")


def test_another_network_is_refused_and_nothing_changes():
    wider, less, more, two = (make_state(seed=1, width=width).capture() for width in (5, 4, 4, 4))
    del less["model"]["bias"]
    more["model"]["slope"] = torch.ones(1)
    two["optimizers"] *= 2
    state = make_state()
    state.step = 7
    before = flatten(state.capture())
    for saved, message in (
        (wider, r"another size: weight is \(5, 3\) there and \(4, 3\) here; use the options"),
        (less, "another network: only this network has bias; use the options"),
        (more, "another network: only the checkpoint has slope; use the options"),
        (two, "another optimizer; use the same one"),
    ):
        with pytest.raises(UsageError, match=message):
            state.restore(saved)
    assert flatten(state.capture()) == before


def make_fp16_state(seed=0):
    state = make_state(seed)
    state.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=3)
    return state


def test_the_scale_of_the_gradients_is_restored(tmp_path):
    """After 7 steps it has doubled twice, and would double in two more."""
    whole = make_fp16_state()
    train(whole, 9)
    first = make_fp16_state()
    train(first, 7)
    assert first.scaler.get_scale() == 2.0**12
    save_checkpoint(tmp_path / "last.pt", first.capture(), {})
    second = make_fp16_state(seed=5)
    second.restore(load_checkpoint(tmp_path / "last.pt"))
    assert second.scaler.state_dict() == first.scaler.state_dict()
    train(second, 2)
    assert second.scaler.get_scale() == 2.0**13
    assert_equal(whole, second)


def test_a_run_in_another_precision_is_refused():
    with pytest.raises(UsageError, match="of a run without fp16, this one is not; use the same --precision"):
        make_fp16_state().restore(make_state().capture())
    with pytest.raises(UsageError, match="of a run in fp16, this one is not; use the same --precision"):
        make_state().restore(make_fp16_state().capture())


def test_weights_alone(tmp_path):
    """What a trained network needs to predict: other optimizers or random states do not matter."""
    state = make_state()
    train(state, 3)
    save_checkpoint(tmp_path / "best.pt", state.capture(), {})
    model = torch.nn.Linear(3, 4)
    load_weights(model, tmp_path / "best.pt")
    images = torch.randn(2, 3)
    assert torch.equal(model(images), state.model(images))
    with pytest.raises(UsageError, match="another size"):
        load_weights(torch.nn.Linear(3, 5), tmp_path / "best.pt")


def test_weights_that_are_not_numbers_are_noticed():
    model = torch.nn.Linear(2, 2)
    assert all_finite(model)
    with torch.no_grad():
        model.bias[1] = torch.inf
    assert not all_finite(model)


def test_a_folder_in_place_of_a_checkpoint(tmp_path):
    (tmp_path / "last.pt").mkdir()
    with pytest.raises(UsageError, match=r"cannot read checkpoint .*last\.pt: it is a folder, not a file$"):
        load_checkpoint(tmp_path / "last.pt")


def nested(levels, width):
    """Return a list in a list, as often as `levels` says; with a width of 2, of twice as many parts each."""
    value = [1]
    for _ in range(levels):
        value = [value] * width
    return value


class Reserved:
    """Makes a bytearray of a terabyte where it is read: PyTorch's reader allows it."""

    def __reduce__(self):
        return bytearray, (1 << 40,)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2, device="meta"),
        lambda: torch.ones(2).to_sparse(),
        lambda: torch.ones(2, 2).to_sparse_csr(),
        lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]),
        lambda: torch.ones(()).expand(1 << 40),
        lambda: torch.ones(4).as_strided((2, 2), (1, 1)),
        lambda: torch.ones(2, requires_grad=True),
        lambda: torch.nn.Parameter(torch.ones(2)),
        lambda: torch.ones(2, dtype=torch.complex64),
        lambda: 10**30,
        lambda: {1.5: 1},
        lambda: {(1, 2): 1},
        lambda: {1, 2},
        lambda: collections.Counter("a"),
        Reserved,
        lambda: nested(60, 2),
        lambda: nested(10, 1000),
        lambda: nested(200, 1),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse", "ignore:The PyTorch API of nested")
def test_what_is_no_plain_tensor_or_number_is_refused(tmp_path, make, capfd, recwarn):
    """In a moment, in little memory, and without a word of PyTorch's on the terminal."""
    content = make_state().capture() | {"progress": {"more": make()}}
    save_checkpoint(tmp_path / "last.pt", content, {})
    recwarn.clear()
    capfd.readouterr()
    with pytest.raises(UsageError, match=r"it holds more than weights and numbers$"):
        load_checkpoint(tmp_path / "last.pt")
    assert (capfd.readouterr(), list(recwarn)) == (("", ""), [])


def test_a_pickle_too_large_to_unpack_is_refused(tmp_path):
    save_checkpoint(tmp_path / "last.pt", make_state().capture() | {"progress": "x" * (1 << 24)}, {})
    with pytest.raises(UsageError, match=r"more than weights and numbers$"):
        load_checkpoint(tmp_path / "last.pt")


def repacked(path, compression=zipfile.ZIP_STORED, **renamed):
    """Write the archive at `path` anew, with parts `renamed` added: copies of data.pkl."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
            for ending, other in renamed.items():
                if name.endswith(ending):
                    archive.writestr(name.replace(ending, other), content)
        for part in archive.filelist:
            part.external_attr = 0


def test_archives_that_pytorch_does_not_write(tmp_path):
    """Compressed: a few bytes may hold terabytes. A second pickle: two readers may take different ones."""
    path = tmp_path / "last.pt"
    for changes, message in (
        ({"compression": zipfile.ZIP_DEFLATED}, "damaged or cut off$"),
        ({"pkl": "PKL"}, "it is damaged$"),
    ):
        make_small_checkpoint(path)
        repacked(path)
        assert load_checkpoint(path)["step"] == 2
        repacked(path, **changes)
        with pytest.raises(DamagedCheckpoint, match=message):
            load_checkpoint(path)


def test_parts_that_lie_over_each_other_are_damage(tmp_path):
    """A directory that names the same bytes a thousand times says more than the file has."""
    path = tmp_path / "last.pt"
    make_small_checkpoint(path)
    with zipfile.ZipFile(path, "a") as archive:
        (part,) = [part for part in archive.infolist() if part.filename.endswith("data.pkl")]
        archive.filelist += [part] * 100
        archive._didModify = True
    with pytest.raises(DamagedCheckpoint, match=r"damaged or cut off$"):
        load_checkpoint(path)


def test_pipes_and_devices_are_named_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.pt")
    (tmp_path / "zero.pt").symlink_to("/dev/zero")
    for name, what in (("pipe.pt", "a named pipe"), ("zero.pt", "a device")):
        with pytest.raises(UsageError, match=rf"cannot read checkpoint .*{name}: it is {what}, not a file$"):
            load_checkpoint(tmp_path / name)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_nan_weights_are_refused_by_name(tmp_path, value):
    state = make_state()
    with torch.no_grad():
        state.model.bias[1] = value
    save_checkpoint(tmp_path / "last.pt", state.capture(), {})
    for load in (load_checkpoint, lambda path: load_weights(torch.nn.Linear(3, 4), path)):
        with pytest.raises(UsageError, match=r"weights in .*last\.pt are not numbers: bias holds NaN"):
            load(tmp_path / "last.pt")


def test_attributes_of_a_dictionary_are_not_believed(tmp_path):
    """PyTorch would ask `_metadata` for the version of each layer."""
    captured = make_state().capture()
    captured["model"]._metadata = 5
    save_checkpoint(tmp_path / "last.pt", captured, {})
    make_state().restore(load_checkpoint(tmp_path / "last.pt"))


def doubled(optimizer):
    optimizer["param_groups"][0]["params"] = [0, 0]


def not_a_number(optimizer):
    optimizer["state"][0]["exp_avg"][0, 0] = torch.nan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (doubled, "another optimizer; use the same one"),
        (not_a_number, r"\(exp_avg\) holds NaN; name another"),
    ],
)
def test_states_of_optimizers_that_cannot_be_theirs_are_refused(change, message):
    state = make_state()
    train(state, 2)
    captured = state.capture()
    change(captured["optimizers"][0])
    with pytest.raises(UsageError, match=message):
        make_state().restore(captured)
