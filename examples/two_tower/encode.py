"""Turn pairs of texts into the folder of vectors that train.py reads.

It reads CSV, TSV, JSON lines and Parquet. The built-in encoder needs no model; --model takes one of
sentence-transformers. After Ctrl-C or a crash, the same command goes on.
"""

import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch

from examples.programs.array_files import read_npy
from examples.programs.command_line import StrictParser, expanded, first_line, number, whole_number
from examples.programs.failures import explained_failures
from examples.programs.run_folder import check_empty, only_process
from examples.two_tower.encoders import NAME as ENCODER
from examples.two_tower.encoders import Encoder, NgramEncoder, SentenceEncoder
from examples.two_tower.encoding import KEYS, PROGRESS, begin, encode, gather, identity
from examples.two_tower.options import resolve
from examples.two_tower.pair_columns import Columns
from examples.two_tower.pairs import split_by_article
from snippets.device import pick_device
from snippets.errors import RunError, UsageError, exit_with_one_line, tell
from snippets.stop_signals import terminate_like_ctrl_c


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="encode.py", description=first_line(__doc__))
    add = parser.add_argument
    add("file", type=expanded, metavar="FILE", help="table of pairs: .csv, .tsv, .jsonl, .parquet, .gz")
    add("--out", type=expanded, required=True, metavar="FOLDER", help="new folder for the vectors")
    add("--query", metavar="COLUMN", help="the texts that search, by name or number; found by common names")
    add("--document", metavar="COLUMN", help="the texts that are found; found by common names")
    add("--article", metavar="COLUMN", help="what is held out together; the column article, or equal texts")
    judged = parser.add_mutually_exclusive_group()
    of_pairs = "of the rows that belong together; COLUMN is found by common names"
    judged.add_argument("--label", metavar="[COLUMN=]VALUE", type=judged_by(str), help=of_pairs)
    score = judged_by(number(-1e9, 1e9))
    judged.add_argument("--min-score", metavar="[COLUMN=]SCORE", type=score, help=of_pairs)
    add("--skip-bad", action="store_true", help="leave out rows that are no texts")
    add("--model", metavar="NAME|FOLDER", help="of sentence-transformers; none: counts of pieces of words")
    add("--positions", type=whole_number(1, 16), help="vectors per context, with --model; 1")
    devices = ("auto", "mps", "cuda", "cpu")
    add("--device", default="auto", choices=devices, help="of the model; auto: CUDA, then MPS, then CPU")
    options = parser.parse_args(argv)
    if options.positions and not options.model:
        raise UsageError("--positions needs --model; the built-in encoder has 5")
    return options


def judged_by(kind: Callable[[str], Any]) -> Callable[[str], tuple[str | None, Any]]:
    """Return the type of an option: a value, and perhaps the column of which it is."""

    def parse(word: str) -> tuple[str | None, Any]:
        column, _, value = word.rpartition("=")
        return column or None, kind(value)

    return parse


def columns_of(options: Namespace) -> Columns:
    """Return the columns that the command line names."""
    column, label = options.label or (None, None)
    scores, least = options.min_score or (None, None)
    return Columns(options.query, options.document, options.article, label, least, column or scores)


def chosen_encoder(options: Namespace) -> Encoder:
    """Return the encoder of the command line. Raises UsageError."""
    if not options.model:
        return NgramEncoder()
    return SentenceEncoder(options.model, options.positions or 1, pick_device(options.device)[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Encode the texts of the command line and return the exit code. Raises UsageError and RunError."""
    options = read_command_line(argv)
    out = options.out.resolve()
    check_empty(out)
    source = identity(options.file)
    encoder = chosen_encoder(options)
    columns = columns_of(options)
    settings = {"encoder": encoder.settings(), "source": source, "columns": asdict(columns)}
    settings["skip_bad"] = options.skip_bad
    work = out.with_name(f"{out.name}.unfinished")
    try:
        with terminate_like_ctrl_c(), explained_failures("out of memory; encode a part of the file"):
            run(options, encoder, columns, settings, work, out)
    except KeyboardInterrupt:
        again = shlex.join(["python", *sys.argv]) if argv is None else "the same command"
        tell(f"stopped    what is done is in {work}; to go on: {again}")
        raise
    except OSError as error:
        raise RunError(
            f"cannot write {error.filename or work}: {error.strerror}; then repeat the command"
        ) from None
    return 0


def run(
    options: Namespace, encoder: Encoder, columns: Columns, settings: dict, work: Path, out: Path
) -> None:
    """Encode the texts, and print what was read and written."""
    work.mkdir(parents=True, exist_ok=True)
    with only_process(work, "encoding") as note:
        read = options.file, columns, encoder, work, options.skip_bad
        try:
            report, done = begin(work, settings, lambda: gather(*read))
        except UsageError:
            if not (work / ENCODER).exists():  # else an earlier try has begun it
                shutil.rmtree(work)
            raise
        counts = f"{report.rows:,} rows, {report.pairs:,} pairs, {report.articles:,} articles"
        tell(f"read       {options.file}: {counts}")
        for line in [*report.lines(), *([f"note       {note}"] if note else [])]:
            tell(line)
        if done:
            tell(f"continuing after {done:,} of {report.pairs:,} pairs")
        encode(work, encoder, done)
        (work / PROGRESS).unlink(missing_ok=True)
        if out.exists():
            out.rmdir()  # it is empty
        work.replace(out)
    size = sum(file.stat().st_size for file in out.iterdir())
    tell(f"written    {options.out}: vectors of {encoder.width} numbers, {size / 1e6:,.0f} MB, and the texts")
    tell(f"train      {training(options.out)}")


def training(out: Path) -> str:
    """Return the command that trains on the vectors in `out`, or what is missing for it."""
    defaults = resolve({"data": str(out)})
    articles = torch.from_numpy(read_npy(out / KEYS)[:, 0])
    learned = int((~split_by_article(articles, defaults.val_split, defaults.seed)).sum())
    if learned < 2:  # the other pairs of a batch are the negatives
        return f"not possible: {learned} of {len(articles)} pairs would be left to learn from; add others"
    command = f"python examples/two_tower/train.py --data {shlex.quote(str(out))}"
    return command if learned >= defaults.batch_size else f"{command} --batch-size {learned}"


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
