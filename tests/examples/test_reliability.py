"""Real runs that are killed, run out of disk, find damaged files or each other, and what is left of them."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from examples.cifar_optimizers import train
from snippets import checkpoints

pytestmark = pytest.mark.usefixtures("without_curves")
# What all programs share is tried with one of them.
one_program = pytest.mark.parametrize("program_name", ["cifar_optimizers"], indirect=True)

SCRIPT = Path(train.__file__)
TINY = shlex.split(
    "--device cpu --data synthetic --image-size 8 --width 2 --data-fraction 0.1 --batch-size 50 --epochs 3"
)
LONG = shlex.split(
    "--data synthetic --image-size 8 --width 4 --data-fraction 0.2 --batch-size 16 --epochs 3 --device cpu"
)


def start(folder, environment, *options):
    """Start train.py in `folder` and return the process once it has trained for at least 30 steps."""
    command = [sys.executable, str(SCRIPT), *LONG, "--out", "run", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=folder, env=environment, **pipes)
    metrics, deadline = folder / "run" / "metrics.jsonl", time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if metrics.exists() and metrics.read_text().count("\n") >= 3:
            break
        time.sleep(0.01)
    return process


@one_program
@pytest.mark.parametrize(
    "number",  # test_contract.py sends the first two to every program, within the process of the test
    [*(pytest.param(n, marks=pytest.mark.long) for n in (signal.SIGINT, signal.SIGTERM)), signal.SIGKILL],
)
def test_a_real_process_is_stopped_and_continued(run_train, tmp_path, one_thread, undisturbed, number):
    """While it trains, a second process is refused; then the run continues, whatever the heartbeat says."""
    process = start(tmp_path, one_thread)
    process.send_signal(signal.SIGSTOP)  # it sleeps, and so cannot end too early
    second = run_train(*LONG, "--out", "run", "--resume", "auto")
    assert (second.code, second.err.count("\n")) == (2, 1)
    assert "another process is training in run; use another --out" in second.err
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    heartbeat = json.loads((tmp_path / "run" / "heartbeat.json").read_text())
    assert heartbeat["pid"] == process.pid
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        assert heartbeat["status"] == "running"
    else:
        assert process.returncode == 128 + number
        assert heartbeat["status"] == "interrupted"
        assert f"stopped by {number.name} after step" in out
        assert err == ""
    resumed = run_train("--resume", "run", "--out", "run")
    assert resumed.code == 0
    resumed.assert_same_as(undisturbed(LONG))


# The checkpoints of both have about the same size, which kill_runs.py needs to know.
INDICATORS = shlex.split("--device cpu --bars 3000 --stride 8 --batch-size 16 --epochs 3")


def kill_runs(system, options, kills, ends, folder, environment):
    """Run kill_runs.py; return the number of kills, that of the kills while writing, and the ended runs."""
    script = Path(__file__).with_name("kill_runs.py")
    command = [sys.executable, str(script), system, str(kills), str(ends), *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    killed, while_writing, ended = map(int, done.stdout.split())
    folders = sorted(folder.glob("end*"))
    assert len(folders) == ended >= ends
    for ended_run in folders:
        assert not list(ended_run.rglob("*.tmp"))
    return killed, while_writing, folders


not_on_macos = pytest.mark.skipif(
    sys.platform == "darwin", reason="it forks, and there a forked process may not ask Metal for the GPU"
)


@not_on_macos
@pytest.mark.parametrize(
    ("program_name", "options", "kills"),
    [("cifar_optimizers", TINY, 8), ("indicator_transformer", INDICATORS, 4)],
    indirect=["program_name"],
    ids=["cifar", "indicators"],
)
def test_a_handful_of_kills_costs_nothing_but_time(
    system, options, kills, tmp_path, one_thread, undisturbed, outcome_of
):
    killed, while_writing, folders = kill_runs(system.PROGRAM.system, options, kills, 1, tmp_path, one_thread)
    assert (killed, while_writing) == (kills, kills // 2)
    for folder in folders:
        outcome_of(folder).assert_same_as(undisturbed(options))


@not_on_macos
@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("program_name", "options"),
    [("cifar_optimizers", LONG), ("indicator_transformer", INDICATORS)],
    indirect=["program_name"],
    ids=["cifar", "indicators"],
)
def test_hundreds_of_kills_cost_nothing_but_time(
    system, options, tmp_path, one_thread, undisturbed, outcome_of
):
    """After each of them there is a whole checkpoint, and runs still end bit-equal."""
    killed, while_writing, folders = kill_runs(system.PROGRAM.system, options, 400, 3, tmp_path, one_thread)
    assert (killed, while_writing) == (400, 200)
    for folder in folders:
        outcome_of(folder).assert_same_as(undisturbed(options))


@one_program
def test_a_kill_between_the_first_best_and_the_first_last_checkpoint(
    run_train, save_often, signal_at, undisturbed
):
    """There is nothing to continue from, but the run is not lost either."""
    signal_at(8)
    run = run_train(*TINY, "--out", "run")
    (run.folder / "checkpoints" / "last.pt").unlink()
    assert [path.name for path in (run.folder / "checkpoints").iterdir()] == ["best.pt"]
    signal_at(0)
    resumed = run_train("--resume", "run", "--out", "run")
    assert "continuing" not in resumed.out
    resumed.assert_same_as(undisturbed(TINY))


@pytest.fixture
def small_disk(tmp_path):
    """Give a folder on a disk of 3 MB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("needs the right to mount a tmpfs (root on Linux); see the test of a limit on file sizes")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk, left):
    """Put a file on `disk` that leaves `left` bytes, rounded to blocks; return its path."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        file.write(bytes(shutil.disk_usage(disk).free - left))
    return ballast


@one_program
@pytest.mark.parametrize("left", [0, 100_000], ids=["nothing", "100 kB"])
def test_a_full_disk_ends_the_run_and_loses_nothing(
    run_train, save_often, signal_at, undisturbed, outcome_of, small_disk, left
):
    """A checkpoint needs 150 kB. With nothing left, the files before it do not fit either."""
    out = small_disk / "run"
    signal_at(5)
    run = run_train(*TINY, "--out", out)
    last = run.folder / "checkpoints" / "last.pt"
    before = last.read_bytes()
    assert 110_000 < len(before) < 200_000
    ballast = fill(small_disk, left)
    signal_at(0)
    full = run_train("--resume", out)
    assert full.code == 1
    assert full.err.count("\n") == 1
    assert "No space left on device; " in full.err
    assert "continue with --resume" in full.err
    assert last.read_bytes() == before
    assert not list(out.rglob(".*.tmp"))
    ballast.unlink()
    resumed = run_train("--resume", out)
    assert resumed.code == 0
    assert "continuing after step 5 of 24" in resumed.out
    outcome_of(out).assert_same_as(undisturbed(TINY))


@one_program
def test_a_disk_that_cannot_be_written_is_one_line(run_train, signal_at, small_disk):
    """Root may write everywhere but here."""
    out = small_disk / "run"
    signal_at(5)
    run_train(*TINY, "--out", out)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    resumed = run_train("--resume", out)
    assert (resumed.code, resumed.err.count("\n")) == (2, 1)
    assert f"cannot write to the run folder {out}: Read-only file system; use --out" in resumed.err
    new = run_train(*TINY, "--out", small_disk / "other")
    assert (new.code, new.err.count("\n")) == (2, 1)
    assert "Read-only file system; use --out" in new.err


@one_program
def test_a_folder_below_a_file_is_one_line(run_train, tmp_path):
    (tmp_path / "file").write_text("x")
    run = run_train(*TINY, "--out", "file/run")
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "cannot make the run folder file/run: Not a directory; use --out" in run.err


# Trains in this process with a limit on the size of files, which every system has.
LIMITED = """
import resource, signal, sys
from examples.cifar_optimizers import train
from snippets import training_loop

