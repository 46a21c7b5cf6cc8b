"""Write the property list with which macOS starts a training at login, and again after a crash.

python -m snippets.launch_agent NAME RUN_FOLDER TRAIN_SCRIPT [OPTION ...] > NAME.plist
"""

import os
import plistlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snippets.errors import UsageError, exit_with_one_line


# --8<-- [start:launch_agent]
def launch_agent(name: str, run: Path, command: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return the agent `name` that begins or continues `run` with `command`, in the working folder `folder`.

    The keys are those of the manual launchd.plist(5). No shell reads the words, so paths are complete.
    """
    arguments = [sys.executable, "-u", *command, "--out", str(run), "--resume", "auto"]
    log = f"{folder / run}.log"
    variables = {key: value for key, value in os.environ.items() if key.startswith("PYTORCH_")}
    return {
        "Label": name,
        "ProgramArguments": ["/usr/bin/caffeinate", "-i", *arguments],
        "EnvironmentVariables": variables,  # as they are now: launchd reads no profile of a shell
        "WorkingDirectory": str(folder),
        "StandardOutPath": log,
        "StandardErrorPath": log,
        "RunAtLoad": True,  # at every login: after a restart, the training goes on
        "KeepAlive": {"Crashed": True},  # not after a wrong option or a NaN, which would only come again
        "ThrottleInterval": 60,  # seconds between two starts, at least
        "ProcessType": "Interactive",  # otherwise it gets less of the processor and of the disk
    }


# --8<-- [end:launch_agent]
def main(argv: Sequence[str] | None = None) -> int:
    """Print the property list for what the command line says. Raises UsageError."""
    words = list(sys.argv[1:] if argv is None else argv)
    if len(words) < 3 or words[0].startswith("-"):
        raise UsageError("say NAME RUN_FOLDER TRAIN_SCRIPT [OPTION ...]")
    name, run, *command = words
    if not Path(command[0]).is_file():
        raise UsageError(f"there is no script {command[0]}")
    Path(run).parent.mkdir(parents=True, exist_ok=True)  # the log is opened before the training begins
    plist = launch_agent(name, Path(run), command, Path.cwd())
    sys.stdout.write(plistlib.dumps(plist, sort_keys=False).decode())
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
