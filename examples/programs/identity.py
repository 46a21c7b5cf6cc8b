"""Which code this is, and which machine. Only the standard library: the site and the monitor ask as well."""

import hashlib
import platform
import subprocess
import uuid
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[2]
NOTE = "COMMIT"  # beside examples/ and snippets/ in a zip of the site (tools/downloads.py)


def source_commit(home: Path = HOME) -> str | None:
    """Return the commit of the code in `home`, or None when it is unknown.

    In a zip of the site it is in a file, which is read first: `home` may be inside another git repository.
    """
    note = home / NOTE
    return note.read_text(encoding="utf-8").strip() if note.is_file() else git_commit(home)


def git_commit(folder: Path) -> str | None:
    """Return the commit of `folder`, with "-dirty" for uncommitted changes; None without git."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def machine_id() -> str | None:
    """Return an identifier of this machine; None when its network address is unknown.

    It is a hash of the address, since files of a run may be published.
    """
    address = uuid.getnode()
    invented = address >> 40 & 1  # by Python, a new one in each process
    return None if invented else hashlib.sha256(str(address).encode()).hexdigest()[:12]


def is_this_machine(provenance: dict[str, Any]) -> bool:
    """Return whether `provenance` may be from this machine, by its identifier, else by its kernel version."""
    if provenance.get("machine") and machine_id():
        return provenance["machine"] == machine_id()
    return provenance.get("kernel", platform.release()) == platform.release()
