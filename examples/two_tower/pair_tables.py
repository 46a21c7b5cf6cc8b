"""Pairs of texts in tables of others: which columns they are, and which rows belong together."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from examples.programs.tables import JSON_SUFFIXES, one_line, open_table, rows_of_json
from snippets.errors import UsageError
from snippets.foreign_files import lines_of, refused

# --8<-- [start:names]
PAIRS = (  # names of columns in data sets for sentence-transformers, FlagEmbedding and others
    ("query", "document"),
    ("query", "answer"),
    ("query", "positive"),
    ("query", "passage"),
    ("query", "pos"),
    ("question", "answer"),
    ("question", "context"),
    ("question", "passage"),
    ("anchor", "positive"),
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("premise", "hypothesis"),
    ("english", "chinese"),
    ("english", "non_english"),
)
LABELS, SCORES = ("label", "labels"), ("score", "similarity_score", "similarity")
# --8<-- [end:names]
OTHERS = ("article", "text", "title", "body", "negative", "neg", "set", "id", "_id")
LISTED = ("pos", "set")  # lists of texts in JSON lines
ANY = "all"  # for --label


@dataclass(frozen=True)
class Columns:
    """The names that the user gave, or None for those that are found."""

    query: str | None = None
    document: str | None = None
    article: str | None = None
    label: str | None = None  # the value of rows that belong together, or ANY
    min_score: float | None = None

    def named(self) -> list[str]:
        """Return the columns that must be there."""
        return [name for name in (self.query, self.document, self.article) if name is not None]


class Row(NamedTuple):
    """Two texts of a row, the name of its article, and whether they belong together."""

    place: str
    query: str
    document: str
    article: str | None
    belongs: bool


class Chosen(NamedTuple):
    """The columns of a table: positions do not matter, names do."""

    query: str
    document: str
    article: str | None
    judged: str | None  # label or score


def is_json(path: Path) -> bool:
    """Return whether a file is called like JSON lines, perhaps packed."""
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(JSON_SUFFIXES)


def read_rows(path: Path, columns: Columns) -> Iterator[Row]:
    """Yield the pairs of a table, and those that do not belong together. Raises UsageError with the line."""
    yield from (json_rows if is_json(path) else table_rows)(path, columns)


def table_rows(path: Path, columns: Columns) -> Iterator[Row]:
    """Yield the rows of delimited text or Parquet."""
    table = open_table(path, lambda cells: is_header(cells, columns))
    chosen = choose(path, table.names, columns, table.has_header)
    wanted = [name for name in chosen if name is not None]
    number = 0
    for part in table.batches(wanted):
        for values in zip(*(column.to_pylist() for column in part.columns), strict=True):
            cells = dict(zip(wanted, values, strict=True))
            place = table.row(number)
            query, document = (text_in(cells[name]) for name in chosen[:2])
            yield Row(place, query, document, *judged(chosen, cells, columns, place))
            number += 1


def json_rows(path: Path, columns: Columns) -> Iterator[Row]:
    """Yield the rows of JSON lines: objects of texts, with a list of payloads, sets, or lists."""
    chosen: Chosen | None = None
    with one_line(path):
        for number, cells in enumerate(rows_of_json(path), 1):
            place = f"{path}, line {number}"
            if "set" in cells and not columns.named():
                query, *documents = text_list(cells["set"], "set", place)
                article, belongs = None, True
            else:
                chosen = chosen or choose(path, list(cells), columns, "1" not in cells)
                queries = text_list(cells.get(chosen.query), chosen.query, place)
                documents = text_list(cells.get(chosen.document), chosen.document, place)
                query = queries[0] if queries else ""
                article, belongs = judged(chosen, cells, columns, place)
            for document in documents:
                yield Row(place, query, document, article, belongs)
    if chosen is None:
        with contextlib.suppress(StopIteration):
            next(rows_of_json(path))
            return
        raise UsageError(f"cannot read {path}: it is empty")


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


def is_header(cells: list[str], columns: Columns) -> bool:
    """Return whether the first cells are names: some that are known, or those that the user gave."""
    lower = [cell.lower() for cell in cells]
    known = {name for pair in PAIRS for name in pair} | {*LABELS, *SCORES, *OTHERS}
    return bool(known & set(lower)) or bool(set(columns.named()) & set(cells)) or looks_like_numbers(lower)


def looks_like_numbers(names: list[str]) -> bool:
    """Return whether all names but those of scores are names of numbers of texts."""
    rest = [name for name in names if name not in (*LABELS, *SCORES, "id", "_id")]
    return len(rest) > 1 and all(name.endswith(("id", "-id", "_ids")) for name in rest)


def choose(path: Path, names: list[str], columns: Columns, has_header: bool) -> Chosen:
    """Return the columns of a table with these names. Raises UsageError when they cannot be told."""
    for option, name in zip(("--query", "--document", "--article"), columns_of(columns), strict=True):
        if name is not None and name not in names:
            raise UsageError(f"{option} {name}: {path} has no such column; it has {', '.join(names)}")
    if len(names) < 2:
        raise UsageError(f"{path} has a single column ({names[0]:.60}); a pair takes two texts in each row")
    lower = {name.lower(): name for name in reversed(names)}
    query, document = columns.query, columns.document
    if query is None and document is None:
        found = next((pair for pair in PAIRS if set(pair) <= lower.keys()), None)
        if found:
            query, document = (lower[name] for name in found)
        elif looks_like_numbers(list(lower)):
            held = ", ".join(name for name in names if name.lower() not in (*LABELS, *SCORES))
            raise UsageError(
                f"{path} holds numbers of texts ({held}), and no texts; join it with the files of the texts "
                "first"
            )
        elif names[:2] == ["1", "2"] and not has_header and (len(names) == 2 or is_json(path)):
            query, document = "1", "2"
    if query is None or document is None:
        raise UsageError(
            f"{path} has the columns {', '.join(names)[:200]}: which two columns belong together? name them "
            "with --query and --document"
        )
    article = columns.article or lower.get("article")
    return Chosen(query, document, article, judge(path, lower, columns))


def columns_of(columns: Columns) -> tuple[str | None, str | None, str | None]:
    """Return the names that the user gave, in the order of the options."""
    return columns.query, columns.document, columns.article


def judge(path: Path, lower: dict[str, str], columns: Columns) -> str | None:
    """Return the column that says which rows belong together, or None. Raises UsageError."""
    label, score = (next((lower[name] for name in some if name in lower), None) for some in (LABELS, SCORES))
    if columns.min_score is not None and score is None:
        raise UsageError(f"--min-score: {path} has no column {' or '.join(SCORES)}; leave it out")
    if columns.label not in (None, ANY) and label is None:
        raise UsageError(f"--label: {path} has no column {LABELS[0]}; leave it out")
    if columns.min_score is not None:
        return score
    if columns.label == ANY:
        return None
    if columns.label is not None:
        return label
    if label is not None:
        raise UsageError(
            f"{path} has a column {label}, so not all rows belong together; name the label of those that do, "
            f"such as --label 1, or --label {ANY}"
        )
    if score is not None:
        raise UsageError(
            f"{path} has a column {score}, so not all rows belong together; name the least of those that do, "
            f"such as --min-score 0.8, or --label {ANY}"
        )
    return None


def read_texts(path: Path, column: str | None, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield place and text of each row: of `column`, of the first column in `names`, or of the only one.

    A .txt file has a text in each line. Raises UsageError.
    """
    if is_json(path):
        with one_line(path):
            for number, cells in enumerate(rows_of_json(path), 1):
                name = only_column(path, list(cells), column, names) if column not in cells else column
                place = f"{path}, line {number}"
                yield place, (text_list(cells[name], name, place) or [""])[0]
        return
    if path.name.lower().endswith((".txt", ".txt.gz")) and column is None:
        yield from lines_in(path)
        return
    table = open_table(path, lambda cells: column in cells or is_header(cells, Columns()))
    name = only_column(path, table.names, column, names)
    number = 0
    for part in table.batches([name]):
        for value in part.column(0).to_pylist():
            yield table.row(number), text_in(value)
            number += 1


def lines_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield place and text of each line of plain text. Raises UsageError."""
    with one_line(path):
        for number, line in enumerate(lines_of(path), 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise refused(path, f"line {number} is no UTF-8 text; convert it with iconv") from None
            if "\0" in text:
                raise refused(path, f"line {number} has NUL bytes; it is no text")
            yield f"{path}, line {number}", text.rstrip("\r\n")


def only_column(path: Path, found: list[str], column: str | None, names: tuple[str, ...]) -> str:
    """Return the column that holds the texts. Raises UsageError when it cannot be told."""
    if column is not None:
        if column not in found:
            raise UsageError(f"--column {column}: {path} has no such column; it has {', '.join(found)[:200]}")
        return column
    if len(found) == 1:
        return found[0]
    lower = {name.lower(): name for name in reversed(found)}
    name = next((lower[name] for name in names if name in lower), None)
    if name is None:
        raise UsageError(
            f"{path} has the columns {', '.join(found)[:200]}; name the one to read: --column NAME"
        )
    return name
