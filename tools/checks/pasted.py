"""What a section of Python needs to run when it is pasted alone, found by following names in its file."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.checks.sections import Section

OWN = {"examples", "snippets", "tools", "tests"}  # packages of this repository, which no reader's folder has
_KNOWN = {*dir(builtins), "__name__", "__doc__"}
_IMPORTS = ast.Import | ast.ImportFrom


def undefined(text: str) -> set[str]:
    """Return the names that a text reads and does not define. Raises SyntaxError for a part of a line."""
    whole = symtable.symtable(text, "section", "exec")
    bound = {name.get_name() for name in whole.get_symbols() if name.is_assigned() or name.is_imported()}
    read = {
        name.get_name()
        for table in _tables(whole)
        for name in table.get_symbols()
        if name.is_referenced() and (name.is_global() or table is whole)
    }
    return read - bound - _KNOWN


def whole(section: Section, root: Path) -> str | None:
    """Return a section with what it needs of its file in front: imports, then definitions, in their order.

    None where that does not make it whole: a part of a statement, a name that only the caller has, or one
    of this repository's packages.
    """
    try:
        missing = undefined(section.text)
    except SyntaxError:
        return None
    statements = _statements(root / section.path)
    definers = {name: number for number, (node, _) in enumerate(statements) for name in _bound(node)}
    needed: set[int] = set()
    while missing:
        found = {definers.get(name, -1) for name in missing}
        if -1 in found or any(not _usable(statements[number][0], section) for number in found):
            return None
        needed |= found
        defined = {name for number in needed for name in _bound(statements[number][0])}
        missing = set().union(*(undefined(statements[number][1]) for number in found)) - defined
    chosen = [statements[number] for number in sorted(needed)]
    imports = "\n".join(text for node, text in chosen if isinstance(node, _IMPORTS))
    others = [text for node, text in chosen if not isinstance(node, _IMPORTS)]
    return "\n\n".join(part for part in (imports, *others, section.text) if part) + "\n"


@cache
def _statements(path: Path) -> list[tuple[ast.stmt, str]]:
    """Return the statements at the top of a file, each with its text."""
    source = path.read_text(encoding="utf-8")
    lines, found = source.splitlines(), []
    for node in ast.parse(source).body:
        first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", ()))])
        kept = [line for line in lines[first - 1 : node.end_lineno] if "--8<--" not in line]
        found.append((node, "\n".join(kept)))
    return found


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement at the top of a file defines."""
    if isinstance(node, _IMPORTS):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return set()


def _usable(node: ast.stmt, section: Section) -> bool:
    """Return whether a statement can stand in front of a section: outside of it, and nobody's here alone."""
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    apart = (node.end_lineno or node.lineno) < section.first or node.lineno > section.last
    return apart and not any(module.partition(".")[0] in OWN for module in modules)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)
