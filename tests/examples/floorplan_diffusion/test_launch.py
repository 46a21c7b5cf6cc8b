"""The launcher: its menu in a pseudo-terminal, what it starts, and how it ends."""

import fcntl
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from examples.floorplan_diffusion import launch
from examples.monitoring.run_state import is_locked, read_run
from examples.programs.run_folder import read_json
from examples.systems import find

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "examples" / "floorplan_diffusion" / "launch.py"
FAKE = ROOT / "tests" / "examples" / "fake_training.py"
# Starts the programs of another folder; everything else is as it is.
WITH_OTHER_PROGRAMS = """
import sys
from pathlib import Path
from examples import systems
from examples.floorplan_diffusion import launch
systems.FOLDER = Path(sys.argv[1])
sys.exit(launch.exit_with_one_line(launch.main, sys.argv[2:]))
"""
NOTES = "import sys; print('started', *sys.argv[1:]); sys.exit(3)"
SAVES = """
import signal, sys, time
def stop(number, frame):
    time.sleep(0.5)  # a step and a checkpoint
    print("saved after", number, flush=True)
    sys.exit(128 + number)
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
print("ready", flush=True)
time.sleep(60)
"""
pytestmark = [pytest.mark.program, pytest.mark.unmeasured]


@pytest.fixture
def programs(tmp_path):
    """Return a function that writes both programs of the stages, and gives the command that starts them."""
    folder = tmp_path / "programs" / "floorplan_diffusion"
    folder.mkdir(parents=True)

    def write(nodes=NOTES, edges=NOTES):
        for name, text in (("train_nodes", nodes), ("train_edges", edges)):
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        return [sys.executable, "-c", WITH_OTHER_PROGRAMS, str(folder.parent)]

    return write


@pytest.fixture
def call(tmp_path, one_thread):
    """Return a function that runs a command without a terminal, in an empty folder."""
    (tmp_path / "here").mkdir()

    def run(*command):
        return subprocess.run(
            [str(word) for word in command],
            cwd=tmp_path / "here",
            env=one_thread,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


class Terminal:
    """A pseudo-terminal with a program in it."""

    def __init__(self, *command):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=ROOT,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
        )
        self.theirs = theirs
        self.shown = ""

    def read_until(self, text):
        while text not in self.shown:
            self.shown += os.read(self.ours, 65536).decode()

    def type(self, text):
        os.write(self.ours, text.encode())

    def end(self):
        """Wait for the end; return exit code and everything that was shown."""
        code = self.process.wait(timeout=60)
        os.close(self.theirs)
        try:
            while chunk := os.read(self.ours, 65536):
                self.shown += chunk.decode()
        except OSError:  # Linux: the other end is closed
            pass
        os.close(self.ours)
        return code, self.shown.replace("\r\n", "\n")


def test_menu_starts_a_stage_and_keeps_exit_code(programs):
    terminal = Terminal(*programs(nodes="raise SystemExit('the other stage')"), "--", "--epochs", "2")
    terminal.read_until("Choice: ")
    assert terminal.shown.replace("\r\n", "\n") == (
        "Floor plans\n  1  Stage 1: node generation\n  2  Stage 2: edge generation\n"
        "  3  Monitor training progress\n  q  Quit\nChoice: "
    )
    terminal.type("4\n")
    terminal.read_until("'4' is none of 1, 2, 3 and q\r\nChoice: ")
    terminal.type("2\n")
    code, shown = terminal.end()
    assert code == 3
    assert shown.endswith(
        "\nlog        train.log in the folder that the line `run` names\nstarted --epochs 2\n"
    )


def asleep(process):
    """Wait until a process waits for input: Python notices a Ctrl-C between prompt and reading only later."""
    state = ["ps", "-o", "state=", "-p", str(process.pid)]
    while not subprocess.run(state, capture_output=True, text=True, check=True).stdout.startswith("S"):
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("typed", "code", "last"), [("\x03", 130, "interrupted\n"), ("q\n", 0, "q\n"), ("\x04", 0, "\n")]
)
def test_ways_to_leave_the_menu(programs, typed, code, last):
    """Ctrl-C, quit, Ctrl-D."""
    terminal = Terminal(*programs())
    terminal.read_until("Choice: ")
    asleep(terminal.process)
    terminal.type(typed)
    found, shown = terminal.end()
    assert (found, "started" in shown) == (code, False)
    after = shown.partition("Choice: ")[2]
    assert after.endswith(last) and after.count("\n") <= 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_the_program_time_to_save(programs, number):
    """Ctrl-C reaches all processes of a terminal, SIGTERM only the launcher."""
    terminal = Terminal(*programs(nodes=SAVES), "--choice", "1")
    terminal.read_until("ready")
    time.sleep(0.1)
    if number == signal.SIGINT:
        terminal.type("\x03")
    else:
        terminal.process.send_signal(number)
    code, shown = terminal.end()
    assert (code, shown.count("saved after")) == (128 + number, 1)
    assert shown.endswith(f"saved after {int(number)}\n")


