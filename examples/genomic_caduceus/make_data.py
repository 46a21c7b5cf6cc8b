"""Write generated DNA sequences as files, in the formats of real data sets.

With no option: 4,000 labelled training sequences and 2,000 test sequences, in data/genomic, one file each.

    --data motif            half of the sequences hold a motif: for train.py
      --format txt          {train,test}/<class>/<id>.txt, as the genomic_benchmarks package downloads them
      --format csv          {train,test}/<class>.csv.gz and a genome, as its repository holds them
      --format gue          train.csv, dev.csv and test.csv with sequence,label, as GUE (DNABERT-2) has them
    --data markov, hairpin  sequences without classes: for pretrain.py
      --format fasta        sequences.fa, a record per sequence
      --format genome       genome.fa, all of them in one record
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import functools

from examples.genomic_caduceus.data_sources import CHAINS, LABELLED
from examples.genomic_caduceus.generated_sequences import LENGTH, chain_data, motif_data
from examples.genomic_caduceus.sequence_files import (
    write_folders,
    write_genome,
    write_intervals,
    write_labelled,
    write_records,
)
from examples.programs.command_line import StrictParser, expanded, whole_number
from examples.programs.run_folder import check_empty, write_whole
from snippets.errors import UsageError, exit_with_one_line

HERE = "python examples/genomic_caduceus"
# Each with the data that it holds.
FORMATS = {"txt": LABELLED, "csv": LABELLED, "gue": LABELLED, "fasta": CHAINS, "genome": CHAINS}


def read_command_line(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options, with default format and folder. Raises UsageError."""
    whole = argparse.RawDescriptionHelpFormatter
    parser = StrictParser(prog="make_data.py", description=__doc__, formatter_class=whole)
    add = parser.add_argument
    add("--data", choices=(*LABELLED, *CHAINS), default="motif", help="what is generated; motif")
    add("--format", choices=FORMATS, help="txt for motif, fasta for the others")
    add("--sequences", type=whole_number(20, 10**6), default=4000, help="to learn from; 4000")
    add("--length", type=whole_number(16, 2**20), default=LENGTH, help=f"of a sequence; {LENGTH}")
    add("--seed", type=whole_number(0, 2**32 - 1), default=0, help="of what is generated; 0")
    add(
        "--out", type=expanded, metavar="DIR", help="data/genomic, with the format behind it if it is not txt"
    )
    options = parser.parse_args(argv)
    possible = [name for name, kinds in FORMATS.items() if options.data in kinds]
    options.format = options.format or possible[0]
    if options.format not in possible:
        raise UsageError(f"--format {options.format}: --data {options.data} has {' or '.join(possible)}")
    suffix = "" if options.format == "txt" else f"_{options.format}"
    options.out = options.out or Path(f"data/genomic{suffix}")
    return options


def write_classes(options: argparse.Namespace) -> list[str]:
    """Write labelled sequences; return the lines to print. Raises UsageError and RunError."""
    data = motif_data(options.sequences, options.seed, options.length)
    splits = {"train": data.train, "test": data.test}
    words = [f"data={options.out}"]
    if options.format == "csv":
        write_whole(
            options.out,
            functools.partial(write_intervals, splits=splits, names=data.names, seed=options.seed),
        )
        words.append(f"dataset.reference={options.out / 'genome.fa'}")
    elif options.format == "gue":
        parts = {"train": data.train, "dev": data.val, "test": data.test}
        write_whole(options.out, functools.partial(write_labelled, splits=parts))
    else:
        write_whole(options.out, functools.partial(write_folders, splits=splits, names=data.names))
    best = []
    if data.best is not None:
        accuracy, loss = data.best
        best.append(f"           accuracy {accuracy:.2%} on the test sequences at best, loss {loss:.4f}")
    return [
        f"written    {options.out}: {len(data.train):,} sequences to learn from, {len(data.test):,} for the "
        f"test, {data.length} letters each; classes {', '.join(data.names)}",
        *best,
        f"next       {HERE}/train.py {shlex.join(words)}",
    ]


def write_windows(options: argparse.Namespace) -> list[str]:
    """Write sequences without classes; return the lines to print. Raises UsageError and RunError."""
    data = chain_data(options.data, options.sequences, options.seed, options.length)
    name, write = {"fasta": ("sequences.fa", write_records), "genome": ("genome.fa", write_genome)}[
        options.format
    ]
    write_whole(options.out, functools.partial(write, windows=data.train))
    words = [f"data={options.out / name}", f"dataset.max_length={options.length}"]
    floors = ", ".join(f"{loss:.4f} ({seen})" for seen, loss in data.floors.items())
    return [
        f"written    {options.out / name}: {len(data.train):,} sequences of {options.length} letters",
        *([f"           loss at best, by what a network sees: {floors}"] if floors else []),
        f"next       {HERE}/pretrain.py {shlex.join(words)}",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Write a data set, and print the command that trains on it. Raises UsageError and RunError."""
    options = read_command_line(argv)
    check_empty(options.out)
    lines = (write_classes if options.data in LABELLED else write_windows)(options)
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
