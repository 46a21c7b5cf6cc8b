"""What the monitor is made of: a curve in characters, losses from files of any size, a terminal."""

import fcntl
import io
import json
import os
import pty
import resource
import signal
import struct
import subprocess
import sys
import termios
import time
import tracemalloc
from pathlib import Path

import pytest

from examples import monitor
from examples.monitoring.loss_history import PEEK, TAIL, WHOLE, finite, parse, read_history, sample_lines
from examples.monitoring.text_curve import ASCII, GUTTER, draw_curve
from examples.monitoring.view import bar, cut, duration, memory, paint

SCRIPT = Path(monitor.__file__)
FAKE = Path(__file__).with_name("fake_training.py")


# ---- The curve ----


def test_a_falling_line_is_a_diagonal():
    """Over 40 columns and 3 lines: each dot has its place, the first above, the last below."""
    lines = draw_curve(range(40), [39.0 - step for step in range(40)], GUTTER + 40, 4, ASCII)
    heights = {}
    for row, line in enumerate(lines[:3]):
        for column, character in enumerate(line[GUTTER:]):
            if character != " ":
                heights[column] = 2 * row + (character == ".")
    assert sorted(heights) == list(range(40))
    assert [heights[column] for column in range(40)] == [round(column / 39 * 5) for column in range(40)]
    assert lines[3].split() == ["0", "step", "39"]
    assert [line[:GUTTER].strip() for line in lines] == ["39", "", "0", ""]


def test_braille_dots():
    """Unicode numbers dots: left column 1, 2, 4, 64 from the top, right column 8, 16, 32, 128."""
    width = GUTTER + 20
    lines = draw_curve([0, 39], [1.0, 1.0], width, 3)  # a constant: the row in the middle of eight
    assert lines[1][GUTTER:] == chr(0x2800 + 1 + 8) * 20
    rising = draw_curve([0, 39], [0.0, 1.0], width, 3)
    assert ord(rising[0][-1]) - 0x2800 & 8  # the last dot, top right
    assert ord(rising[1][GUTTER]) - 0x2800 & 64  # the first, bottom left


def test_a_wide_range_is_drawn_logarithmically():
    lines = draw_curve([0, 1, 2], [100.0, 10.0, 1.0], GUTTER + 40, 12, ASCII)
    assert "loss: logarithmic" in lines[-1]
    middle = next(row for row, line in enumerate(lines) if line[GUTTER:].ljust(40)[20] != " ")
    assert middle in (5, 6)  # 10 stands half-way between 1 and 100
    assert "logarithmic" not in draw_curve([0, 1], [29.0, 1.0], GUTTER + 40, 4)[-1]


def test_what_is_no_number_leaves_a_gap():
    losses = [1.0] * 10 + [None] * 10 + [1.0] * 10
    line = draw_curve(range(30), losses, GUTTER + 30, 3, ASCII)[1]
    assert line[GUTTER:] == "'" * 10 + " " * 10 + "'" * 10
    assert draw_curve([1, 2], [None, None], 80, 10) == []


@pytest.mark.parametrize(("width", "height"), [(28, 10), (80, 2), (0, 0), (80, -3)])
def test_without_room_there_is_no_curve(width, height):
    assert draw_curve([1, 2], [1.0, 2.0], width, height) == []


# ---- Losses from files of any size ----


def line_of(step):
    return json.dumps({"step": step, "epoch": step / 1000, "loss": 2 / step, "lr": 0.1, "samples_per_s": 9.0})


def test_small_files_are_read_completely(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(line_of(step) + "\n" for step in range(1, 2001)) + '{"step": 2001, "los')
    history = read_history(path, places=10)
    assert history.steps == list(range(1, 2001))  # without the line that is not finished
    assert history.losses == [2 / step for step in range(1, 2001)]


