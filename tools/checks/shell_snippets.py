"""Shell snippets: the mark in their first lines says whether the tests run them, and if not, why.

# ci: run
# ci: run long            only by make test-long: others run the same, or Python starts for a line of it
# ci: no - macOS only: <why>
# ci: no - network: <why>
# ci: no - interactive: <why>
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("snippets/shell")
_MARK = re.compile(
    r"# ci: (?:(?P<run>run(?P<long> long)?)|no - (?P<kind>macOS only|network|interactive): (?P<why>\S.*))"
)
_HEAD = 3  # lines: the mark stands directly below `#!/usr/bin/env bash`


@dataclass(frozen=True)
class RunMark:
    """Whether the tests run a file: `kind` is run, macOS only, network or interactive."""

    kind: str
    why: str = ""
    long: bool = False  # run by the long tests alone


def run_mark(path: Path) -> RunMark:
    """Read the mark of a shell file. Raises ValueError when it has none, or one of an unknown form."""
    for line in path.read_text(encoding="utf-8").splitlines()[:_HEAD]:
        if found := _MARK.fullmatch(line.rstrip()):
            if found["run"]:
                return RunMark("run", long=found["long"] is not None)
            return RunMark(found["kind"], found["why"])
    raise ValueError(f"{path}: the first lines say neither `# ci: run` (long) nor `# ci: no - KIND: why`")


def branches(text: str) -> list[str]:
    """Return the lines that could skip or excuse a command, so that exit code 0 would not mean: all ran."""
    risky = re.compile(r"^\s*(if|case|exit|return|while|until)\b|\|\||&&|&\s*$|\bset \+e\b")
    return [line for line in text.splitlines() if risky.search(line) and not line.lstrip().startswith("#")]


def without(text: str, commands: list[list[str]]) -> str:
    """Return a script without the commands that are, word for word, one of `commands`."""
    kept = []
    for line in re.findall(r"(?:.*\\\n)*.*\n?", text):
        try:
            words = shlex.split(line.replace("\\\n", " "), comments=True)
        except ValueError:  # a quotation that ends on a later line
            words = []
        if words not in commands:
            kept.append(line)
    return "".join(kept)
