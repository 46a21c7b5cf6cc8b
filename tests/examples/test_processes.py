"""Trainings that several processes share end as those of one process, and lose nothing.

Processes are forked, each pair from one that has imported everything (process_starts.py); the tests at the
end start torchrun.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from examples.systems import FOLDER, find, modules
from tests.examples.program_runs import Outcome, assert_same, contents
from tests.examples.system_cases import tiny_words

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.program, pytest.mark.unmeasured]
LONG = [pytest.mark.long, pytest.mark.timeout(3600)]
CHEAP = "two_tower"
# Of losses, and of weights: Adam moved some by 2e-4 of the largest when small gradients were rounded.
TO_ROUNDING = (2e-6, 5e-4)


class Starts:
    """A process that forks those of trainings."""

    def __init__(self, environment):
        command = [sys.executable, Path(__file__).with_name("process_starts.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=environment | {"PYTHONPATH": str(ROOT)}, **pipes)

    def __call__(self, folder, words, count, program, **job):
        """Return what came of a job of process_starts.py."""
        job |= {"folder": str(folder), "words": words, "count": count, "program": program}
        print(json.dumps(job), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, "process_starts.py has ended"
        return json.loads(answer)

    def close(self):
        """End it: there are no more jobs."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="session")
def starts(one_thread):
    """Return the process that forks those of trainings; imports take it several seconds, once."""
    started = Starts(one_thread)
    yield started
    started.close()


@pytest.fixture
def share(starts, program_name, tmp_path):
    """Return a function that lets processes share a tiny training in the folder `run`."""

    def call(count=2, folder=tmp_path, resume=None, program=program_name, **given):
        job = {key: given.pop(key) for key in list(given) if key in JOB}
        words = tiny_words(program, **options_of(program, count, given), out="run", resume=resume)
        found = starts(folder, words, count, program, **{JOB[key]: value for key, value in job.items()})
        return Shared(**found, folder=folder / "run")

    return call


# How the others end when one process has: by themselves or, where torchrun is quicker, by its signals.
ENDED = (1, -signal.SIGTERM, -signal.SIGKILL)
JOB = {
    "own": "own",
    "by_hand": "by hand",
    "like_torchrun": "like torchrun",
    "started": "started",
    "further": "further",
    "environment": "environment",
}


def lost(program):
    """Return what a process says when another one has gone."""
    (known,) = find(program)[1]
    return (
        "error: another process of this training has ended, so this one ends as well; the same command with "
        f"{' '.join(known.words({'resume': 'auto'}))} goes on from the last checkpoint"
    )


