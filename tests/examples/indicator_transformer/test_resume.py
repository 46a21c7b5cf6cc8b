"""Runs that are stopped and continued end exactly as if nothing had happened; others are refused."""

import importlib
import shlex
import shutil
import signal

import pytest
import torch

from examples.indicator_transformer.generated_bars import generate_market
from examples.indicator_transformer.model import SIZES, Size

pytestmark = pytest.mark.usefixtures("without_curves")
# 211 samples to learn from, 13 steps per epoch, 26 in all.
TINY = shlex.split("--device cpu --bars 3000 --stride 8 --batch-size 16 --epochs 2")


@pytest.mark.parametrize(
    "at", [1, 17, *(pytest.param(step, marks=pytest.mark.long) for step in (10, 13, 25))]
)
def test_a_run_stopped_at_any_step_ends_bit_equal(run_train, signal_at, undisturbed, at):
    """The first, one in the middle, one with a line of metrics, the last of an epoch, the last but one."""
    signal_at(at, signal.SIGTERM)
    stopped = run_train(*TINY, "--out", "stopped")
    assert stopped.code == 128 + signal.SIGTERM
    assert stopped.last["step"] == at
    assert stopped.last["schedulers"][0]["last_epoch"] == at
    assert (stopped.last["model"]["value_std"] != 1).all()  # the normaliser is in the checkpoint
    signal_at(0)
    resumed = run_train("--resume", "stopped", "--out", "stopped")
    assert resumed.code == 0
    assert f"continuing after step {at} of 26" in resumed.out
    resumed.assert_same_as(undisturbed(TINY))


@pytest.fixture
def dropout(monkeypatch):
    """Give the small network the dropout of the larger ones."""
    small = SIZES["small"]
    monkeypatch.setitem(SIZES, "small", Size(small.width, small.layers, small.heads, 0.1))


def test_dropout_continues_with_its_random_numbers(run_train, signal_at, undisturbed, dropout):
    whole = run_train(*TINY, "--out", "whole")
    plain = undisturbed(TINY).last["model"]["identity.weight"]
    assert not torch.equal(whole.last["model"]["identity.weight"], plain)
    signal_at(9)
    assert run_train(*TINY, "--out", "stopped").code == 130
    signal_at(0)
    run_train(*TINY, "--resume", "auto", "--out", "stopped").assert_same_as(whole)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("--precision bf16", marks=pytest.mark.long),
        pytest.param("--precision fp16", marks=pytest.mark.long),  # on CPUs it is slow
        "--accumulate 2",
        pytest.param("--indicators 111", marks=pytest.mark.long),
    ],
)
def test_other_ways_to_learn_resume_bit_equal(run_train, signal_at, words):
    options = [*TINY, *words.split()]
    whole = run_train(*options, "--out", "whole")
    signal_at(7)
    stopped = run_train(*options, "--out", "stopped")
    assert stopped.code == 130
    signal_at(0)
    run_train("--resume", "stopped", "--out", "stopped").assert_same_as(whole)


@pytest.mark.long
def test_a_run_with_workers_ends_as_one_without(run_train, signal_at, undisturbed):
    signal_at(9)
    options = [*TINY, "--workers", 1]
    assert run_train(*options, "--out", "stopped").code == 130
    signal_at(0)
    resumed = run_train(*options, "--resume", "auto", "--out", "stopped")
    plain = undisturbed(TINY).last["model"]
    assert all(torch.equal(weights, plain[name]) for name, weights in resumed.last["model"].items())


def test_a_learned_normaliser_is_not_fitted_again(run_train, signal_at, monkeypatch):
    """A resumed run goes on with the one in its checkpoint, even on a machine that rounds differently."""
    from examples.indicator_transformer.model import IndicatorTransformer

    signal_at(5)
    stopped = run_train(*TINY, "--out", "stopped")
    signal_at(0)

    def another(model, values, context):
        model.value_mean.fill_(123.0)

    monkeypatch.setattr(IndicatorTransformer, "fit_normaliser", another)
    resumed = run_train("--resume", "stopped", "--out", "stopped")
    for name in ("value_mean", "value_std", "context_mean", "context_std"):
        assert torch.equal(resumed.last["model"][name], stopped.last["model"][name])


