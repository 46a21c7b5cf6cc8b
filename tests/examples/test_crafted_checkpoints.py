"""Run folders that somebody has made: checkpoints with right sums that hold no state, pipes, edited lines."""

import os
import shutil

import pytest
import torch

from tests.examples.attacks import assert_answered
from tests.examples.program_runs import assert_refused, contents

pytestmark = [pytest.mark.two_for_all, pytest.mark.unmeasured]


@pytest.fixture
def craft(outcomes_so_far, stop, program_name, run_train, without_curves, tmp_path_factory, tmp_path):
    """Return a function that changes the checkpoint of a stopped run, and gives what continuing leads to."""
    key = ("stopped", program_name)
    if key not in outcomes_so_far:
        kept = tmp_path_factory.mktemp("stopped") / "run"
        outcomes_so_far[key] = shutil.move(stop(3).folder, kept)
    path = shutil.copytree(outcomes_so_far[key], tmp_path / "run") / "checkpoints" / "last.pt"

    def call(change):
        content = torch.load(path, weights_only=True)
        change(content)
        torch.save(content, path)
        before = contents(path.parents[1])
        outcome = run_train(resume="run")
        assert "last good checkpoint" not in outcome.err
        if outcome.code == 2:  # nothing has changed
            after = contents(path.parents[1])
            del before[path.parents[1] / "train.log"], after[path.parents[1] / "train.log"]
            assert after == before
        return outcome

    return call


def weights_of(content):
    """Return the tensors of the network that are no counters."""
    return [tensor for tensor in content["model"].values() if tensor.is_floating_point()]


def moments_of(content):
    """Return the states of the parameters, by their numbers."""
    return content["optimizers"][0]["state"]


def with_moments(change):
    """Return a change of the last part of each parameter's state: momentum, or the mean of the squares."""

    def apply(content):
        for state in moments_of(content).values():
            state |= {name: change(value) for name, value in list(state.items())[-1:]}

    return apply


REFUSED = {
    "step past the end": (
        lambda content: content.update(step=10**6),
        "no state of this training (step 1000000 of",
    ),
    "no step": (lambda content: content.update(step=0), "no state of this training (step 0 of"),
    "step of another epoch": (lambda content: content.update(step=4), "its sums are not of this epoch"),
    "no sums": (lambda content: content["progress"].update(sums=[]), "its sums are not of this epoch"),
    "progress as text": (lambda content: content.update(progress="x"), "no state of this training"),
    "optimizer as text": (lambda content: content.update(optimizers=["x"]), "no state of this training"),
    "two optimizers": (
        lambda content: content.update(optimizers=content["optimizers"] * 3),
        "another optimizer",
    ),
    "doubled parameters": (
        lambda content: content["optimizers"][0]["param_groups"][0].update(
            params=[0] * len(content["optimizers"][0]["param_groups"][0]["params"])
        ),
        "another optimizer",
    ),
    "moments as text": (
        lambda content: content["optimizers"][0].update(state="x"),
        "no state of this training",
    ),
    "NaN in the weights": (lambda content: weights_of(content)[0].fill_(torch.nan), "are not numbers: "),
    "infinity in the weights": (
        lambda content: weights_of(content)[-1].fill_(torch.inf),
        "are not numbers: ",
    ),
    "NaN in the moments": (with_moments(lambda moment: moment * torch.nan), "holds NaN"),
    "moments of one number": (
        with_moments(lambda moment: torch.ones(()).expand(moment.shape or (2,))),
        "more than weights and numbers",
    ),
    "moments on meta": (with_moments(lambda moment: moment.to("meta")), "more than weights and numbers"),
    "sparse moments": (with_moments(lambda moment: moment.to_sparse()), "more than weights and numbers"),
    "many digits": (
        lambda content: content["config"].update(held_out_articles=[10**30]),
        "more than weights",
    ),
}


@pytest.mark.parametrize("change", REFUSED)
def test_what_is_no_state_is_refused_before_a_step(craft, change):
    apply, message = REFUSED[change]
    assert_refused(craft(apply), message)


