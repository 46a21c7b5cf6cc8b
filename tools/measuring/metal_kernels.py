"""The names of PyTorch's Metal kernels, from the archives of them in the library of a macOS wheel."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from tools.versions import DATA

# A function in such an archive: the tag, the length of the name and of its end, the name, the next tag.
RECORD = re.compile(rb"NAME(..)([!-~]+)\0TYPE", re.DOTALL)
DEVICE = DATA.parents[1] / "tests" / "simulated_mps" / "simulated_mps"
RULES = DEVICE / "rules.json"
TYPES = list(json.loads(RULES.read_text(encoding="utf-8"))["metal_types"])  # in Metal's words


def kernel_names(library: bytes) -> set[str]:
    """Return the names of all Metal kernels in `library`."""
    found = RECORD.finditer(library)
    return {match[2].decode() for match in found if int.from_bytes(match[1], "little") == len(match[2]) + 1}


def types_with(pattern: str, names: Collection[str]) -> list[str]:
    """Return the types, in Metal's words, that have a kernel of this name, such as "renorm_{type}"."""
    return [each for each in TYPES if pattern.replace("{type}", each) in names]