def test_large_files_are_sampled_evenly(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(line_of(step) + "\n" for step in range(1, 60_001)))
    assert path.stat().st_size > 4 * WHOLE
    history = read_history(path, places=100)
    assert len(history.steps) < 100 * PEEK / 60 + TAIL / 60
    assert history.losses == [2 / step for step in history.steps]
    assert history.steps == sorted(set(history.steps))
    assert history.steps[-1] == 60_000
    gaps = [later - step for step, later in zip(history.steps, history.steps[1:], strict=False)]
    assert history.steps[0] == 1
    assert max(gaps) < 60_000 / 100 * 1.1


def test_lines_are_never_cut():
    content = b"".join(b"%07d\n" % number for number in range(300_000))
    lines = list(sample_lines(io.BytesIO(content), 50))
    assert {len(line) for line in lines} == {7}
    assert lines[-1] == b"0299999"


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\0" * 100, b"no json\n[1]\n7\n{}\n" + b'{"step": "7"}\n']
)
def test_files_without_losses(tmp_path, content):
    (tmp_path / "metrics.jsonl").write_bytes(content)
    history = read_history(tmp_path / "metrics.jsonl", 10)
    assert (history.steps, history.losses, history.results) == ([], [], {})
    assert read_history(tmp_path / "missing", 10).steps == []


