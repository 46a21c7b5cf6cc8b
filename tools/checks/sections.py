"""Named sections of Python, shell, YAML, JSON and property list files: what pages include.

A section is what stands between two comment lines, each alone on its line:

    # --8<-- [start:pick_device]
    ...
    # --8<-- [end:pick_device]

JSON has `//` in place of `#`. A property list has `<!-- -8<- [start:name] -->`, because XML allows no `--`
in a comment. Sections may nest. The snippet extension that builds the pages accepts much more and stays
silent when it goes wrong (an unclosed section runs to the end of the file, of two sections with one name
the first wins, an empty section gives an empty block), so every departure from the form above is reported
here as a defect.
"""

from __future__ import annotations

import hashlib
import io
import re
import textwrap
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOTS = ("snippets", "examples")
SUFFIXES = (".py", ".sh", ".yml", ".json", ".plist")

_MARKER = re.compile(r"^\s*(?:(?:#|//) --8<--|<!-- -8<-) \[(start|end):([a-z][a-z0-9_-]*)\](?: -->)?$")
_ANYTHING_LIKE_A_MARKER = re.compile(r"-8<-")


@dataclass(frozen=True)
class Section:
    """One named section: `first` and `last` are the 1-based lines between its two markers."""

    path: str  # relative to the repository root, with forward slashes
    name: str
    first: int
    last: int
    text: str  # without marker lines, dedented, no line break at the end

    @property
    def key(self) -> str:
        """`path:name`, which is what an include line says."""
        return f"{self.path}:{self.name}"

    @property
    def identity(self) -> str:
        """`path:name hash`: this section with the code that it has now."""
        return f"{self.key} {self.hash}"

    @property
    def hash(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256: of Python the code alone, of others the text."""
        text = code_alone(self.text) if self.path.endswith(".py") else self.text
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def code_alone(text: str) -> str:
    """Return Python text without comments, docstrings, blank lines and blanks at the ends of lines.

    A section may be a part of a statement, such as two lines of a long list: it is read as far as possible.
    """
    lines = text.splitlines()
    for first, last in reversed(_comments_and_docstrings(text)):
        (row, column), (last_row, last_column) = first, last
        rest = lines[last_row - 1][last_column:]
        lines[row - 1 : last_row] = [lines[row - 1][:column] + rest]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _comments_and_docstrings(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the places, first and last as (row, column), of what is not code, in order."""
    places, docstring = [], None
    before = tokenize.NEWLINE  # of the tokens that mean something, the kind of the last one
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"{text}\n").readline):
            if token.type == tokenize.COMMENT:
                places.append((token.start, token.end))
            if token.type in (tokenize.COMMENT, tokenize.NL):
                continue
            if docstring and token.type == tokenize.NEWLINE:
                places.append(docstring)
            alone = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            triple = token.type == tokenize.STRING and token.string.endswith(('"""', "'''"))
            docstring = (token.start, token.end) if alone and triple else None
            before = token.type
    except (tokenize.TokenError, IndentationError):
        pass  # the brackets of a part need not match
    return sorted(places)


def is_marker(line: str) -> bool:
    """Whether a line starts or ends a section."""
    return _MARKER.match(line) is not None


def parse_sections(path: Path, root: Path) -> tuple[list[Section], list[str]]:
    """Read one file's sections, in order, and its defects as `path:line: what is wrong`."""
    name = path.relative_to(root).as_posix()
    lines = path.read_text(encoding="utf-8").splitlines()
    started: dict[str, int] = {}
    sections: dict[str, Section] = {}
    defects = []
    for number, line in enumerate(lines, start=1):
        marker = _MARKER.match(line)
        if marker is None:
            if _ANYTHING_LIKE_A_MARKER.search(line):
                defects.append(f"{name}:{number}: not a section marker of the form `# --8<-- [start:name]`")
            continue
        kind, section = marker.groups()
        if kind == "start":
            if section in started or section in sections:
                defects.append(f"{name}:{number}: section {section!r} starts a second time")
            else:
                started[section] = number
        elif section not in started:
            defects.append(f"{name}:{number}: section {section!r} ends but has not started")
        else:
            first = started.pop(section) + 1
            sections[section] = _section(name, section, lines, first, number - 1)
            if not sections[section].text:
                defects.append(f"{name}:{first - 1}: section {section!r} is empty")
    defects += [f"{name}:{line}: section {section!r} is never closed" for section, line in started.items()]
    return sorted(sections.values(), key=lambda section: section.first), defects


def _section(path: str, name: str, lines: list[str], first: int, last: int) -> Section:
    shown = [line for line in lines[first - 1 : last] if not is_marker(line)]
    text = textwrap.dedent("\n".join(shown)).strip("\n").rstrip()
    return Section(path, name, first, last, text)


def all_sections(root: Path) -> tuple[dict[str, Section], list[str]]:
    """Read every section under `snippets/` and `examples/`: sections by `path:name`, and all defects."""
    sections: dict[str, Section] = {}
    defects: list[str] = []
    for path in section_files(root):
        found, wrong = parse_sections(path, root)
        sections.update((section.key, section) for section in found)
        defects += wrong
    return sections, defects


def section_files(root: Path) -> list[Path]:
    """List the files that may hold sections, sorted."""
    found = (path for folder in ROOTS for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)
    return sorted(path for path in found if "__pycache__" not in path.parts)
