"""What one must know to repeat a run: versions, machine, command line, commit."""

import platform
import shlex
import sys
from datetime import UTC, datetime
from typing import Any

import torch

from snippets.framework.commit import source_commit
from snippets.framework.machine_id import machine_id
from snippets.framework.macos_version import macos_version


def provenance() -> dict[str, Any]:
    """Return versions, machine, command line, commit and time of this process."""
    macos, machine = macos_version(), platform.machine()
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "system": f"macOS {macos} {machine}" if macos else f"{platform.system()} {machine}",
        "kernel": platform.release(),
        "machine": machine_id(),
        "cpu_threads": torch.get_num_threads(),
        "command": shlex.join(sys.orig_argv),
        "git_commit": source_commit(),
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