FAILING = {
    "sums of another length": lambda content: content["progress"].update(sums=[1.0] * 99),
    "moments are text": with_moments(lambda moment: "x"),
    "moments of another shape": with_moments(lambda moment: torch.ones(2, 3, 5, 7)),
}


@pytest.mark.parametrize("change", FAILING)
def test_what_only_training_can_tell_ends_in_one_line(craft, change):
    outcome = craft(FAILING[change])
    assert (outcome.code, outcome.err.count("\n")) == (1, 1), outcome.err
    assert outcome.err.startswith("error: the checkpoint holds a state that cannot be trained on (")
    assert outcome.json("heartbeat.json")["status"] == "failed"


def test_moments_that_are_missing_are_answered(craft):
    """SGD begins them anew; Adam misses them."""
    outcome = craft(lambda content: [state.clear() for state in moments_of(content).values()])
    assert_answered(outcome, (0, 1, 2), "no moments")


def test_results_without_a_name_end_in_one_line(craft, undisturbed, tiny):
    """Of a run that was killed after its last step, before its summary."""
    done = undisturbed(tiny()).last

    def change(content):
        content.update(done)
        content["progress"]["result"] = {"x": 1.0}

    outcome = craft(change)
    assert (outcome.code, outcome.err.count("\n")) == (1, 1), outcome.err
    assert "cannot be trained on (KeyError: " in outcome.err


def test_a_defect_of_ours_keeps_its_traceback(craft, system, monkeypatch):
    """After the first look at a loss, nothing can be said against the checkpoint."""

    def fail(*arguments):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(system.PROGRAM.report, "conclude", fail)
    with pytest.raises(ZeroDivisionError, match="a defect"):
        craft(lambda content: None)


@pytest.mark.parametrize(
    "line", ['{"step": 1, "loss": 2}', '{"step": 1, "epoch": "x"}', '{"step": 1, "epoch": 1, "val_loss": []}']
)
def test_metrics_without_their_fields_are_dropped_aloud(stop, undisturbed, tiny, run_train, line, tmp_path):
    """The curves are drawn as if the line had never been, and the run has its summary."""
    stop(3)
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write(line + "\n")
    outcome = run_train(resume="run")
    assert (outcome.code, outcome.err) == (0, "")
    assert "note: 1 damaged line of metrics.jsonl left out" in outcome.out
    outcome.assert_same_as(undisturbed(tiny()))


@pytest.mark.parametrize(
    "name", ["config.json", "heartbeat.json", "metrics.jsonl", "train.log", "checkpoints/last.pt"]
)
def test_pipes_in_a_run_folder_are_not_waited_for(stop, run_train, name, tmp_path):
    """A heartbeat says nothing that is needed."""
    stop(3)
    path = tmp_path / "run" / name
    path.unlink(missing_ok=True)  # of three steps there is no line yet
    os.mkfifo(path)
    outcome = run_train(resume="run")
    if name == "heartbeat.json":
        assert (outcome.code, outcome.err) == (0, "")
    else:
        assert_refused(outcome, f"{path.name}")
        assert path.is_fifo()


def test_a_settings_file_without_an_end_is_refused(stop, run_train, tmp_path):
    stop(3)
    (tmp_path / "run" / "config.json").unlink()
    (tmp_path / "run" / "config.json").symlink_to("/dev/zero")
    assert_refused(run_train(resume="run"), "config.json: it is a device, not a file")


def test_a_summary_does_not_tell_of_an_interruption(stop, undisturbed, tiny, run_train):
    stop(3)
    resumed, whole = run_train(resume="run"), undisturbed(tiny())
    for outcome in (resumed, whole):
        assert outcome.json("summary.json")["options"] == outcome.json("config.json")["options"]
    assert resumed.json("summary.json")["options"] == whole.json("summary.json")["options"]
    assert whole.json("summary.json")["options"]["precision"] == "fp32"


def test_an_empty_path_is_refused(run_train, tiny, tmp_path):
    """Python would take the folder in which the program runs, and make it the run."""
    assert_refused(run_train(*tiny(), out=""), "'' is no path; write the name of a file or folder")
    assert list(tmp_path.iterdir()) == []
