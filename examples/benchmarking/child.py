"""The process of one level: read a job from standard input, train, print the result as one line of JSON.

A separate process isolates crashes, memory exhaustion and memory figures of a level, and PyTorch reads
variables such as PYTORCH_ENABLE_MPS_FALLBACK only when it is imported.
"""

import importlib
import json
import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/

from examples.benchmarking.levels import Level
from examples.benchmarking.steps import Plan, time_steps
from snippets.errors import UsageError
from snippets.memory import is_out_of_memory

MARK = "benchmark result> "  # the system may print other lines before it


@dataclass(frozen=True)
class Job:
    """The task of one child process."""

    module: str  # the system's train.py, as a module
    words: list[str]  # the system's own flags
    level: Level
    plan: Plan
    batch_size: int | None = None  # None: as in `words`, or the system's default
    workers: int | None = None

    def to_json(self) -> str:
        """Return the job as text for the child's standard input."""
        return json.dumps({**vars(self), "level": vars(self.level), "plan": vars(self.plan)})

    @staticmethod
    def from_json(text: str) -> "Job":
        """Return the job that `to_json` wrote."""
        values = json.loads(text)
        switches = tuple(values["level"].pop("switches"))
        level = Level(**values["level"], switches=switches)
        return Job(**values | {"level": level, "plan": Plan(**values["plan"])})

    def options(self, typed: dict[str, Any]) -> dict[str, Any]:
        """Return the system's options, including those that the benchmark sets."""
        swept = {"batch_size": self.batch_size, "workers": self.workers}
        length = {"epochs": self.plan.most_steps, "max_steps": self.plan.most_steps}  # the end of schedules
        return typed | self.level.options() | {k: v for k, v in swept.items() if v is not None} | length


def run_job(job: Job) -> dict[str, Any]:
    """Return the result of a level: status "measured", or "unavailable" or "failed" with the reason."""
    try:
        system = importlib.import_module(job.module).PROGRAM
        start = time.perf_counter()
        task = system.prepare(job.options(system.read_command_line(job.words)))
        prepared = time.perf_counter() - start  # reads data; compiles
        if unknown := [name for name in job.level.switch_options if not hasattr(task.options, name)]:
            return {"status": "unavailable", "reason": f"this system has no {unknown[0]}"}
        if job.level.compiled and (obstacle := why_not_compiled(task)):
            return {"status": "unavailable", "reason": obstacle}
        result = time_steps(task, job.plan)
        return {"status": "measured", "start_s": prepared + result["first_step_s"]} | result
    except UsageError as error:
        return {"status": "unavailable", "reason": one_line(str(error))}
    except Exception as error:
        if is_out_of_memory(error):
            return {"status": "failed", "reason": "out of memory; try a smaller batch (--batch-sizes)"}
        return {"status": "failed", "reason": f"{type(error).__name__}: {one_line(str(error))}"}


def why_not_compiled(task: Any) -> str | None:
    """Return why the task trained without compilation, or None when it was compiled."""
    said = str(task.facts.get("compile") or "the system did not compile")
    return None if said.startswith("compiled") else said.removeprefix("not compiled: ")


def one_line(text: str) -> str:
    """Return the first line of a message that is not empty, shortened to 300 characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:300] if lines else "no message"


def end_with_parent(parent: int) -> None:
    """End this process when its parent has ended or was killed, since nothing would read the result."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> int:
    """Run the job on standard input and print its result."""
    threading.Thread(target=end_with_parent, args=[os.getppid()], daemon=True).start()
    result = run_job(Job.from_json(sys.stdin.read()))
    print(MARK + json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
