"""The folder of a run: nothing overwritten, files that others can read at any moment."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys

import pytest

from examples.programs import run_folder
from examples.programs.run_folder import RunFolder, check_new_folder, new_folder, read_json, read_metrics
from snippets.errors import RunError, UsageError


def test_default_folders_never_collide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = [new_folder(None, "system") for _ in range(5)]
    assert len(set(folders)) == 5
    assert all(folder.is_dir() and folder.parts[:2] == ("runs", "system") for folder in folders)


def test_a_folder_with_content_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="already holds a run"):
        check_new_folder(tmp_path / "run")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="is not empty"):
        check_new_folder(tmp_path / "other")
    with pytest.raises(UsageError, match="is a file"):
        check_new_folder(tmp_path / "other" / "thesis.txt")
    with pytest.raises(UsageError, match="is a file"):
        new_folder(tmp_path / "other" / "thesis.txt", "system")
    assert new_folder(tmp_path / "new" / "deep", "system").is_dir()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot make the run folder"):
        new_folder(tmp_path / "file" / "run", "system")


def test_too_many_runs_in_one_second(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def taken(self, **options):
        raise FileExistsError

    monkeypatch.setattr(run_folder.Path, "mkdir", taken)
    with pytest.raises(UsageError, match="too many runs"):
        new_folder(None, "system")


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "checkpoints").write_text("a file in the way")
    with pytest.raises(UsageError, match="cannot write to the run folder"):
        RunFolder(tmp_path)


@pytest.mark.program
def test_two_processes_cannot_train_in_one_folder(tmp_path):
    folder = f"from pathlib import Path; folder = Path({str(tmp_path)!r})"
    code = f"{folder}; from examples.programs.run_folder import RunFolder; RunFolder(folder)"
    with RunFolder(tmp_path):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "another process is training in" in done.stderr
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # the lock is gone


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.ENOLCK])
def test_disk_without_locks_is_noted_and_accepted(tmp_path, monkeypatch, capsys, number):
    def refuse(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(run_folder.fcntl, "flock", refuse)
    with RunFolder(tmp_path) as run:
        run.log(step=1)
    out = capsys.readouterr().out
    assert out == (tmp_path / "train.log").read_text()
    assert out.startswith(f"note: {tmp_path} cannot be locked ({os.strerror(number)}); ")


def test_leftovers_of_a_killed_process_are_removed(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    leftovers = [tmp_path / ".heartbeat.json.999999999.tmp", tmp_path / "checkpoints" / ".last.pt.123.tmp"]
    for path in leftovers:
        path.write_bytes(b"half")
    RunFolder(tmp_path).log_file.close()
    assert not any(path.exists() for path in leftovers)


def test_what_another_program_writes_there_just_now_stays(tmp_path):
    (tmp_path / f".p_cache.npy.{os.getppid()}.tmp").write_bytes(b"half")
    RunFolder(tmp_path).log_file.close()
    assert (tmp_path / f".p_cache.npy.{os.getppid()}.tmp").exists()


def test_folder_named_like_a_leftover_stays(tmp_path):
    (tmp_path / ".x.tmp").mkdir()
    RunFolder(tmp_path).log_file.close()
    assert (tmp_path / ".x.tmp").is_dir()


def test_lines_reach_the_terminal_and_the_log(tmp_path, capsys):
    with RunFolder(tmp_path) as run:
        run.say("epoch 1")
        assert (tmp_path / "train.log").read_text() == "epoch 1\n"  # at once, not at the end
    assert capsys.readouterr().out == "epoch 1\n"


def test_heartbeat_has_all_fields_and_a_limited_rate(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(run_folder.time, "monotonic", lambda: clock[0])
    with RunFolder(tmp_path) as run:
        run.beat("running", step=1, total_steps=9, loss=float("nan"))
        first = json.loads((tmp_path / "heartbeat.json").read_text())
        assert first["step"] == 1
        assert first["loss"] is None
        names = "pid status step total_steps device precision loss samples_per_s eta_s memory_mb updated_at"
        assert set(first) == set(names.split())
        run.beat(step=2)
        assert read_json(tmp_path / "heartbeat.json")["step"] == 1
        clock[0] += 1.5
        run.beat(step=3)
        assert read_json(tmp_path / "heartbeat.json")["step"] == 3
        run.beat("finished", step=4)
        assert read_json(tmp_path / "heartbeat.json")["status"] == "finished"


@pytest.mark.parametrize(
    ("error", "status"), [(ValueError("lost"), "failed"), (KeyboardInterrupt(), "interrupted")]
)
def test_a_failure_is_left_in_the_heartbeat(tmp_path, error, status):
    with pytest.raises(type(error)), RunFolder(tmp_path) as run:
        run.beat("running")
        raise error
    heartbeat = read_json(tmp_path / "heartbeat.json")
    assert heartbeat["status"] == status
    assert heartbeat["error"].startswith(type(error).__name__)
    assert status in (tmp_path / "train.log").read_text()


def test_full_disk_is_one_line_with_resume_command(tmp_path):
    message = f"No space left on device; .* continue with --resume {tmp_path}"
    with pytest.raises(RunError, match=message), RunFolder(tmp_path) as run:
        run.beat("running")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert read_json(tmp_path / "heartbeat.json")["status"] == "failed"


def test_too_many_open_files_is_not_disk_full(tmp_path):
    message = rf"^too many files are open in this process; .*ulimit -n.* continue with --resume {tmp_path}$"
    with pytest.raises(RunError, match=message), RunFolder(tmp_path):
        raise OSError(errno.EMFILE, "Too many open files")


@pytest.mark.program
def test_closed_output_pipe_does_not_end_the_run(tmp_path):
    """As in `train.py | head -1`."""
    code = f"""
