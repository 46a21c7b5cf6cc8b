"""Write sequences in the file formats of DNA data sets, which the readers here read."""

import csv
import gzip
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy
import torch

from examples.genomic_caduceus.class_data import Labelled
from examples.genomic_caduceus.intervals import HEADER
from examples.genomic_caduceus.tokens import BASES, letters, other_strand

LINE = 60  # letters in a line of FASTA
CHROMOSOMES = 3  # of the generated genome
GAP = 20  # largest number of letters between two intervals

Splits = Mapping[str, Labelled]


def write_folders(folder: Path, splits: Splits, names: tuple[str, ...]) -> None:
    """Write {train,test}/<class>/<id>.txt, one sequence each, like the genomic_benchmarks downloader."""
    for split, data in splits.items():
        for name in names:
            (folder / split / name).mkdir(parents=True)
        for row, (tokens, number) in enumerate(zip(data.tokens.numpy(), data.classes.tolist(), strict=True)):
            path = folder / split / names[number] / f"{row:06d}.txt"
            path.write_text(letters(tokens), encoding="ascii")


def write_intervals(folder: Path, splits: Splits, names: tuple[str, ...], seed: int) -> None:
    """Write interval and strand of each sequence in a genome, like the genomic_benchmarks repository.

    The genome, genome.fa, consists of the sequences, with random bases between them.
    """
    random = numpy.random.default_rng(seed)
    genome: dict[str, list[str]] = {f"chr{number + 1}": [] for number in range(CHROMOSOMES)}
    ends = dict.fromkeys(genome, 0)

    def place(row: int, tokens: numpy.ndarray) -> tuple[str, int, int, str]:
        region, strand = f"chr{row % CHROMOSOMES + 1}", "+-"[random.integers(2)]
        gap = "".join(BASES[base] for base in random.integers(0, 4, random.integers(1, GAP)))
        genome[region] += [gap, letters(tokens if strand == "+" else other_strand(tokens))]
        start = ends[region] + len(gap)
        ends[region] = start + len(tokens)
        return region, start, ends[region], strand

    for split, data in splits.items():
        rows: dict[str, list[tuple]] = {name: [] for name in names}
        for row, (tokens, number) in enumerate(zip(data.tokens.numpy(), data.classes.tolist(), strict=True)):
            rows[names[number]].append((row, *place(row, tokens)))
        (folder / split).mkdir()
        for name in names:
            write_table(folder / split / f"{name}.csv.gz", rows[name])
    write_fasta(folder / "genome.fa", {name: "".join(parts) for name, parts in genome.items()})
    classes = "".join(f"  {name}:\n    type: fa\n    url: genome.fa\n" for name in names)
    (folder / "metadata.yaml").write_text(f"classes:\n{classes}version: 0\n", encoding="utf-8")


def write_labelled(folder: Path, splits: Splits) -> None:
    """Write a table per split with the columns sequence and label, the class index, as GUE has them."""
    for split, data in splits.items():
        with (folder / f"{split}.csv").open("w", encoding="ascii", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("sequence", "label"))
            pairs = zip(data.tokens.numpy(), data.classes.tolist(), strict=True)
            table.writerows((letters(tokens), number) for tokens, number in pairs)


def write_table(path: Path, rows: Iterable[tuple]) -> None:
    """Write intervals as a compressed table, without a timestamp, so that equal rows give equal bytes."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(HEADER)
    table.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def write_fasta(path: Path, sequences: Mapping[str, str]) -> None:
    """Write sequences by their names."""
    with path.open("w", encoding="ascii") as file:
        for name, sequence in sequences.items():
            file.write(f">{name}\n")
            file.writelines(f"{sequence[start : start + LINE]}\n" for start in range(0, len(sequence), LINE))


def write_records(folder: Path, windows: torch.Tensor) -> None:
    """Write windows (windows, length) as sequences.fa, a record each."""
    named = {f"sequence-{row:06d}": letters(tokens) for row, tokens in enumerate(windows.numpy())}
    write_fasta(folder / "sequences.fa", named)


def write_genome(folder: Path, windows: torch.Tensor) -> None:
    """Write windows (windows, length) as one record, genome.fa."""
    write_fasta(folder / "genome.fa", {"chr1": letters(windows.numpy().reshape(-1))})
