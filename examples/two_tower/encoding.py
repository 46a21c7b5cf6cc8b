"""The work of encode.py: texts of pairs into a folder of vectors, in parts; a later try goes on.

First the table is read once: texts.jsonl and the articles are written. Then parts of the texts become rows of
the two files of vectors, and progress.json tells how many rows are on the disk. The folder is called
OUT.unfinished until all is there.
"""

import os
import shutil
from array import array
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy
import torch

from examples.programs.run_folder import read_json
from examples.two_tower.encoders import NAME as ENCODER
from examples.two_tower.encoders import Encoder
from examples.two_tower.nearest import bar
from examples.two_tower.pair_columns import Columns
from examples.two_tower.pair_files import NAMES
from examples.two_tower.pair_tables import Row, read_rows
from examples.two_tower.texts import NAME as TEXTS
from examples.two_tower.texts import Texts, clean, line_of
from snippets.atomic_write import remove_leftovers, replace_file, replace_json
from snippets.errors import UsageError

# foreign_reads: its own files in an unfinished folder
PROGRESS = "progress.json"
SHOWN = 20  # rows that are no texts
PART = 1024  # pairs: 25 MB of vectors of the built-in encoder
*VECTORS, KEYS = (f"{name}.npy" for name in NAMES)


@dataclass
class Report:
    """What was made of the rows of a table."""

    rows: int = 0
    pairs: int = 0
    apart: int = 0  # by their label or score
    empty: int = 0
    unread: int = 0  # the encoder finds nothing in a text
    twice: int = 0
    headers: int = 0  # repeated below the first
    bad: int = 0  # what is no text or no score, or is too long
    named_bad: list[str] = field(default_factory=list)  # the first of them
    contradicting: int = 0  # pairs that belong together in one row and not in another
    shared: int = 0  # pairs whose context has several payloads
    named: bool = False  # whether a column names the articles
    articles: int = 0
    largest: int = 0  # pairs of the largest article
    notes: list[str] = field(default_factory=list)  # on the columns

    def leave_out(self, error: UsageError) -> None:
        """Count a row that is no text."""
        self.bad += 1
        if self.bad <= SHOWN:
            self.named_bad.append(str(error))

    def lines(self) -> list[str]:
        """Return the report for the user."""
        left_out = {
            "that do not belong together": self.apart,
            "with an empty text": self.empty,
            "with a text in which the encoder finds nothing": self.unread,
            "that came before": self.twice,
            "that repeat the header": self.headers,
            "that are no texts": self.bad,
        }
        lines = self.notes + [f"no text    {line}" for line in self.named_bad]
        if self.bad > len(self.named_bad):
            lines.append(f"no text    {self.bad - len(self.named_bad):,} more")
        lines += [f"left out   {count:,} rows {why}" for why, count in left_out.items() if count]
        if self.contradicting:
            lines.append(
                f"note       {self.contradicting:,} pairs belong together in one row, not in another; kept"
            )
        if self.shared:
            so = (
                "negatives of each other if their articles differ"
                if self.named
                else "no negatives of each other"
            )
            lines.append(f"note       {self.shared:,} pairs share a query with another one: {so}")
        if self.largest > self.pairs / 2:
            share = self.largest / self.pairs
            lines.append(f"note       {share:.0%} of the pairs hang together by equal texts, as one article")
        return lines


@dataclass
class Seen:
    """Hashes of the texts so far: 100 bytes of memory per pair."""

    pairs: set[int] = field(default_factory=set)
    apart: set[int] = field(default_factory=set)
    queries: "array[int]" = field(default_factory=lambda: array("q"))
    documents: "array[int]" = field(default_factory=lambda: array("q"))
    articles: "array[int]" = field(default_factory=lambda: array("q"))


def hashed(*texts: str) -> int:
    """Return 63 bits of a hash of texts."""
    joined = "\0".join(texts).encode()
    return int.from_bytes(blake2b(joined, digest_size=8).digest()) >> 1


def identity(source: Path) -> dict[str, Any]:
    """Return what tells whether a file is still the same. Raises UsageError."""
    try:
        state = source.stat()
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}") from None
    return {"file": str(source.resolve()), "size": state.st_size, "modified": state.st_mtime_ns}


def gather(source: Path, columns: Columns, encoder: Encoder, work: Path, skip_bad: bool = False) -> Report:
    """Read the table into texts.jsonl and truth_keys.npy in `work`; with `skip_bad`, without bad rows.

    Raises UsageError.
    """
    report, seen = Report(), Seen()
    least = shutil.disk_usage(work).free
    per_pair = 4 * encoder.width * (encoder.positions + 1)

    def write(file: BinaryIO) -> None:
        with bar(0, "reading", " rows") as done:
            for row in read_rows(source, columns, report.notes):
                report.rows += 1
                done.update()
                if (error := reason_against(row)) and skip_bad:
                    report.leave_out(error)
                    continue
                if error:
                    raise UsageError(f"{error}; --skip-bad leaves out such rows")
                if taken(row, encoder, report, seen) is None:
                    continue
                file.write(line_of(clean(row.query, row.place), clean(row.document, row.place)))
                report.pairs += 1
                if report.pairs * per_pair > least:
                    raise UsageError(
                        f"{source}: {report.pairs:,} pairs and more take over {least / 1e9:,.1f} GB, which "
                        "are free on this disk; choose another --out, or encode a part of the file"
                    )

    replace_file(work / TEXTS, write)
    if not report.rows:
        raise UsageError(f"{source} has a header and no rows below it")
    if not report.pairs:
        raise UsageError(f"{source}: of {report.rows:,} rows no pair is left: {'; '.join(report.lines())}")
    keys = articles_of(seen)
    check_articles(source, keys, report)
    report.contradicting = len(seen.pairs & seen.apart)
    counts = numpy.unique(seen.queries, return_counts=True)[1]
    report.shared, report.named = int(counts[counts > 1].sum()), bool(seen.articles)
    replace_file(work / KEYS, lambda file: numpy.save(file, keys[:, None]))
    return report