def options_of(program, count, settings):
    """Return settings with a batch size that so many processes can share."""
    (known,) = find(program)[1]
    size = known.tiny["batch_size"]
    return {"batch_size": -(-size // count) * count} | settings


class Shared:
    """What processes left behind."""

    def __init__(self, codes, err, out, seconds, cpu, folder):
        self.codes, self.err, self.out, self.seconds, self.cpu = codes, err, out, seconds, cpu
        self.outcome = Outcome(0, "", "", folder)

    def assert_trained(self):
        """Assert that all have ended well, and that only the first one printed."""
        assert not any(self.codes) and not any(self.err), (self.codes, self.err)
        assert self.out[0] and not any(self.out[1:])
        return self.outcome

    def assert_one_error(self, message, codes):
        """Assert that one process wrote one line, and that the job ended in time."""
        assert self.codes == codes, self.err
        text = "".join(self.err)
        assert text.startswith("error: ") and text.count("\n") == 1 and message in text, self.err
        assert self.seconds < 60


# ---- Equal to one process ----

KEYS_WITHOUT_GRADIENT = ("qkv.bias", "queries_keys_values.bias")


def comparable(model):
    """Return the weights that rounding changes little.

    The gradient of the bias of keys is 0, so that Adam follows its rounding errors. Running statistics are
    those of the first process.
    """
    found = {}
    for name, weights in model.items():
        if name.endswith(KEYS_WITHOUT_GRADIENT):
            queries, _, values = weights.chunk(3)
            found |= {f"{name} of queries": queries, f"{name} of values": values}
        elif weights.is_floating_point() and "running" not in name:
            found[name] = weights
    return found


def losses(outcome):
    """Return the training losses of a run by step and name."""
    return {
        (line["step"], name): value
        for line in outcome.metrics
        for name, value in line.items()
        if "loss" in name and not name.startswith(("val", "test"))
    }


def differences(found, expected):
    """Return the largest relative difference of losses, and of weights by the largest of a tensor."""
    ours, theirs = losses(found), losses(expected)
    assert ours.keys() == theirs.keys() and len(ours) > 1
    of_losses = max(abs(ours[key] - value) / abs(value) for key, value in theirs.items())
    ours, theirs = comparable(found.last["model"]), comparable(expected.last["model"])
    assert ours.keys() == theirs.keys()
    of_weights = max(
        ((ours[name] - weights).abs().max() / weights.abs().max().clamp(min=1e-3)).item()
        for name, weights in theirs.items()
    )
    return of_losses, of_weights


def assert_same_form(first, second, where=""):
    """Compare keys, types, dtypes and shapes of two nested states."""
    assert type(first) is type(second), where
    if isinstance(first, torch.Tensor):
        assert (first.dtype, first.shape) == (second.dtype, second.shape), where
    elif isinstance(first, dict):
        assert first.keys() - {"processes"} == second.keys() - {"processes"}, where
        for key in first.keys() & second.keys():
            assert_same_form(first[key], second[key], f"{where}/{key}")
    elif isinstance(first, list | tuple) and "config" not in where:
        assert len(first) == len(second), where
        for index, pair in enumerate(zip(first, second, strict=True)):
            assert_same_form(*pair, f"{where}/{index}")


def as_one(program, count, settings):
    """Return settings with which one process computes what `count` processes do with others.

    Batch normalisation looks at the samples of a process. Small differences grow where a number crosses 0,
    so three processes learn slowly: thirds are rounded. Muon rounds to bf16.
    """
    settings = options_of(program, count, settings)
    if program == "cifar_optimizers":
        parts = count * settings.get("accumulate", 1)
        settings |= {"batch_size": settings["batch_size"] // count, "accumulate": parts}
    return settings


def steady(program, count, settings):
    """Return settings with which rounding errors do not grow.

    They do where a number crosses 0, so a network with such steps learns slowly, unless processes divide by 2
    only. Muon rounds to bf16.
    """
    exact = count == 2 and "accumulate" not in settings
    by_program = {
        "cifar_optimizers": {} if exact else {"seed": 1, "lr": 1e-4 if "precision" in settings else 1e-3},
        "floorplan_diffusion/train_nodes": {"optimizer": "adamw"},
    }
    return by_program.get(program, {}) | settings


@pytest.fixture
def equal_to_one(share, undisturbed, program_name, tiny):
    """Return a function that compares a training of `count` processes with that of one."""

    def compare(count, settings, of_losses, of_weights, **job):
        settings = steady(program_name, count, settings)
        shared = share(count, **settings, **job).assert_trained()
        one = as_one(program_name, count, settings)
        alone = undisturbed(tiny(**{name: value for name, value in one.items() if name != "compile"}))
        found = differences(shared, alone)
        print(f"{program_name}, {count} processes, {settings}: losses {found[0]:.1e}, weights {found[1]:.1e}")
        assert found[0] <= of_losses and found[1] <= of_weights, found
        return shared, alone

    return compare


def test_two_processes_train_as_one(equal_to_one, program_name):
    """Losses and weights are equal to rounding, what is saved has the same form."""
    shared, alone = equal_to_one(2, {}, 1e-6, 1e-4)
    assert_same_form(shared.last, alone.last)
    assert_same(shared.last["random_states"], alone.last["random_states"])
    if program_name == "cifar_optimizers":
        assert differences(shared, alone) == (0, 0)
    files = [{path.relative_to(run.folder) for path in contents(run.folder)} for run in (shared, alone)]
    not_in_all = {Path("curves.png"), Path("checkpoints/previous.pt")}  # not drawn here; when it took longer
    assert files[0] - not_in_all == files[1] - not_in_all
    log = (shared.folder / "train.log").read_text().splitlines()
    assert len(log) == len(set(log)) and any(line.startswith("weights ") for line in log)
    assert "2, " in shared.json("config.json")["processes"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "settings"),
    [
        (3, {}),
        (2, {"accumulate": 2}),
        (3, {"accumulate": 2}),
        (2, {"workers": 2}),
        (3, {"workers": 1, "accumulate": 2}),
    ],
    ids=["three", "accumulate", "three-accumulate", "workers", "three-workers-accumulate"],
)
def test_processes_train_as_one(equal_to_one, count, settings):
    equal_to_one(count, settings, *TO_ROUNDING)


@pytest.mark.long
@pytest.mark.parametrize("count", [2, 3])
def test_processes_train_as_one_in_bf16(equal_to_one, count):
    """Each rounding to 8 bits can differ; of a weight, Adam moves even the noise."""
    equal_to_one(count, {"precision": "bf16"}, 0.01, 0.5)


@pytest.mark.long
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"accumulate": 2}, {"workers": 2}], ids=str)
@pytest.mark.parametrize("program_name", [n for n in modules() if n.startswith("genomic")], indirect=True)
def test_own_loop_of_genomes(equal_to_one, count, settings):
    equal_to_one(count, {"trainer.loop": "plain"} | settings, *TO_ROUNDING)


