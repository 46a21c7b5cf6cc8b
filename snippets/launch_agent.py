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
    """Return the agent `name`, which starts or resumes `run` with `command` in the working folder `folder`.

    The keys are described in the manual page launchd.plist(5). No shell expands the words, so paths must be
    absolute.
    """
    arguments = [sys.executable, "-u", *command, "--out", str(run), "--resume", "auto"]
    log = f"{folder / run}.log"
    variables = {key: value for key, value in os.environ.items() if key.startswith("PYTORCH_")}
    return {
        "Label": name,
        "ProgramArguments": ["/usr/bin/caffeinate", "-i", *arguments],
        "EnvironmentVariables": variables,  # the present values: launchd reads no shell profile
        "WorkingDirectory": str(folder),
        "StandardOutPath": log,
        "StandardErrorPath": log,
        "RunAtLoad": True,  # at every login, so that the training continues after a restart
        "KeepAlive": {"Crashed": True},  # not after a wrong option or a NaN, which would only recur
        "ThrottleInterval": 60,  # least seconds between two starts
        "ProcessType": "Interactive",  # otherwise macOS limits its processor and disk use
    }


# --8<-- [end:launch_agent]
def main(argv: Sequence[str] | None = None) -> int:
    """Print the property list for the command line. Raises UsageError."""
    words = list(sys.argv[1:] if argv is None else argv)
    if len(words) < 3 or words[0].startswith("-"):
        raise UsageError("say NAME RUN_FOLDER TRAIN_SCRIPT [OPTION ...]")
    name, run, *command = words
    if not Path(command[0]).is_file():
        raise UsageError(f"there is no script {command[0]}")
    Path(run).parent.mkdir(parents=True, exist_ok=True)  # launchd opens the log before the training starts
    plist = launch_agent(name, Path(run), command, Path.cwd())
    sys.stdout.write(plistlib.dumps(plist, sort_keys=False).decode())
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
