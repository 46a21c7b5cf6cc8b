"""What both stages are told: recipes, and what is refused in one line."""

import importlib
import shutil
from pathlib import Path

import numpy
import pytest
import torch

from examples.floorplan_diffusion.generated_plans import generate_splits
from examples.floorplan_diffusion.options import resolve_edges, resolve_nodes
from examples.floorplan_diffusion.plan_files import SPLITS, write_splits
from examples.systems import find, modules
from tests.examples.program_runs import assert_refused


@pytest.fixture
def plans(tmp_path):
    """Return a folder of plans that are drawn like those of --plans 28."""
    write_splits(tmp_path / "plans", generate_splits(28, 0))
    return tmp_path / "plans"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--corners 12", "--corners 12: the largest plan has 19"),
        ("--corners 54", "--corners: must be a whole number from 4 to 53"),
        ("--width 24", "--width 24 with --heads 4: the width must be a multiple of 16 and of the number"),
        ("--width 16 --heads 3", "--width 16 with --heads 3: the width must be a multiple"),
        ("--batch-size 29", "--batch-size 29: there are only 28 plans to learn from"),
        ("--batch-size 15 --accumulate 2", "--batch-size 15 × --accumulate 2: there are only 28 plans"),
        ("--plans 15", "--plans: must be a whole number from 16"),
        (
            "--data rplan",
            "--data rplan: neither generated nor an existing folder with train.npz, val.npz and",
        ),
        ("--empty-cache 0", "--empty-cache: must be a whole number from 1"),
        ("--num-workers 2", "--workers"),
    ],
)
def test_unfit_options_are_refused_and_write_nothing(run_train, tiny, tmp_path, words, message):
    assert_refused(run_train(*tiny(), *words.split()), message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("program_name", "words"),
    [
        ("floorplan_diffusion/train_nodes", "--recompute"),
        ("floorplan_diffusion/train_edges", "--ema 0.9"),
        ("floorplan_diffusion/train_edges", "--optimizer muon"),
    ],
    indirect=["program_name"],
)
def test_options_of_the_other_stage_are_unknown(run_train, tiny, words):
    assert_refused(run_train(*tiny(), *words.split()), f"unknown option '{words.split()[0]}'")


def no_plans(folder):
    """Empty the held-out split: whole arrays, of nothing."""
    with numpy.load(folder / "val.npz") as file:
        empty = {name: array[:0] for name, array in file.items()}
    numpy.savez(folder / "val.npz", **empty)


def published(folder):
    """Put files as they are published in the place of ours."""
    for split in SPLITS:
        (folder / f"{split}.npz").unlink()
        (folder / split).mkdir()
        numpy.save(folder / split / "1.npy", numpy.array([{}], dtype=object))


FOLDERS = {
    "published": (published, " holds .npy files as they are published, which are pickles; write them as"),
    "no plans": (no_plans, "val.npz has no plans"),
    "no file": (lambda folder: (folder / "test.npz").unlink(), " has no test.npz; to make a whole folder: p"),
    "cut": (lambda folder: (folder / "train.npz").write_bytes(b"PK"), "train.npz is no whole .npz file with"),
    "nothing": (lambda folder: [file.unlink() for file in folder.iterdir()], " has no train.npz; to make a"),
}


@pytest.mark.parametrize(("damage", "message"), FOLDERS.values(), ids=FOLDERS.keys())
def test_folders_that_are_no_data_set_are_one_line(run_train, tiny, plans, tmp_path, damage, message):
    damage(plans)
    assert_refused(run_train(*tiny(data=plans)), message)
    assert list(tmp_path.iterdir()) == [plans]


def test_a_folder_has_the_plans_that_were_written_there(run_train, tiny, plans, without_curves):
    """Those that the program would draw itself."""
    settings = {"max_steps": 1, "size": "small"}
    drawn, read = (
        run_train(*tiny(**settings, data=data), out=out).json("config.json")
        for data, out in (("generated", "drawn"), (plans, "read"))
    )
    for name in ("data_crc32", "plans", "places", "mean_corners", "parameters"):
        assert drawn[name] == read[name]


def test_a_run_goes_on_with_its_own_plans_alone(run_train, stop, plans, without_curves, tmp_path):
    """They may lie elsewhere."""
    stop(2, data=plans, max_steps=3)
    other = tmp_path / "others"
    write_splits(other, generate_splits(28, 1))
    assert_refused(run_train("--data", other, resume="run"), f"--data {other} is not what run began with")
    plans.rename(tmp_path / "moved")
    assert_refused(run_train(resume="run"), "neither generated nor an existing folder")
    assert run_train("--data", "moved", resume="run").code == 0


def test_runs_of_the_other_stage_are_not_continued(run_train, stop, program_name, without_curves):
    (other,) = {name for name in modules() if name.startswith("floorplan_diffusion/")} - {program_name}
    (known,) = find(other)[1]
    words = known.words({**known.tiny, "device": "cpu", "max_steps": 1})
    assert importlib.import_module(modules()[other]).PROGRAM.main([*words, "--out", "other"]) == 0
    checkpoint = Path("other", "checkpoints", "last.pt")
    for path in ("other", checkpoint):
        assert_refused(run_train(resume=path), f"other holds a run of {other}, not of {program_name}; contin")
    run = stop(2, max_steps=3)
    shutil.copy(checkpoint, run.folder / "checkpoints")
    assert_refused(run_train(resume="run"), f"is a checkpoint of {other}, not of {program_name}")


def test_a_folder_has_the_recipe_of_the_guide(tmp_path):
    nodes, edges = (resolve({"data": str(tmp_path)}) for resolve in (resolve_nodes, resolve_edges))
    for options, layers, batch in ((nodes, 24, 256), (edges, 12, 8)):
        assert (options.size, options.width, options.layers, options.heads) == ("origin", 256, layers, 4)
        assert (options.batch_size, options.lr, options.precision) == (batch, 1e-4, "fp32")
    assert (nodes.optimizer, nodes.place_weight, nodes.focus, nodes.weight_decay) == ("adamw", 1, 1, 0)
    assert (nodes.ema, nodes.alignment, nodes.epochs * (65_763 // 256)) == (0.9999, 1, 998_400)
    assert (edges.weight_decay, edges.recompute) == (1e-5, True)


@pytest.mark.parametrize("program_name", ["floorplan_diffusion/train_nodes"], indirect=True)
def test_without_muon_the_other_optimizer_is_named(run_train, tiny, monkeypatch):
    monkeypatch.delattr(torch.optim, "Muon")
    assert_refused(run_train(*tiny()), "has none; use --optimizer adamw")
    assert run_train(*tiny(max_steps=1, optimizer="adamw")).code == 0
