"""Which files and packages programs need: their imports, followed with `ast` from file to file.

Imports within functions count as well. Ours are the modules that lie in the root folder; what is neither ours
nor in the standard library is a package to install.
"""

import ast
import functools
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath


@dataclass
class Needs:
    """What programs need: files, relative to the root folder, and top-level names of other packages."""

    files: set[str] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)


def follow_imports(programs: Iterable[str], root: Path) -> Needs:
    """Return what `programs`, files relative to `root`, import directly and by way of other files."""
    needs, waiting = Needs(), list(programs)
    while waiting:
        name = waiting.pop()
        if name in needs.files:
            continue
        needs.files.add(name)
        for module in imported_modules(name, (root / name).read_text(encoding="utf-8")):
            found = files_of(module, root)
            waiting += found
            package = module.partition(".")[0]
            if not found and not (root / package).is_dir() and package not in sys.stdlib_module_names:
                needs.packages.add(package)
    return needs


@functools.cache
def imported_modules(name: str, text: str) -> list[str]:
    """Return the modules that a file imports. `from a import b` gives `a` and `a.b`: b may be a module.

    Systems have most of their files in common; each is read once.
    """
    modules = []
    for node in ast.walk(ast.parse(text, name)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise ValueError(
                    f"{name}:{node.lineno}: write `from package.module import`, not a relative import"
                )
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return modules


def files_of(module: str, root: Path) -> list[str]:
    """Return the files below `root` that Python reads to import a module: its packages' and its own."""
    place = PurePosixPath(*module.split("."))
    candidates = [f"{folder}/__init__.py" for folder in (*place.parents, place) if folder.name]
    return [name for name in (*candidates, f"{place}.py") if (root / name).is_file()]
