"""One-line errors and exit codes."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from snippets.errors import RunError, UsageError, exit_with_one_line

ROOT = Path(__file__).resolve().parents[3]


def raising(error):
    def main(argv):
        raise error

    return main


def test_the_exit_code_of_main_is_passed_on():
    assert exit_with_one_line(lambda argv: len(argv), ["a", "b"]) == 2


@pytest.mark.parametrize(("error", "code"), [(UsageError("bad\nvalue"), 2), (RunError("bad  value"), 1)])
def test_an_expected_error_is_one_line(capsys, error, code):
    assert exit_with_one_line(raising(error)) == code
    assert capsys.readouterr().err == "error: bad value\n"


def test_what_a_file_says_cannot_steer_the_terminal(capsys):
    exit_with_one_line(raising(UsageError("a\n header \033[2J\x07 of 中文\u202e " + "x" * 10**6)))
    line = capsys.readouterr().err
    assert line.startswith(r"error: a header \x1b[2J\x07 of 中文\u202e xxx")
    assert line.endswith("x\n") and " […] " in line and len(line) < 2000


def test_a_second_ctrl_c_ends_without_a_traceback(capsys):
    assert exit_with_one_line(raising(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_file_that_cannot_be_opened_is_one_line(capsys, tmp_path):
    missing = tmp_path / "missing"
    assert exit_with_one_line(lambda argv: missing.stat()) == 1
    assert capsys.readouterr().err == f"error: {missing}: No such file or directory\n"


@pytest.mark.program
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_full_disk_is_one_line(tmp_path):
    code = "from snippets.errors import *; "
    code += "sys.exit(exit_with_one_line(lambda argv: print('x' * 10**6)))"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "error: cannot write the output: No space left on device\n")


def test_output_that_may_not_grow_is_one_line(capsys, monkeypatch):
    """Also a quota, and a disk that fails. The rest of the output is let go: its file takes no more."""
    monkeypatch.setattr("snippets.errors.discard_output", lambda: None)
    assert exit_with_one_line(raising(OSError(errno.EFBIG, "File too large"))) == 1
    assert capsys.readouterr().err == "error: cannot write the output: File too large\n"


@pytest.mark.parametrize("error", [ZeroDivisionError(), OSError("no file is to blame")])
def test_a_defect_keeps_its_traceback(error):
    with pytest.raises(type(error)):
        exit_with_one_line(raising(error))


@pytest.mark.program
def test_a_reader_that_has_gone_ends_the_program_quietly(tmp_path):
    """Like `program | head`, whose exit code in a shell would be that of SIGPIPE, too."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from snippets.errors import exit_with_one_line\n"
        "sys.exit(exit_with_one_line(lambda argv: print('line\\n' * 100_000)))\n"
    )
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == b""
        assert program.wait() == 141
