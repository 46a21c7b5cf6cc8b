"""What pretrain.py leaves behind, as the beginning of train.py."""

import shutil

import pytest
import torch

from examples.genomic_caduceus import pretrain
from examples.systems import find
from snippets.checkpoints import load_checkpoint
from tests.examples.genomic_caduceus.conftest import train_only
from tests.examples.program_runs import assert_refused

pytestmark = [train_only, pytest.mark.usefixtures("without_curves")]


@pytest.fixture(scope="module")
def first_run(tmp_path_factory, one_thread):
    """Let pretrain.py take a few steps; return the run folder."""
    folder = tmp_path_factory.mktemp("first") / "run"
    (program,) = find("genomic_caduceus/pretrain")[1]
    words = program.words({**program.tiny, "device": "cpu", "max_steps": 9, "lr": 1e-2, "out": folder})
    assert pretrain.PROGRAM.main(words) == 0
    return folder


@pytest.fixture
def pretrained(first_run, tmp_path):
    """Return a copy of that run, which a test may damage."""
    return shutil.copytree(first_run, tmp_path / "first")


@pytest.mark.program
def test_backbone_is_loaded_and_head_is_random(task_of, pretrained):
    best = load_checkpoint(pretrained / "checkpoints" / "best.pt")["model"]
    with_it, without = task_of(**{"train.pretrained": pretrained}), task_of()
    weights, fresh = with_it.state.model.state_dict(), without.state.model.state_dict()
    backbone = {name for name in weights if name.startswith("backbone.")}
    assert backbone == set(best) and set(weights) - backbone == {"head.weight"}
    for name in backbone:
        assert torch.equal(weights[name], best[name]), name
    assert not torch.equal(weights["backbone.embedding.weight"], fresh["backbone.embedding.weight"])
    assert torch.equal(weights["head.weight"], fresh["head.weight"]) and weights["head.weight"].std() > 0.1
    assert with_it.facts["pretrained"] == str(pretrained / "checkpoints" / "best.pt")


@pytest.mark.slow
def test_checkpoint_path_or_newest_run_is_accepted(task_of, pretrained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    last = pretrained / "checkpoints" / "last.pt"
    assert task_of(**{"train.pretrained": last}).facts["pretrained"] == str(last)
    runs = tmp_path / "runs" / "genomic_caduceus" / "pretrain"
    runs.mkdir(parents=True)
    pretrained.rename(runs / "second")
    task = task_of(**{"train.pretrained": "newest"})
    assert task.facts["pretrained"] == "runs/genomic_caduceus/pretrain/second/checkpoints/best.pt"
    assert task.options.pretrained == "runs/genomic_caduceus/pretrain/second"


def test_without_any_run_the_newest_is_one_line(run_train, tiny, tmp_path):
    message = "there is no pre-trained network in runs/genomic_caduceus/pretrain; make one: python examples/"
    assert_refused(run_train(*tiny(**{"train.pretrained": "newest"})), message)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_best_network_is_replaced_by_the_last(task_of, pretrained):
    (pretrained / "checkpoints" / "best.pt").write_bytes(b"PK")
    task = task_of(**{"train.pretrained": pretrained})
    assert task.facts["pretrained"] == str(pretrained / "checkpoints" / "last.pt")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model.config.d_model": 16}, "is of a network of another size: "),
        ({"model.config.d_state": 4}, "is of a network of another size: "),
        ({"model.config.n_layer": 2}, "is of another network: only this network has "),
    ],
)
def test_a_network_of_another_size_is_one_line(run_train, tiny, pretrained, tmp_path, settings, message):
    outcome = run_train(*tiny(**{"train.pretrained": pretrained}, **settings))
    assert_refused(outcome, message)
    assert list(tmp_path.iterdir()) == [pretrained]


def test_what_is_no_pre_training_is_one_line(run_train, tiny, tmp_path):
    own = run_train(*tiny(max_steps=1), out="own").folder
    for path, message in (
        (own, "is a checkpoint of genomic_caduceus/train, not of genomic_caduceus/pretrain"),
        (own / "config.json", "cannot read checkpoint"),
        (tmp_path / "none", "there is no run folder or checkpoint"),
        (tmp_path, "holds no run (no folder checkpoints)"),
    ):
        assert_refused(run_train(*tiny(**{"train.pretrained": path})), message)


def test_pretrained_run_resumes_bit_equal_and_reports_absence(run_train, stop, tiny, pretrained, undisturbed):
    settings = {"train.pretrained": pretrained}
    whole = undisturbed(tiny(**settings))
    assert "begins with " in (whole.folder / "train.log").read_text()
    stopped = stop(10, **settings)
    pretrained.rename("elsewhere")
    before = {path: path.read_bytes() for path in stopped.folder.rglob("*.pt")}
    assert_refused(run_train(resume="run"), f"there is no run folder or checkpoint {pretrained}")
    assert {path: path.read_bytes() for path in stopped.folder.rglob("*.pt")} == before
    assert_refused(
        run_train(resume="run", **{"train.pretrained": "elsewhere"}), f"but {pretrained} in the run"
    )
    shutil.move("elsewhere", pretrained)
    run_train(resume="run").assert_same_as(whole)


def test_the_first_steps_are_others_with_it(undisturbed, tiny, first_run):
    with_it, without = (
        undisturbed(tiny(max_steps=1, **settings)) for settings in ({"train.pretrained": first_run}, {})
    )
    assert with_it.metrics[0]["loss"] != without.metrics[0]["loss"]
