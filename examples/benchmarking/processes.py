"""Start the child process of a level, wait for its result, and end it when the user does not want to wait."""

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
PATIENCE = 5.0  # seconds for a child to end by itself


def run_in_child(job: Job) -> dict[str, Any]:
    """Return the result of `job`: what the child printed, or how it died. Ctrl-C ends the child as well."""
    child = subprocess.Popen(
        [sys.executable, str(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # with the worker processes of a loader, they can be ended as one group
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
    """Return why a child ended without a result, from its exit code and what it wrote to standard error."""
    last = complaints.strip().splitlines()[-1:] or ["it said nothing"]
    if code >= 0:
        return f"the process ended with exit code {code}: {last[0][:300]}"
    name = signal.Signals(-code).name
    hint = "; the system ends processes like that when memory runs out" if name == "SIGKILL" else ""
    return f"the process was ended by {name}{hint}: {last[0][:300]}"


def end_group(child: subprocess.Popen) -> None:
    """End a child and the processes that it started: politely, then without asking."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
    for stream in filter(None, (child.stdin, child.stdout, child.stderr)):
        with contextlib.suppress(OSError):
            stream.close()
