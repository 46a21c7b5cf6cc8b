"""The files that this system reads, for the attacks of test_damaged_data.py, and folders for other tests."""

import gzip

import numpy
import pytest
import torch

from examples.genomic_caduceus import fasta as module
from examples.genomic_caduceus.class_data import file_data
from examples.genomic_caduceus.generated_sequences import motif_data
from examples.genomic_caduceus.genome import read_genome, read_windows
from examples.genomic_caduceus.sequence_files import write_intervals
from examples.genomic_caduceus.sequences import Sequences
from examples.genomic_caduceus.tokens import FIRST_BASE, PAD, UNKNOWN_BASE, encode, letters


def sequences_of(texts):
    """Return texts as sequences."""
    found = Sequences()
    for text in texts:
        found.add(encode(numpy.frombuffer(text.encode("latin1"), dtype=numpy.uint8), found.replaced))
    return found


def encode_all(texts, length):
    """Return the tokens of texts, (texts, length), padded on the left or cut."""
    return sequences_of(texts).padded(length)


def texts_of(sequences):
    """Return sequences as texts, and their class numbers."""
    ends = numpy.cumsum(sequences.lengths_array())
    tokens = numpy.frombuffer(sequences.tokens, dtype=numpy.uint8)
    return [letters(part) for part in numpy.split(tokens, ends)[:-1]], list(sequences.classes)


def read_fasta(path):
    """Return the tokens of each sequence of a genome by its name."""
    return read_genome(path).sequences


CLASSES = {"one": "ACGTTGCA", "two": "GGGCCCAT"}
LENGTH = 8  # of a window


def make_folder(folder, classes=CLASSES, count=12):
    """Write a data set whose sequences begin with those of their class, each with another end; return it."""
    for split in ("train", "test"):
        for name, sequence in classes.items():
            (folder / split / name).mkdir(parents=True)
            for number in range(count):
                end = "".join("ACGT"[number // 4**place % 4] for place in range(3))
                (folder / split / name / f"{number}.txt").write_text(sequence + end)
    return folder


def genome(letters=1000):
    """Return a genome of two sequences with letters of both cases, as bytes of FASTA."""
    random = numpy.random.default_rng(0)
    content = ""
    for name in ("chr1 the first", "chr2"):
        sequence = "".join(random.choice(list("ACGTacgt"), letters))
        lines = [sequence[start : start + 60] for start in range(0, letters, 60)]
        content += f">{name}\n" + "\n".join(lines) + "\n"
    return content.encode()


def intervals():
    """Return the lines of a BED file with windows of that genome."""
    splits = ("train", "train", "valid", "test")
    lines = [(f"chr{1 + n % 2}", 20 * n, 20 * n + 20, splits[n % 4]) for n in range(20)]
    return "".join("\t".join(map(str, line)) + "\n" for line in lines)


def make_sequence(path):
    """Write a data set with a sequence at this place in it."""
    make_folder(path.parents[2])


def make_table(path):
    """Write a data set of places in a genome, of which this file has those of a class."""
    data = motif_data(20, 0, 16)
    path.parents[1].mkdir()
    write_intervals(path.parents[1], {"train": data.train, "test": data.val}, data.names, 0)


def read_table(path):
    """Return the data set that this file belongs to."""
    folder = path.parents[1]
    return file_data(folder, None, 0, str(folder / "genome.fa"))


def check_classes(data):
    """Fail unless a data set is what is promised."""
    for part in (data.train, data.val, data.test):
        assert len(part) > 0 and part.tokens.shape == (len(part), data.length)
        assert part.classes.shape == (len(part),) and part.classes.max() < len(data.names)
        tokens, padding = part.tokens, part.tokens == PAD
        assert (((tokens >= FIRST_BASE) & (tokens <= UNKNOWN_BASE)) | padding).all()
        assert not padding[:, -1].any()
        assert torch.equal(padding, padding.long().cummin(1).values.bool())  # all of it is on the left


def check_fasta(sequences):
    """Fail unless all letters are bases."""
    assert sequences
    for tokens in sequences.values():
        assert tokens.dtype == numpy.uint8
        assert ((tokens >= FIRST_BASE) & (tokens <= UNKNOWN_BASE)).all()


def read_short(path):
    """Return the tokens of a genome; a line has at most a megabyte here: 512 MB take seconds to refuse."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONGEST", 1 << 20)
        return read_fasta(path)


def read_bed(path):
    """Return the windows of a BED file in a genome beside it."""
    fasta = path.with_name("genome.fa")
    fasta.write_bytes(genome())
    return read_windows(fasta, LENGTH, path)


def check_windows(found):
    """Fail unless there are windows of both kinds."""
    for windows in found[:2]:
        assert len(windows) > 0 and windows.shape[1] == LENGTH
        check_fasta({"": windows})


# name: what makes such a file, what reads it, what must hold for what was read
FILES = {
    "data/train/one/3.txt": (
        make_sequence,
        lambda path: file_data(path.parents[2], None, 0),
        check_classes,
    ),
    "data/train/motif.csv.gz": (make_table, read_table, check_classes),
    "genome.fa": (lambda path: path.write_bytes(genome()), read_short, check_fasta),
    "genome.fa.gz": (lambda path: path.write_bytes(gzip.compress(genome())), read_fasta, check_fasta),
    "windows.bed": (lambda path: path.write_text(intervals()), read_bed, check_windows),
}