RANDOM = {
    "two_tower": {"dropout": 0.3, "learn_temperature": True},
    "indicator_transformer": {"size": "origin", "max_steps": 4, "bars": 2000},  # dropout of attention
}


@pytest.mark.parametrize(
    ("program_name", "count"),
    [
        pytest.param("two_tower", 2),
        pytest.param("two_tower", 3, marks=LONG),
        pytest.param("indicator_transformer", 2, marks=LONG),
        pytest.param("indicator_transformer", 3, marks=LONG),
    ],
    indirect=["program_name"],
)
def test_dropout_is_that_of_one_process(equal_to_one, program_name, count):
    equal_to_one(count, RANDOM[program_name], 2e-6, 1e-3)


@pytest.mark.parametrize(
    ("program_name", "fault", "settings"),
    [
        pytest.param("two_tower", "own negatives", {}),
        pytest.param("two_tower", "own draws", {"dropout": 0.3}),
        pytest.param("two_tower", "no averaging", {}),
        pytest.param("two_tower", "repeated", {}),
        pytest.param("floorplan_diffusion/train_edges", "unequal shares", {}),
        pytest.param("floorplan_diffusion/train_edges", "own draws", {}),
        pytest.param("floorplan_diffusion/train_nodes", "own draws", {}),
        pytest.param("genomic_caduceus/pretrain", "unequal shares", {}, marks=pytest.mark.long),
        pytest.param("cifar_optimizers", "repeated", {}, marks=pytest.mark.long),
    ],
    indirect=["program_name"],
)
def test_planted_faults_are_found(equal_to_one, fault, settings):
    """The negative control of the tests above."""
    with pytest.raises(AssertionError) as found:
        equal_to_one(2, settings, 1e-4, 1e-2, own=[[fault], [fault]])
    assert "(0." in str(found.value), "not a difference, but a failure"


@pytest.mark.parametrize(
    "program_name",
    [CHEAP, "genomic_caduceus/pretrain", pytest.param("indicator_transformer", marks=LONG)],
    indirect=True,
)
def test_the_first_process_may_compile_before_the_others(equal_to_one):
    """To compare, it computes a loss; the others wait, so it must not ask for their rows."""
    equal_to_one(2, {"compile": True, "max_steps": 12}, 1e-6, 1e-4, own=[["compares"]] * 2)


# ---- Nothing is lost ----

SAVING = ["save often"]


def only_cheap():
    """Parametrize a test with the cheapest program, for long tests with all."""
    names = [pytest.param(CHEAP, id=CHEAP)]
    names += [pytest.param(name, marks=LONG, id=name) for name in modules() if name != CHEAP]
    return pytest.mark.parametrize("program_name", names, indirect=True)


