"""Which run `--out` and `--resume` mean."""

import json
import os
from pathlib import Path

import pytest

from examples.programs.command_line import expanded
from examples.programs.options import check_same_options
from examples.programs.resume import choose_run, newest_first
from snippets.errors import UsageError

SYSTEM = "system"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make_run(name, *, lr=0.1, status="interrupted", age=0, checkpoint=True, **facts):
    folder = Path("runs") / SYSTEM / name
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"options": {"lr": lr}} | facts))
    os.utime(folder / "config.json", (1_000_000 - age, 1_000_000 - age))
    (folder / "heartbeat.json").write_text(json.dumps({"status": status}))
    if checkpoint:
        (folder / "checkpoints" / "last.pt").write_bytes(b"x")
    return folder


def equal(config):
    return config.get("options") == {"lr": 0.1}


def test_without_resume_a_run_is_new():
    assert choose_run(SYSTEM, None, None, equal).folder is None
    assert choose_run(SYSTEM, Path("new"), None, equal).folder == Path("new")
    folder = make_run("a")
    with pytest.raises(UsageError, match="already holds a run"):
        choose_run(SYSTEM, folder, None, equal)


def test_auto_takes_the_newest_unfinished_run_with_equal_options():
    make_run("old", age=50)
    wanted = make_run("wanted", age=30, status="running")
    make_run("other options", lr=0.2, age=20)
    make_run("done", status="finished", age=10)
    damaged = make_run("damaged")
    (damaged / "config.json").write_text("{")
    choice = choose_run(SYSTEM, None, "auto", equal)
    assert choice.folder == wanted
    assert choice.checkpoint is None  # the newest
    assert choice.config == {"options": {"lr": 0.1}}
    assert not choice.finished


def test_the_newest_run_is_the_one_that_says_so():
    """Files have the time of the last copy; a clock can have been ahead; not every run says when it began."""
    times = {
        "second": "2026-03-01T12:00:00+01:00",
        "first": "2026-03-01T11:30:00+00:00",
        "ahead": "9999-01-01",
    }
    for age, (name, time) in enumerate(times.items()):
        make_run(name, age=age, provenance={"started_at": time})
    for age, facts in enumerate((None, [], {}, {"started_at": 5}, {"started_at": "x"}), 3):
        make_run(str(age), age=age, provenance=facts)
    found = [folder.name for folder in newest_first(Path("runs", SYSTEM).glob("*/config.json"))]
    assert found == ["first", "second", "3", "4", "5", "6", "7", "ahead"]


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_an_empty_path_is_no_path(path):
    """To Python it is the folder in which the program runs, which would become the run."""
    with pytest.raises(UsageError, match=r"is no path; write the name of a file or folder, or \. for"):
        expanded(path)
    with pytest.raises(UsageError, match="is no path"):
        choose_run(SYSTEM, None, path, equal)
    assert expanded(".") == Path() == expanded(Path())


def test_auto_without_a_suitable_run_says_so():
    make_run("done", status="finished")
    choice = choose_run(SYSTEM, None, "auto", equal)
    assert choice.config is None
    assert "starting anew" in choice.note
    choice = choose_run(SYSTEM, Path("new"), "auto", equal)
    assert choice.folder == Path("new")
    assert "nothing to resume in new" in choice.note


def test_auto_with_out_continues_that_run_only():
    folder = make_run("a", lr=0.7, checkpoint=False)
    make_run("b")
    choice = choose_run(SYSTEM, folder, "auto", equal)
    assert choice.folder == folder
    assert choice.checkpoint is None
    Path("full").mkdir()
    Path("full/thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="is not empty"):
        choose_run(SYSTEM, Path("full"), "auto", equal)


def test_path_may_name_a_run_or_its_checkpoint():
    folder = make_run("a", status="finished")
    assert choose_run(SYSTEM, None, str(folder), equal).finished
    best = folder / "checkpoints" / "best.pt"
    best.write_bytes(b"x")
    choice = choose_run(SYSTEM, folder, str(best), equal)
    assert (choice.folder, choice.checkpoint) == (folder, best)
    with pytest.raises(UsageError, match="there is no such file or folder"):
        choose_run(SYSTEM, None, "nowhere", equal)
    with pytest.raises(UsageError, match="holds no run"):
        choose_run(SYSTEM, None, "runs", equal)
    with pytest.raises(UsageError, match="leave out --out"):
        choose_run(SYSTEM, Path("elsewhere"), str(folder), equal)
    (folder / "config.json").write_text("{}")
    with pytest.raises(UsageError, match=r"config\.json is damaged"):
        choose_run(SYSTEM, None, str(folder), equal)


def test_unreadable_config_is_not_called_damaged():
    config = make_run("a") / "config.json"
    config.unlink()
    config.mkdir()
    with pytest.raises(UsageError, match=r"^cannot read .*config\.json: it is a folder, not a file$"):
        choose_run(SYSTEM, None, str(config.parent), equal)


def test_a_run_of_another_system_is_refused():
    folder = make_run("a")
    config = {"options": {"lr": 0.1}, "system": "two_tower"}
    (folder / "config.json").write_text(json.dumps(config))
    assert choose_run("two_tower", None, str(folder), equal).config == config
    last = folder / "checkpoints" / "last.pt"
    for out, resume in ((None, str(folder)), (folder, "auto"), (None, str(last))):
        with pytest.raises(UsageError, match="a run of two_tower, not of system; continue it with that"):
            choose_run(SYSTEM, out, resume, equal)


def test_a_differing_option_is_named():
    saved = {"lr": 0.1, "weight_decay": 0.0}
    check_same_options(saved, {"lr": 0.1}, Path("run"))
    with pytest.raises(UsageError, match=r"--weight-decay is 0\.5 here but 0\.0 in the run in run"):
        check_same_options(saved, {"lr": 0.1, "weight_decay": 0.5}, Path("run"))
