"""Tables that are data: each file of docs/data/tables/ has tables of one topic, by their names on pages.

    two-tower-memory:
      each: results.two_tower_memory             one table for each entry, which is called `data` below
      rows: data.ways
      columns:
        - Way / 做法: words.ways[way]             heading in both languages: what the cells show
        - Peak / 峰值: peak_bytes | gb
        - ms per step / 每步毫秒数: seconds.median | ms
      below:
        - {en: "Batch size {{ data.batch_size }}.", zh: "批大小 {{ data.batch_size }}。"}
        - origin(data)

What the cells show is an expression in the language of tools/expressions.py and table_language.py, with the
values of the row by their names (and as `row`: what the table itself names comes first); or a text with
`{{ expressions }}`, one or {en, zh}. The value may be a text in both languages. One that is None, or that
other rows have and this one lacks, is a dash.

Every key but `rows` and `columns` may be missing:

    data        what the table is about, or `each`: of a list, to make a table for each entry; or `folder` of
                docs/data, for a table `NAME-*` for each of its files
    set         further names: expressions, each of which may use those before it
    rows        an expression, or several, whose rows follow each other
    above       texts before the table, in paragraphs
    below       sentences after it, or `paragraphs: true`
    turned      true: each column becomes a row
    left        true: cells are words, so that no column is aligned to the right
    class       of a <div> around the table

In lists, `- for seed in data.seeds: [columns]` repeats what it has, with the place as `index`.
`words` beside the tables has the texts of a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import jinja2
from origins import DATA, sentences
from rendering import MISSING, TableError
from table_language import LANGUAGES, environment, in_language

from tools.expressions import FAILURES, compiled
from tools.figures import FigureError, Files

FOLDER = DATA / "tables"
KEYS = {
    "data",
    "each",
    "folder",
    "set",
    "rows",
    "columns",
    "above",
    "below",
    "turned",
    "paragraphs",
    "left",
    "class",
}
REPEATED = re.compile(r"for (\w+) in (.+)")

Names = Mapping[str, Any]


@cache
def files() -> Files:
    """Return docs/data."""
    return Files(DATA)


def evaluated(source: str, names: Names, *, text: bool = False) -> Any:
    """Return the value of an expression, or a text. Raises TableError, which quotes it."""
    if text and "{" not in source:
        return source
    try:
        function, needed = compiled(environment(), str(source), text=text)
        known = {name: names[name] for name in (*needed, "language") if name in names}
        value = function({name: files()[name] for name in needed - names.keys() if name in files()} | known)
        if isinstance(value, jinja2.Undefined):
            return str(value) or None  # the first raises the error that names it
        return value
    except FAILURES as error:
        raise TableError(f"`{source}`: {error}") from error


def shown(source: Any, names: Names) -> Any:
    """Return what an expression or a text gives, in one language. Raises TableError where one is missing."""
    language = names["language"]
    if isinstance(source, Mapping):
        return evaluated(in_language(source, language), names, text=True)
    text = any(mark in str(source) for mark in ("{{", "{%"))
    return in_language(evaluated(source, names, text=text), language)


def repeated(entries: Iterable[Any], names: Names) -> Iterator[tuple[Any, Names]]:
    """Yield columns or sentences with the names that they may use; those of a `for`, as often as it says."""
    for entry in entries:
        match = REPEATED.fullmatch(next(iter(entry))) if isinstance(entry, Mapping) else None
        if match is None:
            yield entry, names
            continue
        for index, value in enumerate(evaluated(match[2], names)):
            yield from repeated(entry[match[0]], {**names, match[1]: value, "index": index})


def heading(source: str, names: Names) -> str:
    """Return the heading of a column. Raises TableError where it is not in both languages."""
    parts = str(source).split(" / ")
    if len(parts) != len(LANGUAGES):
        raise TableError(f"the heading `{source}` is not in both languages: English / 中文")
    return evaluated(parts[LANGUAGES.index(names["language"])], names, text=True)


def column(source: Any, rows: list[Any], names: Names) -> list[str]:
    """Return the heading and the cells of a column. Raises TableError, which names the column."""
    if not isinstance(source, Mapping) or len(source) != 1:
        raise TableError(f"{source}: a column is one heading and what its cells show")
    ((head, cell),) = source.items()
    try:
        values = [shown(cell, {**row, **names}) for row in rows]
        if wrong := [value for value in values if isinstance(value, Mapping | list)]:
            raise TableError(f"`{cell}`: {wrong[0]} is no text")
        return [heading(head, names), *(MISSING if value is None else str(value) for value in values)]
    except TableError as error:
        raise TableError(f"column {head!r}: {error}") from error


def rows_of(source: Any, names: Names) -> list[Names]:
    """Return the names that the cells of each row may use: a value that the row lacks is None."""
    rows: list[Any] = []
    for part, scope in repeated(source if isinstance(source, list) else [source], names):
        value = evaluated(part, scope)
        rows += [value] if isinstance(value, Mapping) else value
    if not rows:
        raise TableError(f"`{source}` gives no row")
    every = dict.fromkeys(key for row in rows if isinstance(row, Mapping) for key in row)
    return [{**every, **row, "row": row} if isinstance(row, Mapping) else {"row": row} for row in rows]


def markdown(lines: list[list[str]], *, right: bool) -> str:
    """Return a Markdown table; with `right`, for numbers, all but the first column are set to the right."""
    head, *rows = lines
    ruled = [head, ["---", *["---:" if right else "---"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in ruled)


def one_table(spec: Mapping[str, Any], names: Names) -> str:
    """Return one table with what stands above and below it."""
    names = dict(names)
    for name, source in spec.get("set", {}).items():
        names[name] = evaluated(source, names)
    rows = rows_of(spec["rows"], names)
    columns = [column(source, rows, scope) for source, scope in repeated(spec["columns"], names)]
    lines = columns if spec.get("turned") else [list(line) for line in zip(*columns, strict=True)]
    text = markdown(lines, right=not spec.get("left"))
    above, below = (
        [shown(source, scope) for source, scope in repeated(spec.get(place, ()), names)]
        for place in ("above", "below")
    )
    text = "\n\n".join([*above, text])
    if below:
        joined = "\n\n".join(below) if spec.get("paragraphs") else sentences(names["language"], *below)
        text += f"\n{joined}\n"
    return f'<div class="{spec["class"]}" markdown>\n\n{text}\n</div>\n' if "class" in spec else text


def rendered(spec: Mapping[str, Any], words: Any, language: str, file: str = "") -> str:
    """Return a table in `language` ("en" or "zh"), about a `file` or for each entry. Raises TableError."""
    if unknown := spec.keys() - KEYS:
        raise TableError(f"{', '.join(sorted(unknown))} is no key of a table")
    if not {"rows", "columns"} <= spec.keys():
        raise TableError("a table has rows and columns")
    names = {"language": language, "words": words}
    if "each" in spec:
        entries = evaluated(spec["each"], names)
        if not entries:
            raise TableError(f"`{spec['each']}` has no entry")
        return "\n".join(one_table(spec, names | {"data": entry}) for entry in entries)
    if "folder" in spec:
        return one_table(spec, names | {"data": files()[spec["folder"]][file]})
    return one_table(spec, names | {"data": evaluated(spec.get("data", "none"), names)})


def render(file: str, name: str, language: str, about: str = "") -> str:
    """Return a table of docs/data/tables/FILE.yaml. Raises TableError, which names both."""
    content = files()["tables"][file]
    try:
        return rendered(content[name], content.get("words"), language, about)
    except TableError as error:
        raise TableError(f"docs/data/tables/{file}.yaml: {name}: {error}") from error


def tables() -> dict[str, Callable[[str], str]]:
    """Return what renders each table, by name. Raises TableError for a name twice or no YAML."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        try:
            content = files()["tables"][path.stem]
        except FigureError as error:
            raise TableError(str(error)) from error
        if not isinstance(content, Mapping):
            raise TableError(f"docs/data/tables/{path.name}: a table needs a name")
        names = content.keys() - {"words"}
        if twice := names & found.keys():
            raise TableError(
                f"docs/data/tables/{path.name}: {', '.join(twice)}: another file has this table, too"
            )
        for name in names:
            if name.endswith("-*"):
                for part in files()[content[name]["folder"]]:
                    found[name[:-1] + part] = partial(render, path.stem, name, about=part)
            else:
                found[name] = partial(render, path.stem, name)
    return found