def reason_against(row: Row) -> UsageError | None:
    """Return why a row cannot be encoded, if it is so."""
    try:
        if row.belongs:
            clean(row.query, row.place), clean(row.document, row.place)
    except UsageError as error:
        return error
    return row.bad


def taken(row: Row, encoder: Encoder, report: Report, seen: Seen) -> Row | None:
    """Count a row, and return it if it becomes a pair."""
    pair = hashed(row.query.strip(), row.document.strip())
    if row.repeats:
        report.headers += 1
    elif not row.belongs:
        report.apart += 1
        seen.apart.add(pair)
    elif not row.query.strip() or not row.document.strip():
        report.empty += 1
    elif not encoder.reads(row.query) or not encoder.reads(row.document):
        report.unread += 1
    elif pair in seen.pairs:
        report.twice += 1
    else:
        seen.pairs.add(pair)
        seen.queries.append(hashed(row.query.strip()))
        seen.documents.append(hashed(row.document.strip()))
        if row.article is not None:
            seen.articles.append(hashed(row.article))
        return row
    return None


def articles_of(seen: Seen) -> numpy.ndarray:
    """Return the article of each pair, whole numbers (pairs,).

    Without a column for it, pairs that share a text are of one article, and so are their partners.
    """
    if seen.articles:
        return in_order(numpy.array(seen.articles))
    sides = [numpy.unique(side, return_inverse=True)[1] for side in (seen.queries, seen.documents)]
    found = numpy.arange(len(seen.queries))
    while True:  # the least number spreads along equal texts
        before = found
        for side in sides:
            least = numpy.full(side.max() + 1, len(found))
            numpy.minimum.at(least, side, found)
            found = least[side]
        if (found == before).all():
            return in_order(found)


def in_order(names: numpy.ndarray) -> numpy.ndarray:
    """Return numbers 0, 1, … for names (n,), in the order in which they first appear."""
    _, first, numbers = numpy.unique(names, return_index=True, return_inverse=True)
    return first.argsort().argsort()[numbers].astype(numpy.int64)


def check_articles(source: Path, keys: numpy.ndarray, report: Report) -> None:
    """Count the articles. Raises UsageError when there is one alone, since some are held out."""
    counts = numpy.bincount(keys)
    report.articles, report.largest = len(counts), int(counts.max())
    if len(counts) < 2:
        raise UsageError(
            f"{source}: all {len(keys):,} pairs hang together by equal texts, so none can be held out; "
            "name the column of what belongs together: --article NAME"
        )


def begin(work: Path, settings: dict[str, Any], first: Callable[[], Report]) -> tuple[Report, int]:
    """Return report and number of finished rows of the folder `work`, which another try may have begun.

    Raises UsageError when that was of another file or with other options.
    """
    remove_leftovers(work)
    known = read_json(work / ENCODER)
    if known is None:
        report = first()
        replace_json(work / ENCODER, settings | {"report": asdict(report)})
        return report, 0
    if {name: known.get(name) for name in settings} != settings:
        raise UsageError(
            f"{work} was begun with another file or other options; repeat that command to finish it, remove "
            "the folder, or choose another --out"
        )
    report = Report(**known["report"])
    done = (read_json(work / PROGRESS) or {}).get("rows")
    if type(done) is not int or not all((work / name).exists() for name in VECTORS):
        return report, 0
    return report, min(max(done, 0), report.pairs)


def encode(work: Path, encoder: Encoder, done: int) -> None:
    """Write the vectors of the texts in `work`, from the row `done` on. Raises OSError."""
    texts = Texts(work / TEXTS)
    shapes = (encoder.positions, encoder.width), (encoder.width,)
    both = zip(VECTORS, shapes, strict=True)
    files = [open_at(work / name, (len(texts), *shape), done) for name, shape in both]
    try:
        with bar(len(texts), "encoding", " pairs", done) as progress:
            for part in texts.parts(PART, done):
                queries, documents = zip(*part, strict=True)
                vectors = encoder.contexts(queries), encoder.documents(documents)
                append(files, vectors)
                done += len(part)
                replace_json(work / PROGRESS, {"rows": done})
                progress.update(len(part))
    finally:
        for file in files:
            file.close()


def open_at(path: Path, shape: tuple[int, ...], rows: int) -> BinaryIO:
    """Open a .npy file of float32 to append after `rows` rows; what comes later is cut off."""
    file = path.open("r+b" if path.exists() and rows else "w+b")
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    numpy.lib.format.write_array_header_1_0(file, header)
    file.truncate(file.seek(file.tell() + 4 * rows * int(numpy.prod(shape[1:]))))
    return file


def append(files: Iterable[BinaryIO], vectors: Iterable[torch.Tensor]) -> None:
    """Write vectors to the disk, each to its file."""
    for file, rows in zip(files, vectors, strict=True):
        file.write(numpy.ascontiguousarray(rows.numpy(), dtype="<f4").tobytes())
        file.flush()
        os.fsync(file.fileno())
