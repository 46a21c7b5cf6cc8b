"""Lightning's loop: it computes what the plain one does, autocast is on, and it leaves signals alone."""

import csv
import signal
import warnings
from importlib.util import find_spec

import pytest
import torch
from pytorch_lightning.plugins import MixedPrecision, Precision

from examples.genomic_caduceus.lightning_loop import LightningTraining
from examples.genomic_caduceus.mamba import Backbone
from examples.programs.run_folder import read_json
from snippets.training_loop import Training, endless_batches
from tests.examples.genomic_caduceus.conftest import pretrain_only, train_only
from tests.examples.program_runs import assert_refused

LIGHTNING = {"trainer.loop": "lightning"}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD, signal.SIGHUP)


def assert_equal(first, second):
    """Fail unless two networks have the same weights, bit for bit."""
    for (name, one), two in zip(first.named_parameters(), second.parameters(), strict=True):
        assert torch.equal(one, two), name


# ---- The same as the plain loop ----


@pytest.mark.program
def test_losses_and_weights_are_those_of_a_plain_loop(task_of, fit):
    """Bit for bit, with masks, rates and the order of the epochs."""
    task = task_of(**{"dataset.rc_aug": "true"})
    found = fit(task)
    plain, losses, rates = task_of(**{"dataset.rc_aug": "true"}), [], []
    for batch, _ in zip(endless_batches(plain), range(plain.total_steps), strict=False):
        rates.append(plain.state.optimizers[0].param_groups[0]["lr"])
        losses.append(plain.learn(batch))
        if plain.state.step % plain.steps_per_epoch == 0:
            plain.evaluate(0, [0.0, 0.0], 1.0)
    assert len(losses) == task.state.step == 24
    assert torch.equal(torch.stack(losses), torch.stack(found.measures))
    assert rates == found.rates and len(set(rates)) > 5
    assert_equal(task.state.model, plain.state.model)


@pytest.mark.program
@train_only
def test_a_training_at_its_end_takes_no_step(task_of, fit):
    """A run may be killed after its last step, before its summary."""
    task = task_of(max_steps=1)
    fit(task)
    weights = {name: weight.clone() for name, weight in task.state.model.state_dict().items()}
    assert fit(task).measures == []
    assert all(torch.equal(weight, weights[name]) for name, weight in task.state.model.state_dict().items())


@pytest.mark.program
@pytest.mark.parametrize("settings", [{"accumulate": 2}, {"precision": "bf16"}], ids=["accumulate", "bf16"])
@train_only
def test_accumulation_and_16_bits_equal_a_plain_loop(task_of, fit, settings):
    """But for rounding: Lightning has autocast convert the weights anew for each strand."""
    task = task_of(max_steps=3, **settings)
    found = fit(task)
    plain = task_of(max_steps=3, **settings)
    losses = [plain.learn(batch) for batch, _ in zip(endless_batches(plain), range(3), strict=False)]
    torch.testing.assert_close(
        torch.stack(losses),
        torch.stack(found.measures),
        rtol=0,
        atol=1e-6 if "accumulate" in settings else 1e-3,
    )
    for one, two in zip(task.state.model.parameters(), plain.state.model.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-4 if "accumulate" in settings else 1e-2)


@pytest.mark.program
@pytest.mark.unmeasured
@train_only
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-4), (torch.float64, 1e-12)])
def test_two_passes_of_32_are_one_of_64(task_of, fit, monkeypatch, dtype, tolerance):
    """As in the guide, where a batch of 128 becomes two of 64; also where gradients are clipped."""
    settings = {"dataset.sequences": 320, "max_steps": 5, "trainer.gradient_clip_val": 0.1}
    if dtype == torch.float64:  # the loss, too
        monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    weights, losses = [], []
    for words in ({"batch_size": 64}, {"batch_size": 32, "train.global_batch_size": 64}):
        task = task_of(**(settings | words))
        task.state.model.to(dtype)
        losses.append(torch.stack(fit(task).measures))
        weights.append(list(task.state.model.parameters()))
    assert task.options.accumulate == 2 and losses[0].shape == (5, 2)
    torch.testing.assert_close(*losses, rtol=0, atol=tolerance)
    torch.testing.assert_close(*weights, rtol=0, atol=tolerance)
    beginning = list(task_of(**settings, batch_size=64).state.model.to(dtype).parameters())
    assert max((one - two).abs().max() for one, two in zip(beginning, weights[0], strict=True)) > 0.05


