"""Start the child process of a level, wait for its result, and end it on Ctrl-C."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from examples.benchmarking.child import MARK, Job

CHILD = Path(__file__).with_name("child.py")
PATIENCE = 5.0  # seconds until a child that does not end is killed


def run_in_child(job: Job) -> dict[str, Any]:
    """Return the result that the child printed, or the reason of its failure. Ctrl-C also ends the child."""
    child = subprocess.Popen(
        [sys.executable, str(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # the child and the workers of its loader can be ended as one group
    )
    try:
        printed, complaints = child.communicate(job.to_json())
    except BaseException:
        end_group(child)
        raise
    for line in reversed(printed.splitlines()):
        if line.startswith(MARK):
            return json.loads(line.removeprefix(MARK))
    return {"status": "failed", "reason": cause_of_death(child.returncode, complaints)}


def cause_of_death(code: int, complaints: str) -> str:
    """Return why a child ended without a result, from its exit code and its standard error."""
    last = complaints.strip().splitlines()[-1:] or ["it said nothing"]
    if code >= 0:
        return f"the process ended with exit code {code}: {last[0][:300]}"
    name = signal.Signals(-code).name
    hint = "; the system ends processes like that when memory runs out" if name == "SIGKILL" else ""
    return f"the process was ended by {name}{hint}: {last[0][:300]}"


def end_group(child: subprocess.Popen) -> None:
    """End a child and the processes that it started: with SIGTERM, then with SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
    for stream in filter(None, (child.stdin, child.stdout, child.stderr)):
        with contextlib.suppress(OSError):
            stream.close()