training_loop.FIRST_SAVE, training_loop.SAVE_SHARE = 0.0, float("inf")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), hard))
sys.exit(train.exit_with_one_line(train.PROGRAM.main, sys.argv[2:]))
"""


@one_program
def test_a_limit_on_file_sizes_ends_the_run_and_loses_nothing(
    run_train, signal_at, undisturbed, one_thread, tmp_path
):
    signal_at(5)
    run = run_train(*TINY, "--out", "run")
    before = (run.folder / "checkpoints" / "last.pt").read_bytes()
    command = [sys.executable, "-c", LIMITED, str(len(before) // 2), "--resume", "run"]
    done = subprocess.run(command, cwd=tmp_path, env=one_thread, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "File too large; the checkpoint before it is untouched" in done.stderr
    assert (run.folder / "checkpoints" / "last.pt").read_bytes() == before
    signal_at(0)
    resumed = run_train("--resume", "run", "--out", "run")
    assert "continuing after step 5 of 24" in resumed.out
    resumed.assert_same_as(undisturbed(TINY))


def cut(path):
    """Cut a file in the middle, as a disk that lost power may leave it."""
    os.truncate(path, path.stat().st_size // 2)


def flip(path):
    """Flip one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@one_program
@pytest.mark.parametrize("damage", [cut, flip])
def test_a_damaged_checkpoint_is_replaced_by_the_previous_one(
    run_train, save_often, signal_at, undisturbed, damage
):
    signal_at(13)
    run = run_train(*TINY, "--out", "run")
    last = run.folder / "checkpoints" / "last.pt"
    damage(last)
    signal_at(0)
    resumed = run_train("--resume", "run", "--out", "run")
    assert resumed.code == 0
    previous = last.with_name("previous.pt")
    assert (
        f"cannot read checkpoint {last}: it is damaged or cut off; taking {previous} instead" in resumed.out
    )
    assert "continuing after step 10 of 24" in resumed.out
    resumed.assert_same_as(undisturbed(TINY))


