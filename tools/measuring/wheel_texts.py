"""The texts in a wheel: the strings of its Mach-O libraries, and its Python files with literals joined."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

LIBRARY = re.compile(r".*\.(dylib|so)")
# Of the Python files those that a program runs: the tests in PyTorch quote messages of other releases.
PYTHON = re.compile(r"(?!torch/testing/|caffe2/).*\.py")
STRING = re.compile(rb"[\t\n -~]{6,}+(?=\0)")
LONGEST_NAME = (
    80  # what has no blank and is longer is a mangled name of C++, as most strings of a library are
)
COMMENT = re.compile(r"^[ \t]*#.*\n", re.MULTILINE)
# Between two literals that Python joins: "The operator "  # comment
#                                         f"'{name}' is not …"
JOINT = re.compile(r"""["'](?:\s+|\s*\+\s*|\s*\\\n\s*|\s*\#[^\n]*\n\s*)[fFrRbBuU]{0,2}["'](?=[^"'])""")
QUOTE = re.compile(r"""\\(["'])""")


def python_text(code: str) -> str:
    """Return Python code without comments, neighbouring literals joined, no backslashes before quotes."""
    return QUOTE.sub(r"\1", JOINT.sub("", COMMENT.sub("", code)))


def library_text(content: bytes) -> str:
    """Return the different strings of a library, one per line."""
    found = (text.decode("ascii") for text in dict.fromkeys(STRING.findall(content)))
    return "\n".join(text for text in found if " " in text or len(text) <= LONGEST_NAME)


def read_texts(wheel: Path) -> str:
    """Return all that a wheel's libraries and Python files contain."""
    parts = []
    with zipfile.ZipFile(wheel) as content:
        for name in content.namelist():
            if LIBRARY.fullmatch(name):
                parts.append(library_text(content.read(name)))
            elif PYTHON.fullmatch(name):
                parts.append(python_text(content.read(name).decode("utf-8", "replace")))
    return "\n".join(parts)
