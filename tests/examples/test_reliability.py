"""Real runs that run out of disk, find damaged files or each other. What all programs share, one tries."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch

from examples.systems import modules
from snippets import checkpoints
from tests.examples.program_runs import assert_refused, contents

pytestmark = [
    pytest.mark.usefixtures("without_curves"),
    pytest.mark.parametrize("program_name", list(modules())[:1], indirect=True),
]


@pytest.mark.parametrize(
    "number",  # test_contract.py sends the first two and kills within the process of the test
    [signal.SIGTERM, *(pytest.param(n, marks=pytest.mark.long) for n in (signal.SIGINT, signal.SIGKILL))],
)
def test_a_real_process_is_stopped_and_continued(
    run_train, system, tiny, tmp_path, one_thread, undisturbed, number
):
    """While it trains, a second process is refused; then the run continues, whatever the heartbeat says."""
    words = tiny(epochs=10)
    command = [sys.executable, system.__file__, *tiny(epochs=10, out="run")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=tmp_path, env=one_thread, **pipes)
    metrics, deadline = tmp_path / "run" / "metrics.jsonl", time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if metrics.exists() and metrics.read_text().count("\n") >= 3:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGSTOP)  # it sleeps, and so cannot end too early
    second = run_train(*words, out="run", resume="auto")
    assert_refused(second, "another process is training in run; use another --out")
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    heartbeat = json.loads((tmp_path / "run" / "heartbeat.json").read_text())
    assert heartbeat["pid"] == process.pid
    if number == signal.SIGKILL:
        assert (process.returncode, heartbeat["status"]) == (-signal.SIGKILL, "running")
    else:
        assert (process.returncode, heartbeat["status"]) == (128 + number, "interrupted")
        assert f"stopped by {number.name} after step" in out
        assert err == ""
    resumed = run_train(resume="run")
    assert resumed.code == 0
    resumed.assert_same_as(undisturbed(words))


def test_kill_before_the_first_last_checkpoint_starts_anew(run_train, save_often, stop, tiny, undisturbed):
    """There is nothing to continue from, but the run is not lost either."""
    run = stop(undisturbed(tiny()).json("config.json")["steps_per_epoch"])
    (run.folder / "checkpoints" / "last.pt").unlink()
    assert [path.name for path in (run.folder / "checkpoints").iterdir()] == ["best.pt"]
    resumed = run_train(resume="run")
    assert "continuing" not in resumed.out
    resumed.assert_same_as(undisturbed(tiny()))


# ---- Disks ----


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


@pytest.mark.parametrize("left", [0, 100_000], ids=["nothing", "100 kB"])
def test_a_full_disk_ends_the_run_and_loses_nothing(
    run_train, save_often, signal_at, tiny, undisturbed, small_disk, left
):
    """A checkpoint needs 150 kB. With nothing left, the files before it do not fit either."""
    out = small_disk / "run"
    signal_at(5)
    run = run_train(*tiny(), out=out)
    last = run.folder / "checkpoints" / "last.pt"
    before = last.read_bytes()
    assert 110_000 < len(before) < 200_000
    ballast = fill(small_disk, left)
    signal_at(0)
    full = run_train(resume=out)
    assert (full.code, full.err.count("\n")) == (1, 1)
    assert "No space left on device; " in full.err
    assert "continue with --resume" in full.err
    assert last.read_bytes() == before
    assert not list(out.rglob(".*.tmp"))
    ballast.unlink()
    resumed = run_train(resume=out)
    assert "continuing after step 5 of" in resumed.out
    resumed.assert_same_as(undisturbed(tiny()))


def test_a_disk_that_cannot_be_written_is_one_line(run_train, signal_at, tiny, small_disk):
    """Root may write everywhere but here."""
    out = small_disk / "run"
    signal_at(5)
    run_train(*tiny(), out=out)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    message = f"cannot write to the run folder {out}: Read-only file system; use --out"
    assert_refused(run_train(resume=out), message)
    assert_refused(run_train(*tiny(), out=small_disk / "other"), "Read-only file system; use --out")


@pytest.fixture
def limit_files():
    """Return a function that limits the size of files until the test ends, which every system can."""
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda size=limits[0]: resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


def test_file_size_limit_ends_run_and_loses_nothing(
    run_train, save_often, stop, tiny, undisturbed, limit_files
):
    run = stop(5)
    last = run.folder / "checkpoints" / "last.pt"
    before = last.read_bytes()
    limit_files(len(before) // 2)
    full = run_train(resume="run")
    limit_files()
    assert (full.code, full.err.count("\n")) == (1, 1)
    assert "File too large; the checkpoint before it is untouched" in full.err
    assert last.read_bytes() == before
    resumed = run_train(resume="run")
    assert "continuing after step 5 of" in resumed.out
    resumed.assert_same_as(undisturbed(tiny()))


# ---- Damage ----


def cut(path):
    """Cut a file in the middle, as a disk that lost power may leave it."""
    os.truncate(path, path.stat().st_size // 2)


def test_damaged_checkpoints_are_replaced_by_older_ones_and_kept(
    run_train, save_often, stop, tiny, undisturbed
):
    folder = stop(13).folder / "checkpoints"
    last, previous = folder / "last.pt", folder / "previous.pt"
    whole = previous.read_bytes()
    cut(last)
    cut(previous)
    before = contents(folder)
    assert_refused(run_train(resume="run"), "last.pt: it is damaged or cut off; cannot read checkpoint")
    assert contents(folder) == before
    previous.write_bytes(whole)
    resumed = run_train(resume="run")
    note = f"cannot read checkpoint {last}: it is damaged or cut off; taking {previous} instead"
    assert note in resumed.out
    assert "continuing after step 10 of" in resumed.out
    resumed.assert_same_as(undisturbed(tiny()))


def test_checkpoints_that_do_not_belong_are_refused(run_train, stop):
    last = stop(5).folder / "checkpoints" / "last.pt"
    own = torch.load(last, weights_only=True)
    for parts, message in (
        ({"format": checkpoints.FORMAT + 1}, "was made by a newer version of this project"),
        ({"config": {"system": "two_tower"}}, "is a checkpoint of two_tower, not of "),
        ({"model": {}}, "the checkpoint is of another network: only this network has "),
    ):
        torch.save(own | parts, last)
        before = last.read_bytes()
        assert_refused(run_train(resume="run"), message)
        assert last.read_bytes() == before
