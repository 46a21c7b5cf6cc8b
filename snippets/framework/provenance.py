"""What one must know to repeat a run: versions, machine, command line, commit."""

import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from snippets.framework.machine_id import machine_id


def git_commit(folder: Path) -> str | None:
    """Return the commit that `folder` is at, with "-dirty" for uncommitted changes; None without git."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def provenance() -> dict[str, Any]:
    """Return versions, machine, command line, commit and time of this process."""
    macos, machine = platform.mac_ver()[0], platform.machine()
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "system": f"macOS {macos} {machine}" if macos else f"{platform.system()} {machine}",
        "kernel": platform.release(),
        "machine": machine_id(),
        "cpu_threads": torch.get_num_threads(),
        "command": shlex.join(sys.orig_argv),
        "git_commit": git_commit(Path(__file__).parent),
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
