"""Which columns of a table are a pair of texts, and which column says that they belong together."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from snippets.errors import UsageError

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
    ("question1", "question2"),
    ("anchor", "positive"),
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("premise", "hypothesis"),
    ("english", "chinese"),
    ("english", "non_english"),
    ("问题", "答案"),
    ("问题", "回答"),
    ("提问", "回答"),
    ("问句", "答句"),
    ("查询", "文档"),
    ("句子1", "句子2"),
    ("文本1", "文本2"),
    ("frage", "antwort"),
    ("question", "réponse"),
)
LABELS = ("label", "labels", "is_duplicate", "标签")
SCORES = ("score", "similarity_score", "similarity", "相似度")
# --8<-- [end:names]
OTHERS = ("article", "text", "title", "body", "negative", "neg", "set", "id", "_id", "序号", "备注")
FLAGS = frozenset(("0", "1", "true", "false"))  # values of a label, whatever its column is called
ANY = "all"  # for --label
MOST_SHOWN = 200  # characters of names in a message


@dataclass(frozen=True)
class Columns:
    """The columns that the user gave, by name or number, or None for those that are found."""

    query: str | None = None
    document: str | None = None
    article: str | None = None
    label: str | None = None  # the value of rows that belong together, or ANY
    min_score: float | None = None
    judged: str | None = None  # the column of label or score

    def named(self) -> dict[str, str]:
        """Return the columns that must be there, by the option that names them."""
        judge = "--label" if self.min_score is None else "--min-score"
        given = {"--query": self.query, "--document": self.document, "--article": self.article}
        return {option: name for option, name in (given | {judge: self.judged}).items() if name is not None}


class Chosen(NamedTuple):
    """The columns of a table: positions do not matter, names do."""

    query: str
    document: str
    article: str | None
    judged: str | None  # label or score


class Found(NamedTuple):
    """The columns that a file has: their names, or 1, 2, … and the first row."""

    path: Path
    names: list[str]
    first: list[str]  # cells of the first row, when they are no names

    def __str__(self) -> str:
        """Return the columns for a message."""
        if not self.first:
            return f"the columns {', '.join(self.names)[:MOST_SHOWN]}"
        return f"no header that is known; its first row: {self.shown(self.names)}"

    def shown(self, names: Iterable[str]) -> str:
        """Return some columns for a message, without names with what is in the first row."""
        cells = dict(zip(self.names, self.first, strict=False))
        shown = (f"{name} ({cells[name]:.20})" if name in cells else name for name in names)
        return ", ".join(shown)[:MOST_SHOWN]


def is_header(cells: list[str], columns: Columns) -> bool:
    """Return whether the first cells are names: some that are known, or those that the user gave.

    A number that the user gave is the place of a column, and no name to look for.
    """
    lower = [cell.lower() for cell in cells]
    known = {name for pair in PAIRS for name in pair} | {*LABELS, *SCORES, *OTHERS}
    given = {name for name in columns.named().values() if not name.isdecimal()}
    return bool(known & set(lower)) or bool(given & set(cells)) or looks_like_numbers(lower)


def looks_like_numbers(names: list[str]) -> bool:
    """Return whether all names but those of scores are names of numbers of texts."""
    rest = [name for name in names if name not in (*LABELS, *SCORES, "id", "_id")]
    return len(rest) > 1 and all(name.endswith(("id", "-id", "_ids")) for name in rest)


def choose(found: Found, columns: Columns) -> Chosen:
    """Return the columns of a table. Raises UsageError when they cannot be told."""
    path, names, _ = found
    if len(names) < 2:
        raise UsageError(f"{path} has a single column ({names[0]:.60}); a pair takes two texts in each row")
    given = {option: named(found, option, name) for option, name in columns.named().items()}
    query, document = given.get("--query"), given.get("--document")
    if query is None and document is None:
        query, document = known_pair(found)
    if query is None or document is None:
        raise UsageError(
            f"{path} has {found}: which two columns belong together? name them with --query and --document, "
            "such as --query 1 --document 2"
        )
    if query == document:
        raise UsageError(f"--query and --document both name the column {query}; a pair takes two")
    lower = {name.lower(): name for name in reversed(names)}
    article = given.get("--article") or lower.get("article")
    judged = given.get("--label") or given.get("--min-score") or judge(found, lower, columns)
    return Chosen(query, document, article, judged)


def named(found: Found, option: str, name: str) -> str:
    """Return the name of a column that the user gave by name or number. Raises UsageError."""
    if name not in found.names and name.isdecimal() and 0 < int(name) <= len(found.names):
        name = found.names[int(name) - 1]
    if name not in found.names:
        raise UsageError(f"{option} {name}: {found.path} has no such column; it has {found}")
    if found.names.count(name) > 1:
        raise UsageError(f"{found.path} has several columns {name}; rename all but one of them")
    return name


def known_pair(found: Found) -> tuple[str, str] | tuple[None, None]:
    """Return the first known pair of names, or both columns when there are two. Raises UsageError."""
    path, names, _ = found
    lower = {name.lower(): name for name in reversed(names)}
    if pair := next((pair for pair in PAIRS if set(pair) <= lower.keys()), None):
        one, other = (named(found, "", lower[name]) for name in pair)
        return one, other
    if looks_like_numbers(list(lower)):
        held = ", ".join(name for name in names if name.lower() not in (*LABELS, *SCORES))
        raise UsageError(
            f"{path} holds numbers of texts ({held}), and no texts; join it with the files of the texts first"
        )
    if {"_id", "text"} <= lower.keys():
        raise UsageError(
            f"{path} has texts of one side; the pairs are in qrels/*.tsv: join it by them with the other "
            "side first, into a file with the columns query and document"
        )
    return (
        ("1", "2") if names == ["1", "2"] or (names[:2] == ["1", "2"] and not found.first) else (None, None)
    )


def judge(found: Found, lower: dict[str, str], columns: Columns) -> str | None:
    """Return the column that says which rows belong together, or None. Raises UsageError."""
    label, score = (next((lower[name] for name in some if name in lower), None) for some in (LABELS, SCORES))
    if columns.label == ANY:
        return None
    for option, value, column in (
        ("--min-score", columns.min_score, score),
        ("--label", columns.label, label),
    ):
        if value is not None:
            if column is None:
                cure = "leave it out" if len(found.names) == 2 else f"name it: {option} COLUMN={value}"
                raise UsageError(f"{option}: {found.path} has {found}, and none of a known name; {cure}")
            return column
    for column, option in ((label, "--label {}1"), (score, "--min-score {}0.8")):
        if column is not None:
            raise apart(found.path, column, option.format(""))
    return None


def apart(path: Path, column: str, cure: str) -> UsageError:
    """Return the error of a table in which not all rows are pairs."""
    what = "label" if cure.startswith("--label") else "least score"
    return UsageError(
        f"{path} has a column {column}, so not all rows belong together; name the {what} of those that do, "
        f"such as {cure}, or --label {ANY}"
    )


class Watch:
    """Columns without a known name, of which one may say which rows belong together."""

    def __init__(self, found: Found, chosen: Chosen, columns: Columns) -> None:
        """Watch all columns that are not chosen, unless the user has said which rows belong together."""
        self.found = found
        others = [] if columns.label or chosen.judged else found.names
        self.seen: dict[str, set[str]] = {name: set() for name in others if name not in chosen}

    def look(self, name: str, values: Iterable[Any]) -> None:
        """Look at values of a column. Raises UsageError when they are both labels, or are scores."""
        if name not in self.seen:
            return
        here = {"" if value is None else str(value).strip().lower() for value in values} - {""}
        seen = self.seen[name] | here
        if seen <= FLAGS:
            self.seen[name] = seen
            if len(seen) > 1:
                value = max(seen)  # 1, or true
                raise apart(self.found.path, name, f"--label {name}={value}")
            return
        del self.seen[name]
        if self.found.first and are_scores(here):
            raise apart(self.found.path, name, f"--min-score {name}={0.8 * max(map(float, here)):g}")


def are_scores(values: set[str]) -> bool:
    """Return whether all values are numbers from -1 to 5, and not all of them whole."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return False
    return all(-1 <= number <= 5 for number in numbers) and any(number % 1 for number in numbers)