@only_cheap()
@pytest.mark.parametrize("killed", [0, 1], ids=["first", "second"])
def test_a_kill_ends_all_and_a_start_continues(share, program_name, killed):
    own = [SAVING, SAVING]
    own[killed] = [*SAVING, "killed at 7"]
    broken = share(own=own, like_torchrun=True)
    survivor = broken.codes[1 - killed]
    assert survivor in ENDED
    codes = [survivor, survivor]
    codes[killed] = -signal.SIGKILL
    broken.assert_one_error(lost(program_name), codes)
    assert broken.seconds < 30
    resumed = share(own=[SAVING, SAVING], resume="auto")
    whole = share(folder=other(resumed), own=[SAVING, SAVING])
    resumed.assert_trained().assert_same_as(whole.assert_trained())


def other(shared):
    """Return another working folder."""
    folder = shared.outcome.folder.parent / "other"
    folder.mkdir()
    return folder


@only_cheap()
@pytest.mark.parametrize("stopped", [0, 1], ids=["first", "second"])
def test_a_signal_to_one_stops_all(share, stopped):
    own = [[], []]
    own[stopped] = ["terminated at 5"]
    run = share(own=own)
    assert (run.codes, run.err) == ([143, 143], ["", ""])
    assert run.outcome.last["step"] == 5
    assert run.outcome.json("heartbeat.json")["status"] == "interrupted"
    assert "stopped by SIGTERM after step 5 of " in run.out[0]
    assert "to go on: torchrun --nproc-per-node 2 " in run.out[0] and not run.out[1]
    resumed = share(resume="run", folder=run.outcome.folder.parent)
    resumed.assert_trained().assert_same_as(share(folder=other(run)).assert_trained())
    again = share(resume="auto")
    assert (again.codes, again.err, again.out) == (
        [0, 0],
        ["", ""],
        ["run is finished; see run/summary.json\n", ""],
    )


@only_cheap()
@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (2, 3), (3, 2)])
def test_another_number_of_processes_goes_on(share, program_name, before, after):
    """The checkpoint of some processes is continued by more or fewer, with the same result to rounding."""
    if program_name == "cifar_optimizers":
        pytest.skip("its batch normalisation looks at the samples of a process")
    settings = steady(program_name, 3, options_of(program_name, 6, {}))
    whole = share(1, **settings)
    folder = other(whole)
    stopped = share(before, folder=folder, own=[["terminated at 5"]] * before, **settings)
    assert stopped.codes == [143] * before
    resumed, whole = share(after, folder=folder, resume="auto", **settings).assert_trained(), whole.outcome
    of_losses, of_weights = differences(resumed, whole)
    assert of_losses < TO_ROUNDING[0] and of_weights < TO_ROUNDING[1], (of_losses, of_weights)
    assert_same_form(resumed.last, whole.last)


# ---- Bad input ----


