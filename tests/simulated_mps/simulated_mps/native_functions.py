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


def keys_of(entries: dict[str, Entry], name: str) -> set[str]:
    """Return the devices with a kernel of `name`, of its own or of the entry whose kernels it uses."""
    entry = entries[name]
    return entries[entry.delegate].keys if entry.delegate else entry.keys


def is_composed(keys: set[str]) -> bool:
    """Return whether an operator with these kernels is, or can be, composed of others."""
    return not keys or any(key.startswith("Composite") for key in keys)


def read_marks(path: Path) -> dict[str, str]:
    """Return a mark for every operator in `path`.

    "x": it has an MPS kernel, of its own or by delegation. "c": it is composed of others. "-": neither.
    """
    entries = read_entries(path)
    marks = {}
    for name in entries:
        keys = keys_of(entries, name)
        marks[name] = "x" if "MPS" in keys else "c" if is_composed(keys) else "-"
    return marks


def read_sparse(path: Path) -> set[str]:
    """Return the operators in `path` that take sparse tensors on MPS."""
    return {name for name, entry in read_entries(path).items() if "SparseMPS" in entry.keys}


def read_composed_with_kernel(path: Path, derivatives: Path) -> set[str]:
    """Return the operators in `path` that are composed of others, except that MPS has a kernel.

    Not those whose gradient `derivatives` gives by an operator that MPS lacks: there PyTorch's C++ decides
    before, by device, when to take the kernel.
    """
    entries = read_entries(path)
    marks = read_marks(path)
    missing = {name for name, mark in marks.items() if mark == "-"}
    formulas = re.split(r"^- name: ", derivatives.read_text(encoding="utf-8"), flags=re.MULTILINE)
    without_gradient = {
        formula.partition("(")[0]
        for formula in formulas
        if missing & set(re.findall(r"\b\w+(?=\()", formula.partition("\n")[2]))
    }
    found = {name for name, mark in marks.items() if mark == "x" and is_composed(keys_of(entries, name))}
    return found - without_gradient
