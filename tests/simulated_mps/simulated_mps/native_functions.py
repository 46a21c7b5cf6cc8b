"""Read PyTorch's list of operators, native_functions.yaml."""

import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Entry:
    """An operator: the devices that have a kernel of it, and the entry whose kernels it uses."""

    keys: set[str] = field(default_factory=set)  # "CPU", "MPS", "CompositeExplicitAutograd", …
    delegate: str | None = None


def read_entries(path: Path) -> dict[str, Entry]:
    """Return the operators of `path` by name ("add.Tensor").

    Line by line: a parser for YAML is not among the packages that PyTorch needs.
    """
    entries: dict[str, Entry] = {}
    section = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"- func: ([\w.]+)\(", line):
            entry = entries[found[1]] = Entry()
        elif found := re.match(r"  (\w+): *([\w.]*)", line):
            section, value = found[1], found[2]
            if section == "structured_delegate":
                entry.delegate = value
        elif section == "dispatch" and (found := re.match(r"    (\w+(?:, *\w+)*): *\w", line)):
            entry.keys |= set(re.split(r", *", found[1]))
    return entries


def read_marks(path: Path) -> dict[str, str]:
    """Return a mark for every operator in `path`.

    "x": it has an MPS kernel, of its own or by delegation. "c": it is composed of others. "-": neither.
    """
    entries = read_entries(path)
    marks = {}
    for name, entry in entries.items():
        keys = entries[entry.delegate].keys if entry.delegate else entry.keys
        composed = not keys or any(key.startswith("Composite") for key in keys)
        marks[name] = "x" if "MPS" in keys else "c" if composed else "-"
    return marks