@pytest.mark.parametrize("program_name", [CHEAP], indirect=True)
class TestMistakes:
    """Each is answered with one line, by one of the processes, and no process waits for ever."""

    def test_a_batch_that_cannot_be_shared(self, share):
        message = "--batch-size 33 cannot be shared evenly by 2 processes; use --batch-size 34"
        share(batch_size=33).assert_one_error(message, [2, 1])

    def test_an_unknown_option(self, share):
        share(further=[["--nonsense"]] * 2).assert_one_error("unknown option '--nonsense'", [2, 2])

    def test_options_that_differ(self, share):
        run = share(further=[[], ["--seed", "3"]])
        run.assert_one_error("the command line differs: ", [2, 2])
        assert not run.outcome.folder.exists()

    def test_an_option_that_only_one_does_not_know(self, share):
        run = share(further=[[], ["--nonsense"]], like_torchrun=True)
        stopped = run.codes[0]
        assert stopped in ENDED
        run.assert_one_error("unknown option '--nonsense'", [stopped, 2])

    def test_another_pytorch(self, share):
        run = share(own=[[], ["other PyTorch"]])
        run.assert_one_error("PyTorch differs: ", [2, 2])
        assert "2.0.0 in process 1 on " in "".join(run.err)

    def test_a_folder_that_only_one_sees(self, share):
        share(own=[[], ["terminated at 5"]])
        run = share(resume="auto", own=[[], ["other place"]])
        run.assert_one_error("does not see the run folder run; all processes need it, on a disk", [1, 2])
        share(resume="auto").assert_trained()

    def test_several_processes_on_mps(self, share):
        share(device="mps").assert_one_error("mps", [2, 1])

    def test_cuda_without_nccl(self, share):
        run = share(device="cuda", own=[["a GPU", "no NCCL"]] * 2)
        run.assert_one_error("this PyTorch has no NCCL, which several GPUs need; use --device cpu", [2, 1])

    @pytest.mark.parametrize("by_hand", [False, True], ids=["torchrun", "by-hand"])
    def test_a_process_that_is_missing(self, share, by_hand):
        run = share(started=1, own=[["impatient"]], by_hand=by_hand)
        assert run.codes == [2] and run.seconds < 30
        assert run.err[0].splitlines()[-1].startswith("error: the processes do not find each other: ")

    @pytest.mark.parametrize("who", [0, 1])
    def test_a_process_that_dies_at_once(self, share, who):
        own = [["impatient"], ["impatient"]]
        own[who] = ["impatient", "killed at once"]
        run = share(own=own)
        assert run.codes[who] == -signal.SIGKILL and run.codes[1 - who] == 2 and run.seconds < 30
        assert run.err[1 - who].splitlines()[-1].startswith("error: the processes do not find each other: ")

    def test_torchrun_need_not_wait_for_the_others(self, share):
        """They are not yet in a training that they could save, so its signal ends them."""
        run = share(own=[[], ["killed late"]], like_torchrun=True)
        assert (run.codes, run.err) == ([-signal.SIGTERM, -signal.SIGKILL], ["", ""])
        assert run.seconds < 30

    def test_a_port_that_is_in_use(self, share):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # it does not listen: what does not answer would be waited for
            environment = {"MASTER_PORT": str(taken.getsockname()[1])}
            run = share(own=[["impatient"]] * 2, by_hand=True, environment=environment)
        assert run.codes == [2, 2] and run.seconds < 60
        for err in run.err:
            assert err.splitlines()[-1].startswith("error: the processes do not find each other: ")


# ---- torchrun ----


