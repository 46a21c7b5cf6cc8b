"""The loop that all systems share, with the smallest task there is: a line through points."""

import itertools
import re
import signal

import pytest
import torch
from tqdm import tqdm

from examples.programs.run_folder import RunFolder, read_json, read_metrics
from snippets import training_loop
from snippets.checkpoints import TrainingState, load_checkpoint
from snippets.errors import RunError
from snippets.precision import pick_precision
from snippets.stop_signals import StopSignals
from snippets.training_loop import EpochResult, Task, Training

CPU = torch.device("cpu")


class Line(Task):
    """Learns a slope. Every batch is its number, and every step notes which one it saw."""

    steps_per_epoch, samples_per_step, total_steps = 4, 8, 12

    def __init__(self, scores=(1.0, 3.0, 2.0)):
        self.network = model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
        self.state = TrainingState(model, [optimizer], [schedule], CPU)
        self.precision = pick_precision("fp32", CPU)
        self.scores, self.seen, self.means, self.during = scores, [], [], lambda: None

    def batches(self, epoch, first):
        for number in range(first, self.steps_per_epoch):
            yield epoch * self.steps_per_epoch + number

    def learn(self, batch):
        self.seen.append(batch)
        self.state.step += 1
        with torch.no_grad():
            self.state.model.bias.fill_(self.state.step)
        self.during()
        return torch.tensor([float(batch), 1.0])

    def evaluate(self, epoch, measures, samples_per_s):
        self.means.append(measures)
        return EpochResult({"test": float(epoch)}, self.scores[epoch - 1], f"line {epoch}")


@pytest.fixture
def clock(monkeypatch):
    """Let the loop read a clock that the test sets, in seconds."""
    now = [100.0]
    monkeypatch.setattr(training_loop.time, "monotonic", lambda: now[0])
    return now


def train(task, folder, config=None):
    folder.mkdir(exist_ok=True)
    with RunFolder(folder) as run, StopSignals() as stop, tqdm(disable=True) as bar:
        training = Training(task, run, config or {}, "try a lower --lr")
        training.train(stop, bar)
        return training


def bias_in(path):
    return load_checkpoint(path)["model"]["bias"].item()


def test_every_batch_once_and_the_means_of_each_epoch(tmp_path):
    task = Line()
    train(task, tmp_path / "run")
    assert task.seen == list(range(12))
    assert task.means == [[1.5, 1.0], [5.5, 1.0], [9.5, 1.0]]
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert [line["step"] for line in lines] == [4, 8, 10, 12]
    assert [line["loss"] for line in lines] == [3.0, 7.0, 9.0, 11.0]
    assert [line.get("test") for line in lines] == [1.0, 2.0, None, 3.0]


def test_restored_state_continues_in_mid_epoch(tmp_path):
    first = Line()
    first.during = lambda: first.state.step == 6 and signal.raise_signal(signal.SIGTERM)
    train(first, tmp_path / "run")
    assert first.seen == list(range(6))
    second = Line()
    second.state.restore(load_checkpoint(tmp_path / "run" / "checkpoints" / "last.pt"))
    train(second, tmp_path / "run")
    assert second.seen == list(range(6, 12))
    assert second.means == [[5.5, 1.0], [9.5, 1.0]]  # of the whole second epoch


@pytest.mark.parametrize(
    ("scores", "epoch"), [((1.0, 3.0, 2.0), 2), ((3.0, 3.0, 2.0), 2), ((1.0, 3.0, 3.0), 3)]
)
def test_the_best_network_is_kept_although_training_goes_on(tmp_path, clock, scores, epoch):
    """Hardly any time passes, so nothing is due before the end: best.pt is a copy made in the best epoch.

    Of equally good networks, it is the last.
    """
    task = Line(scores=scores)
    task.during = lambda: clock.__setitem__(0, clock[0] + 0.001)
    train(task, tmp_path / "run")
    checkpoints = tmp_path / "run" / "checkpoints"
    assert bias_in(checkpoints / "best.pt") == 4.0 * epoch
    assert bias_in(checkpoints / "last.pt") == 12.0
    best = load_checkpoint(checkpoints / "best.pt")
    assert (best["step"], best["progress"]["best_epoch"]) == (4 * epoch, epoch)


def test_saving_takes_at_most_a_hundredth_of_the_time(tmp_path, clock, monkeypatch):
    """A step takes 1 s, a save 0.2 s: one 1 s into the run, then one in 20 s. Only the last is extra."""
    task, saved_at = Line(scores=[0.0] * 250), []
    task.total_steps = 1000
    task.during = lambda: clock.__setitem__(0, clock[0] + 1)

    def save(path, captured, config, keep_previous=False):
        if path.name == "last.pt":
            saved_at.append(captured["step"])
            clock[0] += 0.2

    monkeypatch.setattr(training_loop, "save_checkpoint", save)
    training = train(task, tmp_path / "run")
    assert (len(saved_at) - 1) * 0.2 <= 0.01 * training.state.progress["seconds"]
    assert saved_at[0] < 20 and saved_at[1] <= 2 * 20 + 4  # looks are 4 s apart; the first save counts, too
    assert max(later - sooner for sooner, later in itertools.pairwise(saved_at[1:])) <= 24
    assert saved_at[-1] == 1000


