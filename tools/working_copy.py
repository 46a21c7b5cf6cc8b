"""A throw-away working copy: the repository's files behind links, and room for what commands write.

Commands that pages show (shell snippets, recorded output) run here, so that their `runs/` and figures do not
land among the files of whoever runs the tests.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MADE_BY_COMMANDS = {"site", "runs", "data"}
# Settings of the caller that would change what programs do or print. pytest folds long lines unless it sees
# CI or BUILD_NUMBER.
PERSONAL = ("PYTORCH_", "TORCH_", "MKL_", "KMP_", "CUDA_", "VIRTUAL_ENV", "PYTEST_", "CI", "BUILD_NUMBER")


@contextmanager
def working_copy(root: Path) -> Iterator[Path]:
    """Yield a temporary folder that looks like the repository at `root`, without results of earlier runs."""
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        for path in root.iterdir():
            if not path.name.startswith(".") and path.name not in MADE_BY_COMMANDS:
                (Path(folder) / path.name).symlink_to(path.resolve())
        yield Path(folder)


def environment(programs: Path | None = None) -> dict[str, str]:
    """Return the environment for commands: 80 columns, no colour, no personal settings.

    First in the path is the folder `programs`, or the one of this Python.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PERSONAL)}
    path = os.pathsep.join([str(programs or Path(sys.executable).parent), os.environ.get("PATH", "")])
    return kept | {"PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "MPLBACKEND": "agg"}