@pytest.fixture
def torchrun(one_thread, tmp_path):
    """Return a function that starts torchrun with a tiny training in the folder `run`."""
    started = []

    def call(*options, name=CHEAP, count=2, folder=tmp_path, **settings):
        script = FOLDER / (f"{name}.py" if "/" in name else f"{name}/train.py")
        words = tiny_words(name, **options_of(name, count, settings), out="run")
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count), *options]
        environment = one_thread | {"PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(folder)}
        with (folder / "out").open("a") as out, (folder / "err").open("a") as err:
            started.append(
                subprocess.Popen(
                    [*command, script, *words], cwd=folder, env=environment, stdout=out, stderr=err
                )
            )
        return started[-1]

    yield call
    for process in started:
        if process.poll() is None:
            process.terminate()  # which ends its processes; those of a killed one would go on
            process.wait(60)


def processes_of(torchrun):
    """Return the numbers of the processes that torchrun has started, in their order."""
    found = {}
    for number in Path(f"/proc/{torchrun.pid}/task/{torchrun.pid}/children").read_text().split():
        try:
            variables = Path(f"/proc/{number}/environ").read_bytes().decode().split("\0")
        except OSError:
            continue
        ranks = [text.partition("=")[2] for text in variables if text.startswith("RANK=")]
        found |= {int(rank): int(number) for rank in ranks}
    return [number for _, number in sorted(found.items())]


def wait_for_lines(torchrun, folder, count):
    """Wait until there are so many lines of metrics."""
    metrics, deadline = folder / "run" / "metrics.jsonl", time.monotonic() + 240
    while not metrics.exists() or metrics.read_text().count("\n") < count:
        assert torchrun.poll() is None and time.monotonic() < deadline, (folder / "err").read_text()
        time.sleep(0.01)


def own_errors(folder):
    """Return the lines of errors that are ours; torchrun adds its own."""
    return [line for line in (folder / "err").read_text().splitlines() if line.startswith("error:")]


@pytest.fixture
def ignoring_sighup():
    """Let what is started ignore SIGHUP, as `nohup` does."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGHUP, before)


LONGER = {"epochs": 60}  # after a first checkpoint, there is time for a kill
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="needs /proc to find processes"
)


@needs_proc
@pytest.mark.long
def test_torchrun_starts_again_after_a_kill(torchrun, starts, tmp_path):
    """And the run ends as that of two processes that nobody killed."""
    started = torchrun("--max-restarts", "2", resume="auto", **LONGER)
    wait_for_lines(started, tmp_path, 9)
    os.kill(processes_of(started)[1], signal.SIGKILL)
    assert started.wait(240) == 0, (tmp_path / "err").read_text()
    assert own_errors(tmp_path) == [lost(CHEAP)]
    out = (tmp_path / "out").read_text().splitlines()
    assert len([line for line in out if line.startswith("continuing after step ")]) <= 1
    assert len([line for line in out if line.startswith("done ")]) == 1
    other = tmp_path / "other"
    other.mkdir()
    words = tiny_words(CHEAP, **LONGER, out="run")
    assert starts(other, words, 2, CHEAP)["codes"] == [0, 0]
    found, whole = (Outcome(0, "", "", folder / "run") for folder in (tmp_path, other))
    found.assert_same_as(whole)


@needs_proc
@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", list(modules()))
@pytest.mark.parametrize("workers", [None, 2], ids=["no-workers", "workers"])
@pytest.mark.parametrize("whom", ["first", "second", "torchrun"])
def test_torchrun_is_terminated(torchrun, tmp_path, name, workers, whom):
    """Whoever gets the signal, all stop after the same step, and the next start goes on."""
    started = torchrun(name=name, workers=workers, epochs=300)
    wait_for_lines(started, tmp_path, 3)
    number = started.pid if whom == "torchrun" else processes_of(started)[whom == "second"]
    os.kill(number, signal.SIGTERM)
    assert started.wait(60) != 0
    outcome = Outcome(0, "", "", tmp_path / "run")
    assert outcome.json("heartbeat.json")["status"] == "interrupted"
    out = (tmp_path / "out").read_text().splitlines()
    assert len(out) == len(set(out))  # each line once
    assert [line for line in out if f"stopped by SIGTERM after step {outcome.last['step']} of " in line]
    assert own_errors(tmp_path) == []
    assert not (tmp_path / "run" / "train.pid").exists()


@needs_proc
@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", list(modules()))
@pytest.mark.parametrize("workers", [None, 2], ids=["no-workers", "workers"])
@pytest.mark.parametrize("killed", [0, 1], ids=["first", "second"])
def test_a_killed_process_ends_torchrun(torchrun, tmp_path, name, workers, killed):
    started = torchrun(name=name, workers=workers, epochs=300)
    wait_for_lines(started, tmp_path, 3)
    os.kill(processes_of(started)[killed], signal.SIGKILL)
    assert started.wait(60) == 1
    assert own_errors(tmp_path) == [lost(name)]


@needs_proc
@pytest.mark.long
@pytest.mark.parametrize("survives", [False, True])
def test_closed_terminal_under_nohup(torchrun, tmp_path, ignoring_sighup, survives):
    """Torchrun handles SIGHUP itself unless it is told which signals to handle."""
    options = ["--signals-to-handle", "SIGTERM,SIGINT"] if survives else []
    started = torchrun(*options, epochs=300)
    wait_for_lines(started, tmp_path, 3)
    os.kill(started.pid, signal.SIGHUP)
    if survives:
        time.sleep(5)
        assert started.poll() is None
    else:
        assert started.wait(60) != 0
