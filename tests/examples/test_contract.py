"""What every training program of the registry promises, whatever it trains (examples/systems.py)."""

import io
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from examples.programs.imports import accept_any_output
from examples.systems import modules
from snippets.errors import Option
from snippets.training_loop import Training
from tests.examples.program_runs import assert_refused, contents

RUN_FOLDER = {"config.json", "metrics.jsonl", "heartbeat.json", "curves.png", "summary.json", "train.log"}
CHECKPOINTS = {"checkpoints/last.pt", "checkpoints/best.pt"}
HEARTBEAT = "pid status step total_steps device precision loss samples_per_s eta_s memory_mb updated_at"


def test_the_run_folder_is_complete(run_train, tiny, system, monkeypatch):
    report = system.PROGRAM.report
    draw, drawn = report.draw_curves, []
    monkeypatch.setattr(report, "draw_curves", lambda *given: drawn.append(given) or draw(*given))
    run = run_train(*tiny(), out="run")
    assert (run.code, run.err) == (0, "")
    files = {path.relative_to(run.folder).as_posix() for path in contents(run.folder)}
    assert files - {"checkpoints/previous.pt"} == RUN_FOLDER | CHECKPOINTS
    heartbeat = run.json("heartbeat.json")
    assert heartbeat.keys() == set(HEARTBEAT.split())
    assert (heartbeat["status"], heartbeat["step"]) == ("finished", heartbeat["total_steps"])
    steps = [line["step"] for line in run.metrics]
    assert steps == sorted(set(steps)) and steps[-1] == heartbeat["step"]
    for line in run.metrics:
        assert {"step", "epoch", "loss", "lr", "samples_per_s"} <= line.keys()
        assert math.isfinite(line["loss"]) and line["lr"] > 0
    assert (run.folder / "train.log").read_text() == run.out
    config = run.json("config.json")
    assert config["system"] == system.PROGRAM.system
    assert config["options"]["precision"] == "fp32"  # what "auto" meant
    assert {"python", "torch", "command", "git_commit", "machine"} <= config["provenance"].keys()

    ((metrics, image, _, panels),) = drawn
    assert (metrics.resolve(), image.name) == (run.folder.resolve() / "metrics.jsonl", "curves.png")
    named = {metric for panel in panels for metric in (*panel.metrics.values(), panel.single) if metric}
    assert len(named) >= 2
    assert named <= run.metrics[-1].keys()  # curves are of what the run writes


@pytest.mark.two_for_all
def test_a_finished_run_is_left_alone(run_train, system, tiny, without_curves):
    run = run_train(*tiny(), out="run")
    before, summary = contents(run.folder), run.json("summary.json")
    again = run_train(*tiny(), out="run", resume="auto")
    assert (again.code, again.out) == (0, f"run is finished; see {Path('run', 'summary.json')}\n")
    spelt = system.PROGRAM.spelling.option
    refusal = f"{spelt(Option('out', 'run'))} already holds a run; continue it with "
    refusal += f"{spelt(Option('resume', 'auto'))}, or choose another folder\n"
    assert_refused(run_train(*tiny(seed=1), out="run"), refusal)
    assert contents(run.folder) == before
    # But one that was killed between its last step and its summary has something left to do.
    (run.folder / "summary.json").unlink()
    (run.folder / "heartbeat.json").write_text(json.dumps(run.json("heartbeat.json") | {"status": "running"}))
    again = run_train(resume="run")
    assert (again.code, again.json("summary.json") | {"options": summary["options"]}) == (0, summary)


@pytest.mark.unmeasured
@pytest.mark.two_for_all
def test_quick_and_max_steps_limit_the_steps(run_train, device, tiny):
    quick = run_train(device=device, quick=True, out="quick")
    assert quick.code == 0
    assert (quick.folder / "curves.png").exists()
    assert 1 <= quick.json("summary.json")["steps"] <= 20
    assert run_train(*tiny(max_steps=3), out="three").json("summary.json")["steps"] == 3


