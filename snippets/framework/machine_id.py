"""Which machine this is, for those who find its files on a shared disk."""

import hashlib
import platform
import uuid
from typing import Any


def machine_id() -> str | None:
    """Return what tells this machine from all others; None where its network address is not known.

    It is a hash, since the files of a run are shown to others.
    """
    address = uuid.getnode()
    invented = address >> 40 & 1  # by Python, and another one in each process
    return None if invented else hashlib.sha256(str(address).encode()).hexdigest()[:12]


def is_this_machine(provenance: dict[str, Any]) -> bool:
    """Return whether `provenance` may have been noted here: by the machine, else by its kernel's version."""
    if provenance.get("machine") and machine_id():
        return provenance["machine"] == machine_id()
    return provenance.get("kernel", platform.release()) == platform.release()