# ---- Autocast ----


@pytest.fixture
def autocast_states(monkeypatch):
    """Return the set of what the network finds: whether it learns, and whether autocast is on."""
    found, forward = set(), Backbone.forward

    def noted(network, tokens):
        found.add((torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")))
        return forward(network, tokens)

    monkeypatch.setattr(Backbone, "forward", noted)
    return found


@pytest.mark.program
@pytest.mark.unmeasured
@pytest.mark.parametrize(("precision", "on"), [("bf16", True), ("fp32", False)])
def test_autocast_is_on_only_in_16_bit_training(task_of, fit, autocast_states, precision, on):
    task = task_of(precision=precision, max_steps=2)
    fit(task)
    assert autocast_states == {(True, on), (False, False)}
    assert {weights.dtype for weights in task.state.model.parameters()} == {torch.float32}


class WithoutAutocast(LightningTraining):
    """What Lightning 2.0 to 2.5 did on MPS: autocast for CUDA. PyTorch only warns."""

    def precision(self):
        return MixedPrecision("bf16-mixed", device="cuda")


class WithAutocast(LightningTraining):
    """The opposite fault: autocast where nobody asked for it."""

    def precision(self):
        plugin = Precision()
        plugin.forward_context = lambda: torch.autocast("cpu", torch.bfloat16)
        return plugin


@train_only
@pytest.mark.parametrize(
    ("precision", "training", "message"),
    [
        ("bf16", WithoutAutocast, "precision is 'bf16-mixed', but autocast is off for cpu"),
        ("fp32", WithAutocast, "precision is '32-true', but autocast is on for cpu"),
    ],
)
def test_wrong_autocast_state_is_noticed(task_of, fit, precision, training, message):
    if torch.cuda.is_available():
        pytest.skip("autocast for CUDA is on here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match=message):
            fit(task_of(precision=precision, max_steps=2), training)


# ---- Signals ----


@pytest.fixture
def handlers():
    """Fail unless the test leaves the handlers of signals as they were; return them."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield before
    assert {number: signal.getsignal(number) for number in SIGNALS} == before


@pytest.mark.usefixtures("without_curves")
@train_only
def test_a_run_leaves_handlers_as_they_were(run_train, tiny, handlers):
    assert run_train(*tiny(max_steps=1), **LIGHTNING).code == 0


@train_only
def test_lightning_installs_no_signal_handlers(run_train, tiny, handlers, monkeypatch):
    found, after_step = [], Training.after_step

    def noted(training, *given):
        found.append({number: signal.getsignal(number) for number in SIGNALS})
        return after_step(training, *given)

    monkeypatch.setattr(Training, "after_step", noted)
    run_train(*tiny(max_steps=1), **LIGHTNING)
    ours = {signal.SIGINT, signal.SIGTERM}
    assert {number for number in SIGNALS if found[0][number] != handlers[number]} == ours
    assert {found[0][number].__qualname__ for number in ours} == {"StopSignals.note"}


@train_only
def test_a_second_ctrl_c_ends_at_once(run_train, tiny, handlers, monkeypatch):
    """Lightning would exit with 1, and have all further ones ignored."""
    after_step = Training.after_step

    def twice(training, *given):
        if training.state.step == 3:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return after_step(training, *given)

    monkeypatch.setattr(Training, "after_step", twice)
    run = run_train(*tiny(), out="run", **LIGHTNING)
    assert (run.code, run.err) == (130, "interrupted\n")
    heartbeat = run.json("heartbeat.json")
    assert (heartbeat["status"], heartbeat["error"]) == ("interrupted", "KeyboardInterrupt: ")
    assert not (run.folder / "train.pid").exists()


# ---- Another record of the metrics ----


def numbers(line):
    """Return what a line of metrics.jsonl says that loggers say, too."""
    return {name: value for name, value in line.items() if name not in ("step", "epoch", "samples_per_s")}


def csv_rows(folder):
    """Return step and values of the lines of all metrics.csv of a run, in the order of its starts."""
    rows = []
    for path in sorted(folder.glob("csv/version_*/metrics.csv")):
        for row in csv.DictReader(path.open(encoding="utf-8")):
            step = int(row.pop("step"))
            rows.append((step, {name: float(value) for name, value in row.items() if value}))
    return rows


def tensorboard_rows(folder):
    """Return step and values of what TensorBoard shows of a run."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    found = {}
    for name in events.Tags()["scalars"]:
        for event in events.Scalars(name):
            found.setdefault(event.step, {})[name] = event.value
    return sorted(found.items())


READERS = {"csv": csv_rows, "tensorboard": tensorboard_rows}
TENSORBOARD = pytest.param(
    "tensorboard",
    marks=pytest.mark.skipif(find_spec("tensorboard") is None, reason="pip install tensorboard"),
)


@pytest.mark.unmeasured
@pytest.mark.usefixtures("without_curves")
@pytest.mark.parametrize("logger", ["csv", TENSORBOARD])
def test_a_logger_has_what_metrics_jsonl_has(run_train, tiny, logger):
    run = run_train(*tiny(logger=logger), out="run", **LIGHTNING)
    assert run.err == ""
    rows = READERS[logger](run.folder)
    assert [step for step, _ in rows] == [line["step"] for line in run.metrics] == [8, 10, 16, 20, 24]
    for (_, values), line in zip(rows, run.metrics, strict=True):
        assert values == pytest.approx(numbers(line))
    assert "val_loss" in rows[-1][1] and "val_loss" not in rows[1][1]


@pytest.mark.usefixtures("without_curves", "save_often")
@train_only
@pytest.mark.parametrize("logger", ["csv", TENSORBOARD])
def test_a_resumed_run_goes_on_with_its_record(run_train, stop, tiny, logger):
    """What was killed after a step that no checkpoint has, repeats it."""
    run = stop(13, logger=logger, **LIGHTNING)
    last = run.folder / "checkpoints"
    (last / "previous.pt").replace(last / "last.pt")
    assert read_json(run.folder / "heartbeat.json")["step"] == 13
    resumed = run_train(resume="run")
    assert "continuing after step 10 of" in resumed.out
    steps = [step for step, _ in READERS[logger](run.folder)]
    assert steps == ([8, 10, 13, 16, 20, 24] if logger == "csv" else [8, 10, 16, 20, 24])
    values = dict(READERS[logger](run.folder))
    for line in resumed.metrics:
        assert values[line["step"]] == pytest.approx(numbers(line))


@train_only
def test_a_record_may_be_added_to_a_run(run_train, stop, without_curves):
    run = stop(9)
    assert run_train(resume="run", logger="csv", **LIGHTNING).code == 0
    assert [step for step, _ in csv_rows(run.folder)] == [10, 16, 20, 24]


@pretrain_only
def test_a_logger_whose_package_is_missing_is_one_line(run_train, tiny, monkeypatch, tmp_path):
    monkeypatch.setattr("examples.genomic_caduceus.learning.find_spec", lambda name: None)
    message = "logger=tensorboard needs a package: pip install tensorboard"
    assert_refused(run_train(*tiny(logger="tensorboard"), **LIGHTNING), message)
    assert list(tmp_path.iterdir()) == []


@pretrain_only
def test_a_logger_without_lightning_is_one_line(run_train, tiny, tmp_path):
    message = "logger=csv is one of Lightning's: add trainer.loop=lightning"
    assert_refused(run_train(*tiny(logger="csv")), message)
    assert list(tmp_path.iterdir()) == []


# ---- Whole runs ----


@pytest.mark.usefixtures("without_curves")
def test_both_loops_give_equal_runs_and_may_alternate(run_train, stop, tiny):
    """Metrics, and the bits of the weights."""
    plain = run_train(*tiny(), out="plain")
    lightning = run_train(*tiny(), out="lightning", **LIGHTNING)
    lightning.assert_same_as(plain)
    stopped = stop(9, **LIGHTNING)
    assert stopped.json("config.json")["options"]["loop"] == "lightning"
    run_train(resume="run", **{"trainer.loop": "plain"}).assert_same_as(plain)