@one_program
def test_two_damaged_checkpoints_are_kept_and_named(run_train, save_often, signal_at):
    signal_at(13)
    folder = run_train(*TINY, "--out", "run").folder / "checkpoints"
    cut(folder / "last.pt")
    flip(folder / "previous.pt")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    run = run_train("--resume", "run", "--out", "run")
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "last.pt: it is damaged or cut off; cannot read checkpoint" in run.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def change(path, **parts):
    """Replace parts of the checkpoint at `path`."""
    torch.save(torch.load(path, weights_only=True) | parts, path)


@one_program
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"format": checkpoints.FORMAT + 1}, "was made by a newer version of this project"),
        ({"config": {"system": "two_tower"}}, "is a checkpoint of two_tower, not of cifar_optimizers"),
        ({"model": {}}, "the checkpoint is of another network: only this network has "),
    ],
)
def test_a_checkpoint_that_does_not_belong_is_one_line(run_train, signal_at, parts, message):
    signal_at(5)
    run = run_train(*TINY, "--out", "run")
    last = run.folder / "checkpoints" / "last.pt"
    change(last, **parts)
    before = last.read_bytes()
    signal_at(0)
    refused = run_train("--resume", "run", "--out", "run")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert message in refused.err
    assert last.read_bytes() == before


@one_program
def test_a_checkpoint_of_another_width_is_one_line(run_train, signal_at):
    signal_at(5)
    run = run_train(*TINY, "--out", "run")
    wider = run_train(*TINY, "--width", 3, "--out", "wider")
    shutil.copy(wider.folder / "checkpoints" / "last.pt", run.folder / "checkpoints")
    signal_at(0)
    refused = run_train("--resume", "run", "--out", "run")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "the checkpoint is of a network of another size" in refused.err
    refused = run_train("--resume", "run", "--out", "run", "--width", 3)
    assert refused.err.startswith("error: --width is 3 here but 2 in the run in run")
