"""Which commit the code is from. Only the standard library: the site's build names it in its downloads."""

import subprocess
from pathlib import Path

from snippets.framework.startup import HOME

NOTE = "COMMIT"  # beside examples/ and snippets/ in a zip of the site (tools/downloads.py)


def source_commit(home: Path = HOME) -> str | None:
    """Return the commit that the code in `home` is from.

    In a zip a file tells. It comes first: the folder around it may be under git, but of another project.
    """
    note = home / NOTE
    return note.read_text(encoding="utf-8").strip() if note.is_file() else git_commit(home)


def git_commit(folder: Path) -> str | None:
    """Return the commit that `folder` is at, with "-dirty" for uncommitted changes; None without git."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