def test_evaluation_time_does_not_lower_training_speed(tmp_path, clock):
    """A step of 8 samples takes 2 s, an evaluation 100 s: 4 samples per second, before and after it."""
    task = Line()
    evaluate, speeds = task.evaluate, []

    def slow_evaluation(epoch, measures, samples_per_s):
        speeds.append(samples_per_s)
        clock[0] += 100
        return evaluate(epoch, measures, samples_per_s)

    task.evaluate = slow_evaluation
    task.during = lambda: clock.__setitem__(0, clock[0] + 2)
    training = train(task, tmp_path / "run")
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert speeds == [4.0] * 3
    assert [line["samples_per_s"] for line in lines] == [4.0] * len(lines) and len(lines) >= 3
    assert training.state.progress["seconds"] == 12 * 2 + 3 * 100


class Miner(Line):
    """Before an epoch, takes 100 s to find out what depends on the weights at that time."""

    def __init__(self, clock):
        super().__init__()
        self.clock, self.epochs = clock, []
        self.during = lambda: clock.__setitem__(0, clock[0] + 2)

    def begin_epoch(self, epoch):
        self.epochs.append(epoch)
        mined = self.state.progress.setdefault("mined", {})
        if epoch not in mined:
            self.clock[0] += 100
            mined[epoch] = self.state.model.bias.item()


def test_work_before_an_epoch_is_saved_and_untimed(tmp_path, clock):
    first = Miner(clock)
    slow = first.during
    first.during = lambda: (slow(), first.state.step == 6 and signal.raise_signal(signal.SIGTERM))
    train(first, tmp_path / "run")
    second = Miner(clock)
    second.state.restore(load_checkpoint(tmp_path / "run" / "checkpoints" / "last.pt"))
    training = train(second, tmp_path / "run")
    assert (first.epochs, second.epochs) == ([0, 1], [1, 2])
    mined = training.state.progress["mined"]
    assert (mined[1], mined[2]) == (4.0, 8.0)  # the weights that ended the epoch before, also after a resume
    assert training.state.progress["seconds"] == 12 * 2 + 3 * 100
    speeds = {line["samples_per_s"] for line in read_metrics(tmp_path / "run" / "metrics.jsonl")}
    assert speeds == {4.0}
    complete = Miner(clock)
    complete.state.restore(load_checkpoint(tmp_path / "run" / "checkpoints" / "last.pt"))
    train(complete, tmp_path / "run")
    assert complete.epochs == []


def test_slow_steps_are_looked_at_by_the_clock(tmp_path, clock):
    """A step takes 3 s: the heartbeat follows every second step instead of every tenth."""
    task, beats = Line(scores=[0.0] * 9), []
    task.steps_per_epoch = task.total_steps = 9
    task.during = lambda: (
        clock.__setitem__(0, clock[0] + 3),
        beats.append(read_json(tmp_path / "run" / "heartbeat.json")),
    )
    train(task, tmp_path / "run")
    assert [beat and beat["step"] for beat in beats] == [None, None, 2, 2, 4, 4, 6, 6, 8]
    assert [line["step"] for line in read_metrics(tmp_path / "run" / "metrics.jsonl")] == [9]


def test_a_signal_finishes_the_step_and_saves(tmp_path):
    task = Line()
    task.during = lambda: task.state.step == 3 and signal.raise_signal(signal.SIGINT)
    train(task, tmp_path / "run")
    assert task.seen == [0, 1, 2]
    assert load_checkpoint(tmp_path / "run" / "checkpoints" / "last.pt")["step"] == 3


def test_nan_loss_names_its_step(tmp_path):
    task = Line()
    learn = task.learn
    task.learn = lambda batch: learn(batch) / (0 if batch == 6 else 1)
    message = re.escape("the loss became inf at step 7; no checkpoint was written yet; try a lower --lr")
    with pytest.raises(RunError, match=message):
        train(task, tmp_path / "run")


def test_weights_that_are_not_numbers_are_not_saved(tmp_path):
    task = Line()
    task.during = lambda: task.state.model.weight.data.fill_(torch.nan)
    with pytest.raises(RunError, match="a weight became NaN or infinite at step 12"):
        train(task, tmp_path / "run")
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


def test_a_run_that_is_complete_takes_no_step(tmp_path):
    train(Line(), tmp_path / "run")
    task = Line()
    task.state.restore(load_checkpoint(tmp_path / "run" / "checkpoints" / "last.pt"))
    train(task, tmp_path / "run")
    assert task.seen == []


def test_a_task_has_to_say_what_it_measures():
    with pytest.raises(NotImplementedError):
        Task().measures(None, None)
    with pytest.raises(NotImplementedError):
        Task().evaluate(1, [], 0.0)
