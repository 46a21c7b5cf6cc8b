"""The benchmark as a program, with a system of a few milliseconds: rows, files, errors, interruptions."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from examples import benchmark
from examples.benchmarking import child, options
from snippets.errors import exit_with_one_line

pytestmark = pytest.mark.unmeasured

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ON_CPU = ["--levels", "cpu,cpu+bf16,cpu+compile"]
SHORT = ["--warm-up", "3", "--steps", "4"]
IN_PROCESSES = """
import sys
from examples import benchmark
from examples.benchmarking import options
options.modules = benchmark.modules = lambda: {"fake_system": "fake_system"}
sys.exit(benchmark.main(sys.argv[1:]))
"""


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return a function that runs the benchmark of the fake system, its levels in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(HERE)
    for module in (options, benchmark):
        monkeypatch.setattr(module, "modules", lambda: {"fake_system": "fake_system"})
    monkeypatch.setattr(
        benchmark, "run_in_child", lambda job: child.run_job(child.Job.from_json(job.to_json()))
    )

    def call(*words):
        code = exit_with_one_line(benchmark.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err

    return call


@pytest.fixture
def start():
    """Return a function that starts the benchmark of the fake system with real child processes."""
    started = []

    def begin(*words):
        paths = os.pathsep.join([str(ROOT), str(HERE)])
        process = subprocess.Popen(
            [sys.executable, "-c", IN_PROCESSES, "fake_system", *map(str, words)],
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def rows(lines):
    """Return the lines of the table by level."""
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("level ")) + 1 :]
    return {line.split()[0]: line for line in table}


def test_every_level_has_speed_and_loss(run):
    code, lines, _ = run("fake_system", *ON_CPU, *SHORT)
    table = rows(lines)
    assert code == 0
    assert list(table) == ["cpu", "cpu+bf16", "cpu+compile"]
    assert "1.00×" in table["cpu"]
    assert len({line.split()[-1] for line in table.values()}) == 1  # the same loss at every level
    assert lines[0] == "system     fake_system"
    assert "steps      3 not counted, then 4 readings of the clock" in lines


def test_unavailable_levels_give_a_reason_and_no_speed(run, tmp_path):
    words = ["--bf16", "refuse", "--fp16", "oom", "--compiled", "raise"]
    code, lines, _ = run(
        "fake_system", "--levels", "cpu,mps,cpu+bf16,cpu+fp16,cpu+compile", *SHORT, *words, "--json", "b.json"
    )
    table = rows(lines)
    assert code == 0
    assert "not available: only Macs have it" in table["mps"] or sys.platform == "darwin"
    assert table["cpu+bf16"].endswith("not available: precision bf16 cannot be used")
    assert table["cpu+fp16"].endswith("not available: out of memory; try a smaller batch (--batch-sizes)")
    assert table["cpu+compile"].endswith("not available: RuntimeError: a compiler gave up")
    assert [line.count("×") for line in table.values()][:1] == [1]
    assert all("×" not in table[name] for name in ("cpu+bf16", "cpu+fp16", "cpu+compile"))
    records = {record["level"]: record for record in json.loads(Path("b.json").read_text())["rows"]}
    assert records["cpu"]["status"] == "measured"
    assert records["cpu+bf16"]["status"] == "unavailable"
    assert records["cpu+fp16"]["status"] == "failed"
    assert all("speed_up" not in records[name] for name in ("cpu+bf16", "cpu+fp16", "cpu+compile"))


@pytest.mark.parametrize("fault", ["nan", "frozen"])
def test_a_level_that_learns_something_else_is_marked(run, fault):
    code, lines, _ = run("fake_system", *ON_CPU, "--warm-up", "3", "--steps", "30", "--bf16", fault)
    table = rows(lines)
    assert code == 0
    assert table["cpu+bf16"].endswith(" differs")
    assert not table["cpu+compile"].endswith(" differs")
    assert lines[-1].startswith("differs ")


def test_the_first_measured_level_is_the_reference(run):
    _, lines, _ = run("fake_system", *ON_CPU, *SHORT, "--fp32", "refuse")
    table = rows(lines)
    assert "not available" in table["cpu"]
    assert "1.00×" in table["cpu+bf16"]
    code, _, error = run("fake_system", "--levels", "cpu", "--fp32", "refuse")
    assert (code, error) == (1, "error: no level could be measured; the reasons are above\n")


def test_the_json_file_says_what_was_measured_and_where(run):
    code, _, _ = run("fake_system", *ON_CPU, *SHORT, "--batch-sizes", "8,16", "--json", "b.json")
    content = json.loads(Path("b.json").read_text())
    assert code == 0
    assert content["plan"] == {"warm_up": 3, "readings": 4}
    assert not content["interrupted"]
    assert content["machine"].keys() >= {"chip", "cpu_cores", "memory_gb", "gpu", "power", "variables"}
    assert content["provenance"].keys() >= {"python", "torch", "command", "cpu_threads", "started_at"}
    assert [(row["batch_size"], row["level"]) for row in content["rows"]] == [
        (size, level) for size in (8, 16) for level in ("cpu", "cpu+bf16", "cpu+compile")
    ]
    for row in content["rows"]:
        assert len(row["seconds"]) == 4 and len(row["losses"]) == 7
        assert row["low_s"] <= row["median_s"] <= row["high_s"]
        assert row["samples_per_s"] == pytest.approx(row["batch_size"] / row["median_s"])
        assert row["samples_per_step"] == row["batch_size"]
    for first, *others in (content["rows"][:3], content["rows"][3:]):  # compared within a batch size
        assert first["speed_up"] == 1.0
        for row in others:
            assert row["speed_up"] == pytest.approx(row["samples_per_s"] / first["samples_per_s"])


def test_quick_is_short_and_reaches_the_system(run):
    run("fake_system", "--levels", "cpu", "--quick", "--json", "b.json")
    content = json.loads(Path("b.json").read_text())
    assert content["words"] == ["--quick"]
    assert content["plan"] == {"warm_up": 2, "readings": 5}


def test_a_chart_is_drawn(run):
    code, lines, _ = run("fake_system", *ON_CPU, *SHORT, "--bf16", "oom", "--chart", "b.png")
    assert code == 0 and lines[-1] == "chart      b.png"
    assert Path("b.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nanogpt"], "unknown system 'nanogpt'; name one first: fake_system"),
        (["--quick"], "unknown system '--quick'; name one first: fake_system"),
        (["fake_system", "--levels", "gpu"], "unknown level 'gpu'; write a device (cpu, mps, cuda)"),
        (["fake_system", "--levels", "cpu,cpu"], "a level is there twice"),
        (["fake_system", "--wokers", "2"], "unknown option '--wokers'; options: --help --fp32"),
        (["fake_system", "--wokers", "2"], "of the benchmark: --help --levels"),
        (["fake_system", "--steps", "1"], "--steps: must be a whole number from 2 to 10000, not '1'"),
        (["fake_system", "--batch-sizes", "16,x"], "--batch-sizes: must be a whole number from 1 to 1000000"),
        (
            ["fake_system", "--batch-sizes", "16", "--batch-size", "8"],
            "--batch-size is decided by the benchmark; use --b",
        ),
        (["fake_system", "--device", "cpu"], "--device is decided by the benchmark; use --levels"),
        (["fake_system", "--max-steps", "9"], "--max-steps is decided by the benchmark; use --steps"),
        (["fake_system", "--json", "no/such/b.json"], "there is no folder"),
        (["fake_system", "--json", "taken"], "taken is a folder; name a file"),
        (["fake_system", "--chart", "b.jpeg"], "the name must end in .png or .svg or .pdf"),
    ],
)
def test_mistakes_are_one_line_before_anything_runs(run, tmp_path, words, message):
    (tmp_path / "taken").mkdir()
    code, lines, error = run(*words)
    assert code == 2 and lines == []
    assert error.count("\n") == 1 and message in error


def test_a_file_that_cannot_be_written_is_one_line(run, monkeypatch):
    def fail(path, value):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(benchmark, "replace_json", fail)
    code, _, error = run("fake_system", "--levels", "cpu", *SHORT, "--json", "b.json")
    assert code == 1
    assert error.startswith("error: cannot write ") and error.count("\n") == 1


@pytest.mark.program
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)], ids=["SIGINT", "SIGTERM"]
)
def test_crash_or_interruption_costs_one_row(start, tmp_path, number):
    target = tmp_path / "b.json"
    faults = ["--bf16", "segfault", "--fp16", "hang"]
    process = start("--levels", "cpu+bf16,cpu,cpu+fp16", *SHORT, *faults, "--json", target)
    crashed = ""
    for line in process.stdout:
        crashed = line if line.startswith("cpu+bf16") else crashed
        if "1.00×" in line:
            break
    assert "not available: the process was ended by SIGSEGV" in crashed
    hanging = wait_for(lambda: children_of(process.pid))
    process.send_signal(number)
    printed, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert printed.splitlines()[0] == "interrupted: the levels above are complete"
    assert wait_for(lambda: not any(alive(pid) for pid in hanging))
    content = json.loads(target.read_text())
    assert content["interrupted"]
    assert [(row["level"], row["status"]) for row in content["rows"]] == [
        ("cpu+bf16", "failed"),
        ("cpu", "measured"),
    ]


@pytest.mark.long
def test_a_killed_benchmark_leaves_no_child_behind(start):
    process = start("--levels", "cpu", "--fp32", "hang")
    hanging = wait_for(lambda: children_of(process.pid))
    time.sleep(4)  # PyTorch is imported by then, and the watching thread runs
    process.kill()
    assert wait_for(lambda: not any(alive(pid) for pid in hanging))


def children_of(pid):
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def alive(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.startswith("Z")


def wait_for(condition, seconds=30):
    """Return what `condition()` returns as soon as it is true; fail after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    pytest.fail(f"not within {seconds} s")
