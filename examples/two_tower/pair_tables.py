"""Pairs of texts in tables of others: the rows, which belong together, and texts of one side."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from examples.programs.tables import JSON_SUFFIXES, Table, as_usage_error, open_table, rows_of_json
from examples.two_tower.pair_columns import Chosen, Columns, Found, Watch, choose, is_header, named
from snippets.errors import UsageError
from snippets.foreign_files import lines_of, refused


class Row(NamedTuple):
    """Two texts of a row, the name of its article, and whether they belong together."""

    place: str
    query: str
    document: str
    article: str | None
    belongs: bool
    repeats: bool = False  # the header
    bad: UsageError | None = None  # why it has no texts, or no score


def is_json(path: Path) -> bool:
    """Return whether a file is called like JSON lines, perhaps packed."""
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(JSON_SUFFIXES)


def read_rows(path: Path, columns: Columns, notes: list[str] | None = None) -> Iterator[Row]:
    """Yield the pairs of a table, and those that do not belong together; add lines for the user to `notes`.

    Raises UsageError with the line.
    """
    if (path / "qrels").is_dir():
        raise UsageError(
            f"{path} is a folder of BEIR: join queries.jsonl and corpus.jsonl by qrels/train.tsv first, into "
            "a file with the columns query and document"
        )
    yield from (json_rows if is_json(path) else table_rows)(path, columns, [] if notes is None else notes)


def table_rows(path: Path, columns: Columns, notes: list[str]) -> Iterator[Row]:
    """Yield the rows of delimited text or Parquet."""
    table, found = opened(path, columns)
    chosen = choose(found, columns)
    notes += notes_on(found, chosen)
    watch = watched(table, Watch(found, chosen, columns))
    texts = [name for name in chosen if name is not None]
    names = [*texts, *watch.seen]
    number = 0
    for part in table.batches(names):
        for name in list(watch.seen):
            watch.look(name, part.column(names.index(name)).unique().to_pylist())
        for values in zip(*(column.to_pylist() for column in part.columns[: len(texts)]), strict=True):
            cells = dict(zip(texts, values, strict=True))
            place = table.row(number)
            query, document = (text_in(cells[name]) for name in chosen[:2])
            number += 1
            if table.of_lines and (query.strip(), document.strip()) == chosen[:2]:
                yield Row(place, query, document, None, belongs=False, repeats=True)
                continue
            try:
                row = Row(place, query, document, *judged(chosen, cells, columns, place))
            except UsageError as error:
                row = bad_row(place, error)
            yield row


def opened(path: Path, columns: Columns) -> tuple[Table, Found]:
    """Return an open table and what columns it has. Raises UsageError."""
    first: list[str] = []

    def header(cells: list[str]) -> bool:
        first[:] = cells
        return is_header(cells, columns)

    table = open_table(path, header)
    return table, Found(path, table.names, [] if table.has_header else first)


def notes_on(found: Found, chosen: Chosen) -> list[str]:
    """Return what the user has to know about the columns."""
    if found.first:
        return [f"note       no header seen; first row: {found.shown(found.names)}"]
    others = [name for name in found.names if name not in chosen]
    return [f"note       columns not used: {found.shown(others)}"] if others else []


def watched(table: Table, watch: Watch) -> Watch:
    """Return the watch after a look at the first part of each column. Raises UsageError."""
    for name in list(watch.seen):
        part = None
        with contextlib.suppress(UsageError):  # lists in Parquet; damage shows itself again later
            part = next(table.batches([name]), None)
        watch.look(name, part.column(0).unique().to_pylist() if part else ["no label"])
    return watch


def json_rows(path: Path, columns: Columns, notes: list[str]) -> Iterator[Row]:
    """Yield the rows of JSON lines: objects of texts, with a list of payloads, sets, or lists."""
    chosen: Chosen | None = None
    number = 0
    with as_usage_error(path):
        for number, cells in enumerate(rows_of_json(path), 1):
            place = f"{path}, line {number}"
            of_set = "set" in cells and not columns.named()
            if not of_set:
                if chosen is None:
                    found = Found(path, list(cells), [])
                    chosen = choose(found, columns)
                    watch = Watch(found, chosen, columns)
                    notes += notes_on(found, chosen)
                for name in list(watch.seen):
                    watch.look(name, [cells.get(name)])
            try:
                rows = json_pairs(cells, None if of_set else chosen, columns, place)
            except UsageError as error:
                rows = [bad_row(place, error)]
            yield from rows
    if not number:
        raise UsageError(f"cannot read {path}: it is empty")


def json_pairs(cells: dict[str, Any], chosen: Chosen | None, columns: Columns, place: str) -> list[Row]:
    """Return the pairs of an object: of its set, or of the chosen columns. Raises UsageError."""
    if chosen is None:
        query, *documents = text_list(cells["set"], "set", place)
        return [Row(place, query, document, None, belongs=True) for document in documents]
    queries = text_list(cells.get(chosen.query), chosen.query, place)
    documents = text_list(cells.get(chosen.document), chosen.document, place)
    article, belongs = judged(chosen, cells, columns, place)
    return [Row(place, queries[0] if queries else "", one, article, belongs) for one in documents]


def bad_row(place: str, error: UsageError) -> Row:
    """Return a row without texts."""
    return Row(place, "", "", None, belongs=False, bad=error)


def text_in(value: Any) -> str:
    """Return the text of a cell; a missing one is empty, a number is spelt."""
    return "" if value is None else str(value)


def text_list(value: Any, name: str, place: str) -> list[str]:
    """Return a text, or a list of texts, as a list. Raises UsageError."""
    texts = value if isinstance(value, list) else [value]
    if not all(text is None or isinstance(text, str | int | float) for text in texts):
        raise UsageError(f"{place}: {name!r:.60} is neither a text nor a list of texts")
    return [text_in(text) for text in texts]


def judged(chosen: Chosen, cells: dict[str, Any], columns: Columns, place: str) -> tuple[str | None, bool]:
    """Return the article of a row, and whether its texts belong together. Raises UsageError."""
    article = text_in(cells.get(chosen.article)) if chosen.article else None
    if chosen.judged is None:
        return article, True
    value = text_in(cells.get(chosen.judged)).strip()
    if columns.min_score is None:
        return article, value == columns.label
    try:
        return article, float(value) >= columns.min_score
    except ValueError:
        raise UsageError(f"{place}: {chosen.judged} is {value!r:.60}, no number") from None


def read_texts(path: Path, column: str | None, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield place and text of each row: of `column`, of the first column in `names`, or of the only one.

    A .txt file has a text in each line. Raises UsageError.
    """
    if is_json(path):
        with as_usage_error(path):
            for number, cells in enumerate(rows_of_json(path), 1):
                name = (
                    only_column(Found(path, list(cells), []), column, names)
                    if column not in cells
                    else column
                )
                place = f"{path}, line {number}"
                yield place, (text_list(cells[name], name, place) or [""])[0]
        return
    if path.name.lower().endswith((".txt", ".txt.gz")) and column is None:
        yield from lines_in(path)
        return
    table, found = opened(path, Columns(query=column))
    name = only_column(found, column, names)
    number = 0
    for part in table.batches([name]):
        for value in part.column(0).to_pylist():
            yield table.row(number), text_in(value)
            number += 1


def lines_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield place and text of each line of plain text. Raises UsageError."""
    with as_usage_error(path):
        for number, line in enumerate(lines_of(path), 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise refused(path, f"line {number} is no UTF-8 text; convert it with iconv") from None
            if "\0" in text:
                raise refused(path, f"line {number} has NUL bytes; it is no text")
            yield f"{path}, line {number}", text.rstrip("\r\n")


def only_column(found: Found, column: str | None, names: tuple[str, ...]) -> str:
    """Return the column that holds the texts. Raises UsageError when it cannot be told."""
    if column is not None:
        return named(found, "--column", column)
    if len(found.names) == 1:
        return found.names[0]
    lower = {name.lower(): name for name in reversed(found.names)}
    name = next((lower[name] for name in names if name in lower), None)
    if name is None:
        raise UsageError(f"{found.path} has {found}; name the one to read: --column NAME")
    return name
