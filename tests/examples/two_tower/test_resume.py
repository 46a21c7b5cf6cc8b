"""What this system adds to a state: extra negatives of an epoch, files, mapped pairs; others are refused."""

import shutil

import numpy
import pytest
import torch

from examples.two_tower import build_cache, mine_near_misses
from examples.two_tower.near_miss_files import stamp_of
from examples.two_tower.negative_sources import NegativeSource
from tests.examples.program_runs import assert_refused
from tests.examples.two_tower.data_files import arrays

pytestmark = pytest.mark.usefixtures("without_curves")
EPOCH = 7  # steps


@pytest.fixture
def epochs_begun(monkeypatch):
    """Return the list of epochs for which negatives have been found since."""
    found, original = [], NegativeSource.for_epoch

    def for_epoch(source, epoch, *given):
        found.append(epoch)
        return original(source, epoch, *given)

    monkeypatch.setattr(NegativeSource, "for_epoch", for_epoch)
    return found


def test_mid_epoch_resume_keeps_the_epochs_negatives(run_train, stop, tiny, undisturbed, epochs_begun):
    """The network that found them is gone, so the checkpoint has them."""
    whole = undisturbed(tiny())
    assert whole.json("config.json")["steps_per_epoch"] == EPOCH
    stopped = stop(EPOCH + 3)
    held = stopped.last["progress"]["negatives"]
    assert held["rows"].shape == (300, 4) and held["cache"].shape == (300, 32)
    assert "negatives" not in whole.last["progress"]  # after an epoch nobody needs them
    epochs_begun.clear()
    run_train(resume="run").assert_same_as(whole)
    assert epochs_begun == [2]


def test_next_epoch_finds_new_negatives(run_train, stop, tiny, undisturbed, epochs_begun):
    stop(2 * EPOCH)
    epochs_begun.clear()
    run_train(resume="run").assert_same_as(undisturbed(tiny()))
    assert epochs_begun == [2]


@pytest.fixture
def files(undisturbed, tiny, tmp_path):
    """Return the options that let a run begin with the files of another one."""
    folder = shutil.copytree(undisturbed(tiny()).folder, tmp_path / "first")
    for program in (build_cache, mine_near_misses):
        assert program.main([str(folder), "--device", "cpu"]) == 0
    return {
        "start_from": folder / "checkpoints" / "best.pt",
        "p_cache": folder / "p_cache.npy",
        "near_misses": folder / "near_misses.jsonl",
    }


def test_a_run_with_files_continues_bit_equal(run_train, stop, tiny, undisturbed, files):
    whole = undisturbed(tiny(**files))
    assert not torch.equal(
        whole.last["model"]["context.leave.weight"], undisturbed(tiny()).last["model"]["context.leave.weight"]
    )
    stopped = stop(EPOCH + 3, **files)
    assert "negatives" not in stopped.last["progress"]  # the files have them
    run_train(resume="run").assert_same_as(whole)


def test_files_that_changed_are_noticed(run_train, stop, files):
    """By their stamps, and without them by what the run noted."""
    stopped = stop(3, **files)
    vectors = numpy.load(files["p_cache"])
    numpy.save(files["p_cache"], vectors[::-1].copy())
    assert_refused(run_train(resume="run"), "is not the file that p_cache.npy.stamp.json was written for")
    for file in (files["p_cache"], files["near_misses"]):
        stamp_of(file).unlink()
    assert_refused(run_train(resume="run"), "is not what run began with\n")
    numpy.save(files["p_cache"], vectors)
    lines = files["near_misses"].read_text().splitlines(keepends=True)
    files["near_misses"].write_text("".join(lines[:-1]))
    assert_refused(run_train(resume="run"), "is not what run began with\n")
    files["near_misses"].unlink()
    assert_refused(run_train(resume="run"), "make it: python examples/two_tower/mine_near_misses.py")
    assert stopped.last["step"] == 3
    files["near_misses"].write_text("".join(lines))
    assert run_train(resume="run").code == 0


def write_pairs(folder, seed=None):
    """Write pairs into a file and into a folder; `seed` changes a number."""
    folder.mkdir(exist_ok=True)
    content = arrays(rows=96, width=8, per_article=6)
    if seed is not None:
        content["context_sequences"][seed, 0, 0] += 1e-3
    numpy.savez(folder / "pairs.npz", **content)
    for name, array in content.items():
        numpy.save(folder / f"{name}.npy", array)


FROM_FILE = {"size": "tiny", "width": 8, "state": 2, "batch_size": 16, "epochs": 2, "lr": 1e-3, "rows": None}


def test_mapped_pairs_train_and_resume_bit_equal(run_train, stop, tiny, undisturbed, tmp_path):
    write_pairs(tmp_path / "mine")
    in_memory = undisturbed(tiny(data=tmp_path / "mine" / "pairs.npz", **FROM_FILE))
    mapped = undisturbed(tiny(data=tmp_path / "mine", **FROM_FILE))
    assert "mapped from the folder" in (mapped.folder / "train.log").read_text()
    for name, weights in in_memory.last["model"].items():
        assert torch.equal(weights, mapped.last["model"][name]), name
    stop(mapped.json("config.json")["steps_per_epoch"] + 2, data=tmp_path / "mine", **FROM_FILE)
    run_train(resume="run").assert_same_as(mapped)


def test_data_that_changed_are_noticed(run_train, stop, tmp_path):
    write_pairs(tmp_path / "mine")
    stopped = stop(3, data=tmp_path / "mine" / "pairs.npz", **FROM_FILE)
    write_pairs(tmp_path / "mine", seed=50)
    assert_refused(run_train(resume="run"), "pairs.npz is not what run began with\n")
    assert stopped.last["step"] == 3
    write_pairs(tmp_path / "elsewhere")
    assert run_train(resume="run", data=tmp_path / "elsewhere" / "pairs.npz").code == 0


def test_dropout_and_a_learned_temperature_continue(run_train, stop, tiny, undisturbed):
    settings = {"dropout": 0.3, "learn_temperature": True, "tower": "gru", "epochs": 2}
    whole = undisturbed(tiny(**settings))
    assert whole.last["model"]["log_scale"] != undisturbed(tiny()).last["model"]["log_scale"]
    stop(EPOCH + 2, **settings)
    run_train(resume="run").assert_same_as(whole)


def test_another_option_is_named(run_train, stop):
    stopped = stop(3)
    others = {"tower": "gru", "width": 16, "same_article_k": 2, "near_miss_k": 2, "rows": 312, "noise": 2.0}
    for name, value in (others | {"val_split": 0.3, "temperature": 0.1}).items():
        saved = stopped.json("config.json")["options"][name]
        message = f"--{name.replace('_', '-')} is {value} here but {saved} in the run in run; leave it out"
        assert_refused(run_train(resume="run", **{name: value}), message)
    assert stopped.last["step"] == 3
