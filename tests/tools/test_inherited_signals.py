"""Programs that tests start obey signals, however the tests themselves were started (tests/conftest.py)."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.program

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
IGNORED = "import signal; print([n.name for n in {} if signal.getsignal(n) is signal.SIG_IGN])"


def test_a_program_ignores_no_signal():
    program = IGNORED.format([f"signal.{number.name}" for number in SIGNALS]).replace("'", "")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_program_ignores_no_signal_after_nohup():
    def ignore() -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider"]
    test = f"{__file__}::test_a_program_ignores_no_signal"
    done = subprocess.run(
        [*command, test], cwd=ROOT, preexec_fn=ignore, capture_output=True, text=True, check=False
    )
    assert "1 passed" in done.stdout, done.stdout