import pathlib, sys, time
from examples.programs.run_folder import RunFolder
with RunFolder(pathlib.Path({str(tmp_path)!r})) as run:
    run.say("first")
    sys.stdin.readline()
    run.say("second")
    run.say("third")
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline() == b"first\n"
        process.stdout.close()
        process.stdin.write(b"go on\n")
        process.stdin.close()
        assert b"Traceback" not in process.stderr.read()
    assert (tmp_path / "train.log").read_text() == "first\nsecond\nthird\n"


def test_metrics_survive_a_kill_in_mid_line(tmp_path):
    with RunFolder(tmp_path) as run:
        for step in (10, 20, 30):
            run.log(step=step, epoch=1.0, loss=float("inf") if step == 20 else 0.5)
        with run.metrics_file.open("a") as file:
            file.write('{"step": 40, "lo')
        assert [line["step"] for line in read_metrics(run.metrics_file)] == [10, 20, 30]
        assert read_metrics(run.metrics_file)[1]["loss"] is None
        run.forget_metrics_after(20)
        run.log(step=30, epoch=1.0, loss=0.1)
        assert [line["step"] for line in read_metrics(run.metrics_file)] == [10, 20, 30]


@pytest.mark.parametrize(
    "line",
    [
        *(b"garbage", b"", b"[1]", b"{}", b"\0\0\0", b"[" * 10**5, b'"' + b"x" * 3_000_000 + b'"'),
        *(b'{"step": null, "epoch": 1}', b'{"step": "x", "epoch": 1}', b'{"step": true, "epoch": 1}'),
        *(b'{"step": 1, "loss": 2}', b'{"step": 1, "epoch": null}', b'{"step": 1, "epoch": "x"}'),
        *(b'{"step": 1, "epoch": 1, "loss": %s}' % value for value in (b'"x"', b"[1]", b"NaN", b"1e308")),
        b'{"step": 1, "epoch": 1, "loss": 1%s}' % (b"0" * 400),
    ],
    ids=lambda line: str(line[:40]),
)
def test_damaged_metrics_are_left_out_aloud(tmp_path, capsys, line):
    with RunFolder(tmp_path) as run:
        run.log(step=10, epoch=1.0, loss=0.5)
        with run.metrics_file.open("ab") as file:
            file.write(line + b"\n")
        run.log(step=20, epoch=1.0, loss=0.4)
        assert [values["step"] for values in read_metrics(run.metrics_file)] == [10, 20]
        run.forget_metrics_after(20)
        assert run.metrics_file.read_bytes().count(b"\n") == 2
    assert capsys.readouterr().out == "note: 1 damaged line of metrics.jsonl left out\n"


def test_control_characters_are_escaped_in_terminal_and_log(tmp_path, capsys):
    """A class is called after its folder, whose name somebody chose."""
    with RunFolder(tmp_path) as run:
        run.say("classes\tneg, x\x1b[31mred\nsecond")
    said = "classes\tneg, x\\x1b[31mred\nsecond\n"
    assert (capsys.readouterr().out, (tmp_path / "train.log").read_text()) == (said, said)