# ---- What is refused ----


@pytest.fixture
def stopped_run(run_train, signal_at):
    """Return a run that was stopped after its third step."""
    signal_at(3)
    run = run_train(*TINY, "--out", "run")
    assert run.code == 130
    signal_at(0)
    return run


def assert_refused(outcome, message, run):
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err
    assert run.last["step"] == 3  # nothing was lost


@pytest.mark.parametrize(
    ("option", "value", "saved"),
    [
        ("indicators", "111", "24"),
        ("size", "medium", "small"),
        ("horizon", "10", "20"),
        ("stride", "9", "8"),
        ("bars", "4000", "3000"),
        ("val-split", "0.3", "0.2"),
        ("seed", "1", "0"),
        ("data", "goog", "bars"),
    ],
)
def test_another_option_is_named(run_train, stopped_run, option, value, saved):
    """It would be another run."""
    refused = run_train("--resume", "run", "--out", "run", f"--{option}", value)
    assert_refused(refused, f"error: --{option} is {value} here but {saved} in the run in run", stopped_run)


def test_the_device_may_change(run_train, stopped_run):
    run_train("--resume", "run", "--out", "run", "--device", "auto")
    assert stopped_run.last["step"] == 26


def write_bars(folder, change=None):
    """Write a file of bars to `folder`, with one number in it changed."""
    folder.mkdir(exist_ok=True)
    table = generate_market(3000, seed=3).bars.table
    if change is not None:
        row, column, factor = change
        table.iloc[row, column] *= factor
    table.to_csv(folder / "ONE.csv")


@pytest.mark.parametrize("change", [(2000, 4, 2.0), (-1, 1, 1.01)], ids=["a volume", "the last high"])
def test_data_that_changed_are_noticed(run_train, signal_at, tmp_path, change):
    write_bars(tmp_path / "market")
    signal_at(3)
    run = run_train(*TINY, "--data", "market", "--out", "run")
    assert run.code == 130
    signal_at(0)
    write_bars(tmp_path / "market", change)
    refused = run_train("--resume", "run", "--out", "run")
    assert_refused(refused, "market is not what run began with\n", run)
    write_bars(tmp_path / "elsewhere")  # the same ones may lie in another place
    assert run_train("--resume", "run", "--out", "run", "--data", "elsewhere").code == 0


@pytest.fixture
def cifar_run(tmp_path):
    """Return the folder of a run of the other system."""
    cifar = importlib.import_module("examples.cifar_optimizers.train")
    words = "--device cpu --data synthetic --image-size 8 --width 2 --data-fraction 0.1 --max-steps 1"
    assert cifar.PROGRAM.main([*words.split(), "--out", str(tmp_path / "cifar")]) == 0
    return tmp_path / "cifar"


def test_a_run_of_another_system_is_refused(run_train, stopped_run, cifar_run):
    refused = run_train("--resume", "cifar")
    message = "cifar holds a run of cifar_optimizers, not of indicator_transformer; continue it with that"
    assert_refused(refused, message, stopped_run)
    refused = run_train("--resume", cifar_run / "checkpoints" / "last.pt")
    assert_refused(refused, "holds a run of cifar_optimizers", stopped_run)


def test_checkpoints_that_do_not_belong_are_refused(run_train, stopped_run, cifar_run):
    more = run_train(*TINY, "--indicators", 111, "--max-steps", 1, "--out", "more")
    last = stopped_run.folder / "checkpoints" / "last.pt"
    own = last.read_bytes()
    for source, message in (
        (cifar_run, "is a checkpoint of cifar_optimizers, not of indicator_transformer"),
        (more.folder, "the checkpoint is of a network of another size: "),
    ):
        shutil.copy(source / "checkpoints" / "last.pt", last)
        refused = run_train("--resume", "run", "--out", "run")
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert message in refused.err
    last.write_bytes(own)
    assert run_train("--resume", "run", "--out", "run").code == 0