@pytest.mark.unmeasured
@pytest.mark.two_for_all
def test_equal_seeds_give_equal_networks(run_train, tiny):
    first, again, other = (
        run_train(*tiny(max_steps=4, seed=seed), out=name).last["model"]
        for name, seed in (("first", 3), ("again", 3), ("other", 4))
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


@pytest.mark.long
@pytest.mark.two_for_all
def test_16_bits_learn_almost_the_same(undisturbed, tiny):
    exact, found = undisturbed(tiny()), undisturbed(tiny(precision="bf16"))
    assert "precision  bf16" in (found.folder / "train.log").read_text()
    for name, weights in found.last["model"].items():
        assert weights.dtype == exact.last["model"][name].dtype  # they are stored in 32 bits
    assert not all(torch.equal(found.last["model"][n], w) for n, w in exact.last["model"].items())
    assert found.metrics[-1]["loss"] == pytest.approx(exact.metrics[-1]["loss"], rel=0.1)


# ---- What stops goes on ----


@pytest.fixture
def continues_bit_equal(run_train, stop, undisturbed, tiny, without_curves):
    """Return a function that stops a run with a signal at some step and compares it when it has gone on."""

    def check(where, number, **settings):
        whole = undisturbed(tiny(**settings))
        epoch, total = (whole.json("config.json")[name] for name in ("steps_per_epoch", "total_steps"))
        at = {"first": 1, "fourth": 4, "end of epoch": epoch, "last but one": total - 1}[where]
        stopped = stop(at, number, **settings)
        assert stopped.json("heartbeat.json")["status"] == "interrupted"
        assert f"stopped by {number.name} after step {at} of {total}" in stopped.out
        assert not (stopped.folder / "summary.json").exists()
        resumed = run_train(resume="run")
        assert resumed.code == 0
        assert f"continuing after step {at} of {total}" in resumed.out
        resumed.assert_same_as(whole)

    return check


@pytest.mark.parametrize(
    "settings",
    [{}, {"accumulate": 2}, pytest.param({"precision": "fp16"}, marks=pytest.mark.long)],  # slow on CPUs
    ids=["fp32", "accumulate", "fp16"],
)
def test_a_stopped_run_continues_bit_equal(continues_bit_equal, settings):
    continues_bit_equal("fourth", signal.SIGTERM, **settings)


@pytest.mark.two_for_all
@pytest.mark.parametrize(
    ("where", "number", "settings"),
    [
        ("first", signal.SIGINT, {}),
        ("end of epoch", signal.SIGTERM, {}),
        ("last but one", signal.SIGTERM, {}),
        ("fourth", signal.SIGTERM, {"precision": "bf16"}),
    ],
    ids=["first", "end-of-epoch", "last-but-one", "bf16"],
)
def test_wherever_it_is_stopped_it_continues_bit_equal(continues_bit_equal, where, number, settings):
    continues_bit_equal(where, number, **settings)


not_on_macos = pytest.mark.skipif(
    sys.platform == "darwin", reason="it forks, and there a forked process may not ask Metal for the GPU"
)


THOUSAND = -(-1000 // len(modules()))  # of all programs together


@not_on_macos
@pytest.mark.two_for_all
@pytest.mark.parametrize(
    ("kills", "ends"),
    [(2, 1), pytest.param(THOUSAND, 3, marks=[pytest.mark.long, pytest.mark.timeout(7200)])],
    ids=["few", "a-thousand-of-all"],
)
def test_kills_cost_nothing_but_time(
    program_name, tiny, undisturbed, outcome_of, one_thread, tmp_path, kills, ends
):
    """After each SIGKILL there is a whole checkpoint, and runs still end bit-equal."""
    script = Path(__file__).with_name("kill_runs.py")
    words = tiny(out="run", resume="auto")
    command = [sys.executable, str(script), program_name, str(kills), str(ends), *words]
    done = subprocess.run(command, cwd=tmp_path, env=one_thread, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    killed, while_writing, ended = map(int, done.stdout.split())
    assert (killed, while_writing) == (kills, kills // 2)
    folders = list(tmp_path.glob("end*"))
    assert len(folders) == ended >= ends
    for folder in folders:
        assert not list(folder.rglob("*.tmp"))
        outcome_of(folder).assert_same_as(undisturbed(tiny()))


@pytest.mark.unmeasured
def test_what_a_stopped_run_says_to_type_continues_it(run_train, signal_at, tiny, without_curves):
    signal_at(2)
    stopped = run_train(*tiny(), out="a folder with spaces")
    signal_at(0)
    words = shlex.split(stopped.out.splitlines()[-1].partition("to go on: ")[2])
    assert words[:2] == ["python", sys.argv[0]]
    assert run_train(*words[2:]).json("heartbeat.json")["status"] == "finished"


@pytest.mark.unmeasured
@pytest.mark.two_for_all
def test_auto_continues_the_newest_run_with_equal_options(run_train, signal_at, tiny, without_curves):
    signal_at(2)
    stopped = run_train(*tiny(seed=5))
    signal_at(0)
    resumed = run_train(*tiny(seed=5, precision="fp32"), resume="auto")  # what "auto" was
    assert resumed.code == 0
    assert "continuing after step 2 of" in resumed.out
    assert resumed.folder == stopped.folder
    anew = run_train(*tiny(seed=6, max_steps=1), resume="auto")
    assert "no unfinished run with these options: starting anew" in anew.out


@pytest.mark.unmeasured
@pytest.mark.two_for_all
def test_which_options_a_resumed_run_takes(run_train, stop, signal_at, system, program):
    """What would make it another run is refused; what it has anyway, and where it computes, may be said."""
    stopped, spelt = stop(2), system.PROGRAM.spelling.option
    for other, message in (
        ({"precision": "bf16"}, "{} is bf16 here but fp32 in the run in run; leave it out"),
        ({"quick": True}, "{} is for new runs, and the one in run is longer; leave it out"),
        ({"seed": 9}, "{} is 9 here but 0 in the run in run; leave it out"),
        ({"lr": 0.5}, "{} is 0.5 here but "),
    ):
        refusal = message.format(spelt(Option(*other)))
        assert_refused(run_train(resume="run", **other), refusal)
        assert stopped.last["step"] == 2
    not_compiled = "compile=false" if program.speaks_hydra else "--no-compile"
    again = [
        program.words(same) for same in ({"precision": "fp32"}, {"precision": "auto"}, {"device": "auto"})
    ]
    for step, words in enumerate([*again, [not_compiled]], 3):
        signal_at(step)
        assert run_train(*words, resume="run").code == 130
        assert stopped.last["step"] == step


# ---- What goes wrong ----


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"device": "tpu"}, "{option}: "),
        ({"epochs": 0}, "{option}: must be a whole number from 1"),
        ({"lr": -1}, "{option}: must be a number above 0"),
        ({"data": "no/such/folder"}, "{typed}: neither "),
        ({"out": "taken"}, "{typed} is not empty; choose another folder"),
        ({"out": "taken/thesis.txt"}, "{typed} is a file"),
        ({"out": "taken/thesis.txt/run"}, "cannot make the run folder taken/thesis.txt/run: Not a directory"),
        ({"resume": "nowhere"}, "{typed}: there is no such file or folder"),
        ({"resume": "taken"}, "{typed}: taken holds no run"),
        ({"out": "~no_such_user/run"}, "there is no user no_such_user; write the whole path"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(run_train, system, tmp_path, tiny, wrong, message):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").touch()
    refused = run_train(*tiny(**wrong))
    ((name, value),) = wrong.items()
    spelt = system.PROGRAM.spelling.option
    assert_refused(refused, message.format(option=spelt(Option(name)), typed=spelt(Option(name, value))))
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "thesis.txt"]


@pytest.mark.unmeasured
@pytest.mark.parametrize("folder", ["sweep--lr=0.1", "x --batch-size 64", "a--resume auto", "{out} %s \\n"])
def test_options_are_quoted_as_the_user_typed_them(run_train, system, tmp_path, folder):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "thesis.txt").touch()
    spelt = system.PROGRAM.spelling.option(Option("out", folder))
    assert_refused(run_train(out=folder), f"error: {spelt} is not empty; choose another folder\n")


@pytest.mark.unmeasured
@pytest.mark.two_for_all
def test_names_do_not_steer_the_terminal(run_train, tiny, without_curves):
    out = "red \x1b[31m\x9b2J\x07\r"
    run = run_train(*tiny(max_steps=1), out=out, resume="auto")
    again = run_train(out=out, resume="auto")
    assert (run.code, again.code, "red \\x1b[31m" in run.out) == (0, 0, True)
    log = (run.folder / "train.log").read_text()
    assert [text for text in (run.out, again.out, log) if set("\x1b\x9b\x07\r") & set(text)] == []
    assert again.out.startswith("red \\x1b[31m")


def test_unknown_options_are_refused_and_write_nothing(run_train, program, tmp_path):
    for word in ("--max-step", "extra") if not program.speaks_hydra else ("--max-step", "max_step=3"):
        assert_refused(run_train(word), f"unknown {'key max_step' if '=' in word else 'option'}")
    assert list(tmp_path.iterdir()) == []


def test_too_many_workers_are_one_line(run_train, tiny, monkeypatch, tmp_path):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert_refused(run_train(*tiny(workers=9)), "9 workers: choose 0 to 8, this machine has 2 cores\n")
    assert list(tmp_path.iterdir()) == []


class Terminal(io.StringIO):
    """A text stream that says that somebody is looking."""

    def isatty(self):
        return True


@pytest.mark.unmeasured
@pytest.mark.program
@pytest.mark.two_for_all
def test_terminal_shows_a_bar_and_whole_lines(system, tiny, tmp_path, monkeypatch, one_thread):
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert system.PROGRAM.main(tiny(out=tmp_path / "run")) == 0
    shown = sys.stdout.getvalue()
    assert "step" in shown and "\r" in shown
    written = re.split("[\r\n]", shown)
    assert all(line in written for line in (tmp_path / "run" / "train.log").read_text().splitlines())


def test_help_names_every_option(system, capsys):
    with pytest.raises(SystemExit) as ended:
        system.PROGRAM.main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    resolved = system.PROGRAM.resolve({})
    options = vars(resolved).keys() - resolved.DERIVED
    words = system.PROGRAM.spelling.words(dict.fromkeys([*options, "out", "resume", "quick"], 1))
    assert not [word for word in words if word.partition("=")[0].lstrip("+") not in shown]


@pytest.mark.unmeasured
def test_home_folders_are_expanded(run_train, tiny, monkeypatch, tmp_path, without_curves):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert run_train(*tiny(max_steps=1, out="~/run")).code == 0
    assert (tmp_path / "home/run/summary.json").exists()
    assert "is finished" in run_train(resume="~/run").out
    assert not (tmp_path / "~").exists()


@pytest.mark.unmeasured
def test_folder_name_may_be_undecodable_bytes(run_train, tiny, without_curves):
    accept_any_output()
    out = os.fsdecode(b"run-\xff")
    run = run_train(*tiny(max_steps=1), out=out)
    if sys.platform == "darwin":  # its disks keep no such names
        assert_refused(run, "cannot make the run folder")
    else:
        assert (run.code, run_train(resume=out).code) == (0, 0)
        assert "\\udcff" in (run.folder / "train.log").read_text("utf-8")


@pytest.mark.parametrize("broken", ["after_step", "__init__"])
def test_out_of_memory_names_the_options_that_need_it(run_train, tiny, system, monkeypatch, tmp_path, broken):
    owner = Training if broken == "after_step" else system.PROGRAM.build
    monkeypatch.setattr(owner, broken, lambda *arguments: torch.empty(1 << 60))
    run = run_train(*tiny(), out="run")
    assert run.code == 1
    named = re.findall(r"(\S+) \(it is ([^ )]+)\)", run.err)
    assert run.err == f"error: out of memory; lower {' or '.join(f'{n} (it is {v})' for n, v in named)}\n"
    spelt = system.PROGRAM.spelling.option
    assert spelt(Option("batch_size")) in dict(named) and len(named) > 1
    options = vars(system.PROGRAM.resolve(system.PROGRAM.read_command_line(tiny())))
    values = {spelt(Option(name)): value for name, value in options.items()}
    assert all(str(values[name]) == value for name, value in named)
    assert (list(tmp_path.iterdir()) == []) == (broken == "__init__")  # before the first step


def test_nan_loss_ends_the_run(run_train, tiny, system, save_often, monkeypatch):
    after_step = Training.after_step

    def broken(training, measures, *others):
        return after_step(training, measures * (torch.nan if training.state.step == 13 else 1), *others)

    monkeypatch.setattr(Training, "after_step", broken)
    run = run_train(*tiny(), out="run")
    assert run.code == 1
    left = f"the last good checkpoint is {Path('run', 'checkpoints', 'last.pt')}"
    lr = run.json("config.json")["options"]["lr"]
    advice = f"try a lower {system.PROGRAM.spelling.option(Option('lr'))}"
    assert run.err == f"error: the loss became nan at step 13; {left}; {advice} (it was {lr:g})\n"
    assert run.last["step"] == 10
    heartbeat = run.json("heartbeat.json")
    assert (heartbeat["status"], "step 13" in heartbeat["error"]) == ("failed", True)