@pytest.mark.parametrize("name", ["train.log", "metrics.jsonl"])
def test_named_pipe_is_refused_without_waiting(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(UsageError, match=rf"{name} is no file; remove it$"):
        RunFolder(tmp_path)
    assert read_json(tmp_path / name) is None


def test_what_has_no_checkpoint_is_kept_under_another_name(tmp_path, capsys):
    with RunFolder(tmp_path) as run:
        run.archive_unsaved_run()
        assert capsys.readouterr().out == ""  # nothing was there
        for number in (1, 2):
            run.log(step=number, epoch=1.0, loss=0.5)
            run.best_checkpoint.write_text(f"weights {number}")
            run.archive_unsaved_run()
            assert f"starting anew; metrics-{number}.jsonl, best-{number}.pt kept" in capsys.readouterr().out
        assert not run.metrics_file.exists()
        assert [read_metrics(tmp_path / f"metrics-{n}.jsonl")[0]["step"] for n in (1, 2)] == [1, 2]
        assert (tmp_path / "checkpoints/best-1.pt").read_text() == "weights 1"


def test_a_usage_error_before_the_first_beat_changes_nothing(tmp_path):
    with pytest.raises(UsageError), RunFolder(tmp_path):
        raise UsageError("wrong data")
    assert not (tmp_path / "heartbeat.json").exists()


def test_a_failure_is_written_although_more_workers_die(tmp_path):
    """PyTorch's handler raises when a child ends, wherever the program is: also while this is written."""

    def handler(*_):
        raise RuntimeError("DataLoader worker (pid 1) exited")

    before = signal.signal(signal.SIGCHLD, handler)
    try:
        with pytest.raises(RunError), RunFolder(tmp_path) as run:
            run.beat("running")
            beat = run.beat
            run.beat = lambda *words, **values: (signal.raise_signal(signal.SIGCHLD), beat(*words, **values))
            raise RunError("a worker died")
        assert signal.getsignal(signal.SIGCHLD) is handler
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert read_json(tmp_path / "heartbeat.json")["status"] == "failed"


@pytest.mark.parametrize(
    "error", [None, RunError("the loss became nan"), UsageError("wrong"), KeyboardInterrupt()]
)
def test_the_process_is_named_as_long_as_it_runs(tmp_path, error):
    """A file that a killed run left behind is replaced."""
    (tmp_path / "train.pid").write_text("123456789\n")
    with pytest.raises(type(error)) if error else contextlib.nullcontext(), RunFolder(tmp_path):
        assert (tmp_path / "train.pid").read_text() == f"{os.getpid()}\n"
        with pytest.raises(UsageError, match="another process is training"):
            RunFolder(tmp_path)
        assert (tmp_path / "train.pid").exists()  # the second start left it alone
        if error:
            raise error
    assert not (tmp_path / "train.pid").exists()


def test_unreadable_json_is_none(tmp_path):
    assert read_json(tmp_path / "none.json") is None
    (tmp_path / "cut.json").write_text('{"status": "run')
    assert read_json(tmp_path / "cut.json") is None
    (tmp_path / "list.json").write_text("[1]")
    assert read_json(tmp_path / "list.json") is None


def test_folder_of_a_killed_start_counts_as_new(tmp_path):
    """Otherwise the command with --resume auto would not work again after such a kill."""
    RunFolder(tmp_path).log_file.close()
    (tmp_path / ".config.json.999999999.tmp").write_text("{")
    check_new_folder(tmp_path)
    assert new_folder(tmp_path, "system") == tmp_path
    with RunFolder(tmp_path) as run:
        assert {path.name for path in tmp_path.iterdir()} == {"checkpoints", "train.log", "train.pid"}
        run.say("begun")
    with pytest.raises(UsageError, match="is not empty"):
        check_new_folder(tmp_path)


def test_run_begun_by_another_process_is_not_overwritten(tmp_path):
    """Both found the folder empty; the other one had the lock first, and was killed."""
    run = RunFolder(new_folder(tmp_path, "system"))
    (tmp_path / "config.json").write_text('{"of": "the other"}')
    with pytest.raises(UsageError, match="another process has just begun a run in"):
        run.write_config({})
    assert (tmp_path / "config.json").read_text() == '{"of": "the other"}'
    RunFolder(tmp_path).log_file.close()  # the lock is free again
