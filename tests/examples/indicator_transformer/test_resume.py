"""What this system adds to a state: runs that are stopped continue with it bit by bit; others are refused."""

import pytest
import torch

from examples.indicator_transformer.generated_bars import generate_market
from examples.indicator_transformer.model import SIZES, IndicatorTransformer, Size
from tests.examples.program_runs import assert_refused

pytestmark = pytest.mark.usefixtures("without_curves")


def test_dropout_continues_with_its_random_numbers(run_train, stop, tiny, undisturbed, monkeypatch):
    plain = undisturbed(tiny()).last["model"]["identity.weight"]
    small = SIZES["small"]  # now with the dropout of the larger ones
    monkeypatch.setitem(SIZES, "small", Size(small.width, small.layers, small.heads, 0.1))
    whole = run_train(*tiny(), out="whole")
    assert not torch.equal(whole.last["model"]["identity.weight"], plain)
    stop(9)
    run_train(resume="run").assert_same_as(whole)


@pytest.mark.long
def test_all_indicators_resume_bit_equal(run_train, stop, tiny, undisturbed):
    stop(7, indicators=111)
    run_train(resume="run").assert_same_as(undisturbed(tiny(indicators=111)))


@pytest.mark.long
def test_a_run_with_workers_ends_as_one_without(run_train, stop, tiny, undisturbed):
    stop(9, workers=1)
    resumed = run_train(resume="run", workers=1)
    plain = undisturbed(tiny()).last["model"]
    assert all(torch.equal(weights, plain[name]) for name, weights in resumed.last["model"].items())


def test_a_learned_normaliser_is_not_fitted_again(run_train, stop, monkeypatch):
    """A resumed run goes on with the one in its checkpoint, even on a machine that rounds differently."""
    stopped = stop(5).last["model"]
    assert (stopped["value_std"] != 1).all()
    monkeypatch.setattr(
        IndicatorTransformer, "fit_normaliser", lambda model, *_: model.value_mean.fill_(123.0)
    )
    resumed = run_train(resume="run").last["model"]
    for name in ("value_mean", "value_std", "context_mean", "context_std"):
        assert torch.equal(resumed[name], stopped[name])


def test_another_option_is_named(run_train, stop, tiny, program):
    """It would be another run."""
    stopped = stop(3)
    others = {"indicators": 111, "size": "medium", "horizon": 10, "stride": 9, "bars": 4000, "val_split": 0.3}
    for name, value in (others | {"data": "goog"}).items():
        refused = run_train(resume="run", **{name: value})
        saved = stopped.json("config.json")["options"][name]
        flag = f"--{name.replace('_', '-')}"
        assert_refused(refused, f"error: {flag} is {value} here but {saved} in the run in run; leave it out")
    assert stopped.last["step"] == 3  # nothing was lost


def write_bars(folder, change=None):
    """Write a file of bars to `folder`, with one number in it changed."""
    folder.mkdir(exist_ok=True)
    table = generate_market(3000, seed=3).bars.table
    if change is not None:
        row, column, factor = change
        table.iloc[row, column] *= factor
    table.to_csv(folder / "ONE.csv")


def test_data_that_changed_are_noticed(run_train, stop, tmp_path):
    write_bars(tmp_path / "market")
    stopped = stop(3, data="market")
    for change in ((2000, 4, 2.0), (-1, 1, 1.01)):  # a volume, the last high
        write_bars(tmp_path / "market", change)
        assert_refused(run_train(resume="run"), "market is not what run began with\n")
    assert stopped.last["step"] == 3
    write_bars(tmp_path / "elsewhere")  # the same ones may lie in another place
    assert run_train(resume="run", data="elsewhere").code == 0
