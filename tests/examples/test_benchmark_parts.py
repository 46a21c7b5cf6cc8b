"""The parts of the benchmark: levels, timed steps, the comparison of losses, machine, chart."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from examples.benchmarking import chart, child, levels, machine, steps
from examples.benchmarking.chart import draw_chart, speeds
from examples.benchmarking.child import Job
from examples.benchmarking.levels import Level, default_levels, parse_level, parse_levels
from examples.benchmarking.options import check_words, read_options
from examples.benchmarking.report import Row, add_row, last_loss, line, losses_differ
from examples.benchmarking.run_in_child import cause_of_death
from examples.benchmarking.steps import Plan, Steps, time_steps
from snippets.errors import UsageError


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("cpu", Level("cpu")),
        ("mps+bf16", Level("mps", "bf16")),
        ("cuda+fp16+compile", Level("cuda", "fp16", True)),
        ("mps+compile", Level("mps", "fp32", True)),
        ("cpu+fused+channels-last", Level("cpu", switches=("fused", "channels-last"))),
    ],
)
def test_levels_are_written_as_they_are_read(text, level):
    assert parse_level(text) == level
    assert level.name == text


@pytest.mark.parametrize(
    "text", ["", "gpu", "mps+", "mps+bf16+bf16", "cpu+fp16+bf16", "cpu+int8", "bf16", "cpu+fused+fused"]
)
def test_other_words_are_no_levels(text):
    with pytest.raises(UsageError, match=r"unknown level .*mps\+bf16\+compile"):
        parse_level(text)


def test_levels_keep_their_order():
    assert [level.name for level in parse_levels("mps, cpu,mps+bf16")] == ["mps", "cpu", "mps+bf16"]


@pytest.mark.parametrize(
    ("present", "system", "expected"),
    [
        ("mps", "Darwin", "cpu mps mps+bf16 mps+bf16+compile"),
        ("cuda", "Linux", "cpu cuda cuda+bf16 cuda+bf16+compile"),
        (None, "Linux", "cpu cpu+bf16 cpu+compile mps cuda"),
        (None, "Darwin", "cpu cpu+bf16 cpu+compile mps"),
    ],
)
def test_what_is_compared_depends_on_the_machine(monkeypatch, present, system, expected):
    obstacles = {
        name: (lambda name=name: None if name in ("cpu", present) else "not here") for name in levels.DEVICES
    }
    monkeypatch.setattr(levels, "OBSTACLES", obstacles)
    monkeypatch.setattr(levels.platform, "system", lambda: system)
    assert " ".join(level.name for level in default_levels()) == expected


def test_a_level_is_given_to_the_system_as_options():
    assert Level("mps", "bf16", True).options() == {"device": "mps", "precision": "bf16", "compile": True}
    assert Level("cpu").options() == {"device": "cpu", "precision": "fp32"}


def test_job_round_trips_and_decides_some_options():
    job = Job("m", ["--width", "8"], Level("cpu", "bf16", True), Plan(2, 5), batch_size=32)
    assert Job.from_json(job.to_json()) == job
    decided = {"device": "cpu", "precision": "bf16", "compile": True, "epochs": 52, "max_steps": 52}
    assert job.options({"width": 8, "batch_size": 16}) == {"width": 8, "batch_size": 32} | decided


class Counting:
    """A task on a simulated clock whose steps take a known time; its losses are the step numbers."""

    samples_per_step = 8

    def __init__(self, monkeypatch, seconds, batches_per_epoch=4):
        self.state = SimpleNamespace(device=torch.device("cpu"))
        self.seconds, self.batches_per_epoch = iter(seconds), batches_per_epoch
        self.now, self.step, self.epochs = 0.0, 0, []
        monkeypatch.setattr(steps.time, "perf_counter", lambda: self.now)

    def begin_epoch(self, epoch):
        pass

    def batches(self, epoch, first):
        self.epochs.append((epoch, first))
        for _ in range(self.batches_per_epoch):
            self.now += 0.001  # the loader
            yield epoch

    def learn(self, batch):
        self.now += next(self.seconds)
        self.step += 1
        return torch.tensor([float(self.step), 0.5])


def test_long_steps_are_timed_singly_across_epochs(monkeypatch):
    task = Counting(monkeypatch, [9.0, 0.5, 0.1, 0.2, 0.3, 0.4, 0.5])
    result = time_steps(task, Plan(warm_up=2, readings=5))
    assert result["seconds"] == pytest.approx([0.101, 0.201, 0.301, 0.401, 0.501])
    assert result["steps_per_reading"] == 1
    assert result["first_step_s"] == pytest.approx(9.001)
    assert result["samples_per_s"] == pytest.approx(8 / 0.301)
    assert result["data_share"] == pytest.approx(0.005 / 1.505)
    assert result["losses"] == [1, 2, 3, 4, 5, 6, 7]
    assert task.epochs == [(0, 0), (1, 0)]


def test_short_steps_are_grouped_and_compared_equally(monkeypatch):
    task = Counting(monkeypatch, [0.001] * 100)
    result = time_steps(task, Plan(warm_up=2, readings=3))
    assert task.step == Plan(2, 3).most_steps == 32
    assert result["steps_per_reading"] == 10
    assert result["seconds"] == pytest.approx([0.002] * 3)
    assert result["losses"] == [1, 2, 3, 4, 5]  # of the steps that a slow level takes as well
    assert result["memory_mb"] > 0


def test_device_is_synchronized_before_the_clock_is_read(monkeypatch):
    task = Counting(monkeypatch, [0.1] * 3)
    monkeypatch.setattr(steps, "synchronize", lambda device: setattr(task, "now", task.now + 1))
    assert Steps(task, task.batches(0, 0)).timed(2) == pytest.approx(2 * 0.101 + 1)


def test_work_from_before_does_not_count_as_a_step(monkeypatch):
    """The device has 5 s of work left when timing begins, such as copying the data to it."""
    task, left = Counting(monkeypatch, [0.1] * 3), [5.0]
    monkeypatch.setattr(
        steps, "synchronize", lambda device: setattr(task, "now", task.now + (left.pop() if left else 0))
    )
    assert time_steps(task, Plan(warm_up=1, readings=2))["first_step_s"] == pytest.approx(0.101)


@pytest.mark.parametrize(
    ("losses", "differ"),
    [
        ([1.00] * 10, False),
        ([1.04] * 10, False),
        ([1.06] * 10, True),
        ([0.90] * 10, True),
        ([float("nan")] * 10, True),
        ([1.0] * 9 + [float("inf")], True),
        ([1.04] + [9.0] * 20 + [1.0] * 10, False),  # the first and the last ten count
        ([1.06] + [1.0] * 20, True),
    ],
)
def test_losses_without_noise_may_differ_by_five_percent(losses, differ):
    assert losses_differ([1.0] * 10, losses) is differ


def test_equal_losses_never_differ():
    assert not losses_differ([0.0] * 10, [0.0] * 10)


def test_noisy_losses_may_differ_by_three_standard_errors():
    noisy = [0.5, 1.5] * 5  # variance 0.2778: the error of a difference of two such means is 0.2357
    assert not losses_differ([1.0, *noisy], [1.0, *(value + 0.70 for value in noisy)])
    assert losses_differ([1.0, *noisy], [1.0, *(value + 0.72 for value in noisy)])
    assert last_loss([100.0, *noisy]) == pytest.approx(1.0)


def measured(level, milliseconds, batch_size=None, workers=None, loss=1.0):
    seconds = [ms / 1e3 for ms in milliseconds]
    job = Job("m", [], level, Plan(), batch_size, workers)
    samples = batch_size or 8
    return job, {
        "status": "measured",
        "seconds": seconds,
        "steps_per_reading": 1,
        "samples_per_step": samples,
        "samples_per_s": samples / sorted(seconds)[len(seconds) // 2],
        "start_s": 1.5,
        "data_share": 0.25,
        "memory_mb": 512.0,
        "peak_mb": None,
        "losses": [loss] * 10,
    }


def test_a_row_of_the_table():
    rows = []
    add_row(rows, *measured(Level("cpu"), [30, 40, 50]))
    row = add_row(rows, *measured(Level("mps", "bf16"), [9, 10, 11]))
    expected = "mps+bf16 8 10.000 9.200 to 10.800 800.0 4.00× 1.5 s 25% 512 MB 1.0000"
    assert line(row).split() == expected.split()
    add_row(rows, *measured(Level("mps"), [9, 10, 11], workers=2))
    assert line(rows[-1]).split()[:4] == ["mps", "8", "2", "10.000"]
    add_row(rows, *measured(Level("mps"), [9, 10, 11], loss=2.0))
    assert line(rows[-1]).endswith("2.0000 differs")


def test_row_without_time_shows_only_the_batch_size():
    job = Job("m", [], Level("mps"), Plan(), 64)
    row = add_row([], job, {"status": "unavailable", "reason": "only Macs have it"})
    assert line(row).split() == ["mps", "64", "not", "available:", "only", "Macs", "have", "it"]
    assert row.speed_up is None


@pytest.fixture
def drawn(monkeypatch):
    """Return the list of the figures that would have been saved."""
    figures = []
    monkeypatch.setattr(chart.Figure, "savefig", lambda figure, *_, **__: figures.append(figure))
    return figures


def test_speeds_turn_the_quantiles_round():
    job, result = measured(Level("cpu"), [10, 20, 40])
    middle, slow, fast = speeds(Row(job, result))
    assert (middle, slow, fast) == pytest.approx((8 / 0.020, 8 / 0.036, 8 / 0.012))


@pytest.mark.parametrize(("sweep", "label"), [("batch_size", "batch size"), ("workers", "worker processes")])
def test_a_sweep_becomes_a_line_for_each_level(tmp_path, drawn, sweep, label):
    rows = []
    for place in (2, 4, 8):
        for level in (Level("cpu"), Level("mps")):
            add_row(rows, *measured(level, [30, 40, 50], **{sweep: place}))
    draw_chart(rows, tmp_path / "x.png", "title")
    axes = drawn[0].axes[0]
    assert axes.get_xlabel() == label
    assert [line.get_label() for line in axes.get_lines()] == ["cpu", "mps"]
    assert list(axes.get_lines()[0].get_xdata()) == [2, 4, 8]


def test_bars_name_what_is_missing(tmp_path, drawn):
    rows = []
    add_row(rows, *measured(Level("cpu"), [30, 40, 50]))
    add_row(rows, Job("m", [], Level("mps"), Plan()), {"status": "failed", "reason": "no"})
    add_row(rows, *measured(Level("cpu", "bf16"), [9, 10, 11], loss=2.0))
    draw_chart(rows, tmp_path / "x.png", "title")
    texts = [text.get_text().strip() for text in drawn[0].axes[0].texts]
    assert texts == ["1.00×", "not available", "4.00×, loss differs"]
    assert [tick.get_text() for tick in drawn[0].axes[0].get_yticklabels()] == ["cpu", "mps", "cpu+bf16"]


@pytest.mark.parametrize(
    ("code", "complaints", "expected"),
    [
        (
            -9,
            "",
            "the process was ended by SIGKILL; the system ends processes like that when memory runs out: "
            "it said nothing",
        ),
        (-11, "a\nlast words\n", "the process was ended by SIGSEGV: last words"),
        (3, "why", "the process ended with exit code 3: why"),
    ],
)
def test_how_a_child_died(code, complaints, expected):
    assert cause_of_death(code, complaints) == expected


def test_a_mac_tells_its_chip_and_power_source(monkeypatch):
    answers = {
        "sysctl -n machdep.cpu.brand_string": "Apple M2\n",
        "sysctl -n hw.memsize": "17179869184\n",
        "pmset -g batt": "Now drawing from 'Battery Power'\n -InternalBattery-0\t87%; discharging",
    }
    monkeypatch.setattr(machine.platform, "system", lambda: "Darwin")
    run = lambda command, **_: SimpleNamespace(stdout=answers[" ".join(command)])  # noqa: E731
    monkeypatch.setattr(machine.subprocess, "run", run)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "get_core_count", lambda: 10, raising=False)
    monkeypatch.setenv("PYTORCH_ENABLE_MPS_FALLBACK", "1")
    found = machine.machine()
    assert (found["chip"], found["memory_gb"], found["power"]) == ("Apple M2", 17.2, "Battery Power")
    assert found["gpu"] == "10 GPU cores"
    assert found["variables"]["PYTORCH_ENABLE_MPS_FALLBACK"] == "1"


def test_commands_that_are_missing_leave_gaps(monkeypatch):
    def run(command, **_):
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(machine.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(machine.subprocess, "run", run)
    assert machine.chip_and_memory() == ("", 0)
    assert machine.power_source() is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_linux_tells_its_chip_and_memory():
    chip, memory = machine.chip_and_memory()
    model = subprocess.run(
        ["grep", "-m1", "model name", "/proc/cpuinfo"], capture_output=True, text=True
    ).stdout
    assert chip == model.partition(":")[2].strip()
    assert memory > 1e9
    assert machine.power_source() is None


def test_compiled_levels_need_a_compiled_task():
    task = SimpleNamespace(facts={"compile": "not compiled: wrong values"})
    assert child.why_not_compiled(task) == "wrong values"
    task.facts["compile"] = "compiled by inductor into 1 graph"
    assert child.why_not_compiled(task) is None


# ---- The words of a system ----


def test_the_words_of_a_system_are_its_own():
    quick = read_options(["genomic_caduceus/train", "--quick", "experiment=hg38/pretrain"])
    assert quick.words == ["experiment=hg38/pretrain", "++quick=true"]
    check_words(quick)  # what a file sets was not typed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("device=cpu", "device is decided by the benchmark; use --levels"),
        ("+trainer.max_steps=3", "max_steps is decided by the benchmark; use --steps"),
        (
            "--batch-sizes 4 ++dataset.batch_size=3",
            "batch_size is decided by the benchmark; use --batch-sizes",
        ),
    ],
)
def test_options_decided_by_the_benchmark_are_refused(words, message):
    with pytest.raises(UsageError, match=f"^{message}$"):
        check_words(read_options(["genomic_caduceus/train", *words.split()]))