def test_without_a_terminal_one_has_to_choose(call):
    done = call(sys.executable, SCRIPT)
    assert (done.returncode, done.stdout.count("\n")) == (2, 5)
    assert done.stderr == "error: there is no terminal on which to choose; use --choice 1, 2 or 3\n"


def test_what_is_wrong_is_one_line(call, programs, tmp_path):
    launch = programs()
    for words, message in (
        ("--choice 4", "--choice: invalid choice: 4 (choose from 1, 2, 3)"),
        (
            "--choice 1 --epochs 3",
            "unknown option '--epochs'; options of the program that is started follow --",
        ),
        ("--choice 1 runs/a", "runs/a: a run is for choice 3; options of the program stand after --"),
        ("--choice 3 --background", "--background is for trainings, choices 1 and 2"),
        ("--choice 3", "there is no run of this system in runs; train one first"),
        ("--choice 3 nowhere", "nowhere does not exist"),
        (
            "--choice 1 --background -- --resume auto",
            "--resume with --background: name the folder with --out",
        ),
    ):
        done = call(*launch, *words.split())
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert done.stderr.startswith(f"error: {message}")
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.long
def test_the_training_program_itself_and_then_its_progress(call, tmp_path):
    tiny = find("floorplan_diffusion/train_edges")[1][0]
    words = tiny.words({**tiny.tiny, "epochs": 1, "device": "cpu"})
    done = call(sys.executable, SCRIPT, "--choice", "2", "--", *words)
    assert (done.returncode, done.stderr) == (0, "")
    (run,) = (tmp_path / "here" / "runs" / "floorplan_diffusion" / "train_edges").iterdir()
    run = run.relative_to(tmp_path / "here")
    assert f"run        {run}\n" in done.stdout
    older = tmp_path / "here" / "runs" / "floorplan_diffusion" / "train_nodes" / "9999"
    shutil.copytree(tmp_path / "here" / run, older)
    os.utime(older / "config.json", (1, 1))
    seen = call(sys.executable, SCRIPT, "--choice", "3")
    assert (seen.returncode, seen.stderr) == (0, "")
    assert seen.stdout.startswith(f"log        {run}/train.log\nfinished ")
    assert seen.stdout.count("\n") == 2  # the other run is not shown
    assert call(sys.executable, SCRIPT, "--choice", "3", older).stdout.startswith(f"log        {older}/")


def test_a_training_in_the_background_goes_on(call, programs, tmp_path):
    launch = programs(nodes=FAKE.read_text(encoding="utf-8"))
    done = call(*launch, "--choice", "1", "--background", "--", "--steps", "100000")
    assert (done.returncode, done.stderr) == (0, "")
    (run,) = (tmp_path / "here" / "runs" / "floorplan_diffusion" / "train_nodes").glob("*/")
    try:
        assert is_locked(run / "train.log")
        pid = read_json(run / "heartbeat.json")["pid"]
        name = run.relative_to(tmp_path / "here")
        assert done.stdout.startswith(f"process {pid} trains in {name}\n")
        assert done.stdout.endswith(f"\nlog:    {name}/train.log\n")
    finally:
        os.kill(int(done.stdout.split()[1]), signal.SIGTERM)
    while is_locked(run / "train.log"):
        time.sleep(0.05)
    assert read_run(run).status == "interrupted"
    again = call(*launch, "--choice", "1", "--background", "--", f"--out={run}", "--steps", "3")
    assert again.returncode == 0, again.stderr
    while is_locked(run / "train.log"):
        time.sleep(0.05)
    assert read_run(run).status == "finished"


def test_the_newest_run_is_found_wherever_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = (
        ("edges", "train_edges"),
        ("floorplan_diffusion/train_nodes/old", "train_nodes"),
        ("drawn", "generate"),
    )
    for age, (place, program) in zip((10, 20, 0), runs, strict=True):
        folder = tmp_path / "runs" / place
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"system": f"floorplan_diffusion/{program}"}))
        os.utime(folder / "config.json", (1e9 - age, 1e9 - age))
    assert launch.newest_run() == Path("runs/edges")