def test_nulls_and_results(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(
        '{"step": 1, "loss": 2, "accuracy": 0.5}\n'
        '{"step": 2, "loss": null}\n'
        '{"step": 3, "loss": NaN, "x": null}\n'
    )
    history = read_history(path, 10)
    assert (history.losses, history.results) == ([2.0, None, None], {"accuracy": 0.5})


def test_values_that_are_no_numbers():
    assert finite(3) == 3.0
    assert [finite(value) for value in (None, "3", [], float("inf"), 10**400)] == [None] * 5
    assert parse(b"[" * 100_000) == {}
    assert parse(b"\xff") == {}


def write_large(path, size):
    """Write a file of `size` bytes, of which every line is a line of metrics."""
    block = "".join(line_of(step) + "\n" for step in range(1, 10_001)).encode()
    with path.open("wb") as file:
        for _ in range(size // len(block) + 1):
            file.write(block)
        file.truncate(size)


def test_memory_does_not_grow_with_the_file(tmp_path):
    """100 MB of metrics, and then as many bytes without a single line break."""
    path = tmp_path / "metrics.jsonl"
    write_large(path, 100 * 10**6)
    hole = tmp_path / "hole.jsonl"
    with hole.open("wb") as file:
        file.truncate(10**9)  # sparse: takes no room on the disk
    tracemalloc.start()
    try:
        assert len(read_history(path, 160).steps) > 160
        assert read_history(hole, 160).steps == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * 10**6


@pytest.mark.long
def test_a_gigabyte_with_little_memory(tmp_path):
    """The whole program, with an address space a quarter of the size of the file."""
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_text("{}")
    (run / "heartbeat.json").write_text('{"status": "finished"}')
    write_large(run / "metrics.jsonl", 10**9)
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (250 * 10**6,) * 2)  # noqa: E731
    done = subprocess.run(
        [sys.executable, SCRIPT, run, "--once"], preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, *_, last = done.stdout.splitlines()[-1].split()
    assert int(first) < 100
    assert int(last.replace(",", "")) > 9000


# ---- Small texts ----


def test_durations():
    spans = [0, 59.4, 60, 200, 3600, 7500, 86_400, 273_000, -5]
    texts = ["0 s", "59 s", "1 min", "3 min 20 s", "1 h", "2 h 5 min", "1 d", "3 d 3 h", "0 s"]
    assert list(map(duration, spans)) == texts


def test_bars():
    bars = ["····", "····", "▏···", "██··", "████", "████"]
    assert [bar(share, 4, False) for share in (-1, 0, 1 / 32, 0.5, 1, 2)] == bars
    assert bar(0.5, 4, True) == "##.."


def test_cuts_and_amounts():
    assert [cut("abcdef", width, False) for width in (6, 5, 1, 0)] == ["abcdef", "abcd…", "…", ""]
    assert [cut("abcdef", width, True) for width in (5, 2)] == ["ab...", ".."]
    assert [memory(value) for value in (12.4, 999, 2130)] == ["12 MB", "999 MB", "2.1 GB"]
    assert paint("died      x") == "\x1b[1;31mdied\x1b[0m      x"
    assert paint("step      x") == "step      x"


# ---- The terminal ----


class Terminal:
    """A pseudo-terminal with the monitor in it."""

    def __init__(self, run, size=(24, 80), **variables):
        self.ours, theirs = pty.openpty()
        self.resize(*size, to=theirs)
        self.before = termios.tcgetattr(theirs)
        environment = {
            name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")
        }
        self.process = subprocess.Popen(
            [sys.executable, SCRIPT, run, "--interval", "0.1"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
            env=environment | {"TERM": "xterm-256color", "PYTHONUTF8": "1"} | variables,
        )
        self.theirs = theirs
        self.shown = ""

    def resize(self, lines, columns, to):
        fcntl.ioctl(to, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, *wanted):
        """Read until all texts have been shown since the last call; return what was."""
        shown = b""
        while not all(text.encode() in shown for text in wanted):
            shown += os.read(self.ours, 65536)
        self.shown += shown.decode(errors="replace")
        return shown.decode(errors="replace")

    def read_rest(self):
        """Read what is left after the end, and return everything."""
        code = self.process.wait(timeout=20)
        os.close(self.theirs)
        try:
            while chunk := os.read(self.ours, 65536):
                self.shown += chunk.decode(errors="replace")
        except OSError:  # Linux: the other end is closed
            pass
        os.close(self.ours)
        return code, self.shown


@pytest.fixture
def training(tmp_path):
    """Yield the folder of a run in progress, and its process."""
    run = tmp_path / "run"
    process = subprocess.Popen([sys.executable, FAKE, "--out", run, "--steps", "100000"])
    while not (run / "metrics.jsonl").exists():
        time.sleep(0.02)
    yield run, process
    process.kill()
    process.wait()


@pytest.mark.program
def test_live_view_until_ctrl_c(training):
    terminal = Terminal(training[0])
    begin = terminal.read_until("\x1b[?1049h", "\x1b[?25l", "running", "step")
    assert "\x1b[1;32mrunning\x1b[0m" in begin
    drawn_again = terminal.read_until("\x1b[H")
    assert "\x1b[2J" not in begin + drawn_again  # clearing the whole screen would flicker
    assert termios.tcgetattr(terminal.theirs) == terminal.before
    os.write(terminal.ours, b"\x03")
    code, shown = terminal.read_rest()
    assert code == 130
    _, _, after = shown.rpartition("\x1b[?25h\x1b[?1049l")
    assert "running" in after  # the last view stays on the main screen
    assert "Traceback" not in shown
    assert shown.count("\x1b[?1049h") == shown.count("\x1b[?1049l") == 1


@pytest.mark.program
def test_a_new_size_is_used_at_once(training):
    terminal = Terminal(training[0], size=(30, 100))
    assert max(map(len, frame(terminal.read_until("\x1b[J")))) == 100
    terminal.resize(8, 40, to=terminal.ours)
    terminal.read_until("\x1b[J")
    lines = frame(terminal.read_until("\x1b[J"))
    assert len(lines) <= 8
    assert max(map(len, lines)) <= 40
    terminal.process.send_signal(signal.SIGTERM)
    code, shown = terminal.read_rest()
    assert code == 143
    assert "\x1b[?25h\x1b[?1049l" in shown


def frame(shown):
    """Return the lines of the last complete picture."""
    picture = shown.rpartition("\x1b[J")[0].rpartition("\x1b[H")[2]
    for code in ("\x1b[K", "\x1b[1;32m", "\x1b[0m"):
        picture = picture.replace(code, "")
    return picture.replace("\r", "").split("\n")


@pytest.mark.program
def test_the_end_of_the_run_ends_the_view(training):
    run, process = training
    terminal = Terminal(run, NO_COLOR="1")
    terminal.read_until("running")
    process.kill()
    process.wait()
    code, shown = terminal.read_rest()
    assert code == 1
    assert "\x1b[1;" not in shown
    after = shown.rpartition("\x1b[?1049l")[2]
    assert "died " in after
    assert f"process {process.pid} is gone" in after
