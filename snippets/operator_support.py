"""Show whether PyTorch has an MPS kernel for an operator, from the list that PyTorch installs.

`python -m snippets.operator_support linalg_eig` needs no Mac.
"""

import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import torch

from snippets.errors import UsageError, exit_with_one_line

LIST = "packaged/ATen/native/native_functions.yaml"  # in the package torchgen, which torch installs
ALWAYS_ON_CPU = {"embedding_renorm_"}  # hard-coded in 2.14.1 and 2.15.0, whatever the fallback variable is

HAS_KERNEL = "has an MPS kernel"
COMPOSED = "is built from other operators, which decide"
MISSING = "has no MPS kernel"
FALLS_BACK = "has no MPS kernel: it always runs on the CPU"
ELSEWHERE = "serves the CPU or special tensors only"


@dataclass
class Operator:
    """An entry of native_functions.yaml: its dispatch keys, and the entry whose kernels it uses."""

    name: str  # with its overload: "add.Tensor", "linalg_eig"
    keys: set[str] = field(default_factory=set)  # "CPU", "MPS", "CompositeExplicitAutograd", …
    delegate: str | None = None


def read_operators(path: Path) -> dict[str, Operator]:
    """Return the operators of native_functions.yaml at `path` by name.

    The file is read line by line, because PyTorch does not depend on a YAML parser.
    """
    operators: dict[str, Operator] = {}
    section = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"- func: ([\w.]+)\(", line):
            operator = operators[found[1]] = Operator(found[1])
        elif found := re.match(r"  (\w+): *([\w.]*)", line):
            section, value = found[1], found[2]
            if section == "structured_delegate":
                operator.delegate = value
        elif section == "dispatch" and (found := re.match(r"    (\w+(?:, *\w+)*): *\w", line)):
            operator.keys |= set(re.split(r", *", found[1]))
    return operators


def installed_list() -> Path:
    """Return the path of the installed PyTorch's list. Raises UsageError when it is missing."""
    torchgen = find_spec("torchgen")
    path = Path(torchgen.origin).parent / LIST if torchgen and torchgen.origin else Path(LIST)
    if not path.is_file():
        raise UsageError(f"this PyTorch {torch.__version__} has no {LIST}; install it with pip")
    return path


def support(name: str, operators: dict[str, Operator]) -> str:
    """Return the MPS support of operator `name` as one of the five sentences above. Raises KeyError.

    An operator with a kernel may still reject a data type, or compute wrong values.
    """
    operator = operators[name]
    keys = operators[operator.delegate].keys if operator.delegate else operator.keys
    if name in ALWAYS_ON_CPU:
        return FALLS_BACK
    if "MPS" in keys:
        return HAS_KERNEL
    if not keys or any(key.startswith("Composite") for key in keys):
        return COMPOSED
    return MISSING if "CUDA" in keys else ELSEWHERE


def plain_name(text: str) -> str:
    """Return the name without its library: "aten::add.Tensor" and "aten.add.Tensor" become "add.Tensor"."""
    return re.sub(r"^aten(::|\.)|\.default$", "", text)


def overloads(text: str, operators: dict[str, Operator]) -> Iterator[str]:
    """Yield the operators named by `text`: one overload, or all of a name. Raises UsageError if none."""
    name = plain_name(text)
    found = [known for known in operators if name in (known, known.partition(".")[0])]
    if not found:
        bases = sorted({known.partition(".")[0] for known in operators})
        close = difflib.get_close_matches(name, bases) or [base for base in bases if name in base][:5]
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise UsageError(f"PyTorch {torch.__version__} has no operator {text!r}{hint}")
    yield from found


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for every overload of the operators named."""
    names = list(sys.argv[1:] if argv is None else argv)
    if not names:
        raise UsageError("name an operator, as in: python -m snippets.operator_support linalg_eig")
    operators = read_operators(installed_list())
    print(f"PyTorch {torch.__version__.partition('+')[0]}")
    for name in names:
        for overload in overloads(name, operators):
            print(f"{overload} {support(overload, operators)}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
