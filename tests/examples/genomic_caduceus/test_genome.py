"""Windows of a genome: in a row, or the middles of intervals; and what is refused."""

import gzip

import numpy
import pytest

from examples.genomic_caduceus.genome import HELD_OUT, read_windows
from examples.genomic_caduceus.tokens import TOKEN_OF_BYTE
from examples.genomic_caduceus.window_data import genome_data
from snippets.errors import UsageError
from tests.examples.genomic_caduceus.data_files import genome, intervals, read_fasta

ACGT = [7, 8, 9, 10]


def tokens(text):
    """Return letters as tokens."""
    return TOKEN_OF_BYTE[numpy.frombuffer(text.encode(), dtype=numpy.uint8)]


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and gives its path."""

    def call(content, name="genome.fa"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return call


def refusal(read, *given):
    """Return the line in which something is refused."""
    with pytest.raises(UsageError) as refused:
        read(*given)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_sequences_are_named_by_their_first_word(write):
    found = read_fasta(write(">chr1 of something\nACG\nT\n\n>chr2\r\nnNac\r\ngt\r\n>chr3"))
    assert {name: row.tolist() for name, row in found.items()} == {
        "chr1": ACGT,
        "chr2": [11, 11, *ACGT],
        "chr3": [],
    }


def test_a_compressed_genome_is_the_same(write):
    plain, packed = write(genome()), write(gzip.compress(genome()), "genome.fa.gz")
    for one, two in zip(read_fasta(plain).values(), read_fasta(packed).values(), strict=True):
        assert len(one) == 1000 and numpy.array_equal(one, two)


def test_windows_are_adjacent_and_every_twentieth_held_out(write):
    path = write(genome())
    train, val, *_ = read_windows(path, 10, None)
    sequences = read_fasta(path).values()
    windows = [sequence[place : place + 10] for sequence in sequences for place in range(0, 1000, 10)]
    held_out = [number % HELD_OUT == HELD_OUT - 1 for number in range(200)]
    assert numpy.array_equal(val, [w for w, out in zip(windows, held_out, strict=True) if out])
    assert numpy.array_equal(train, [w for w, out in zip(windows, held_out, strict=True) if not out])


def test_no_window_reaches_into_the_next_sequence(write):
    path = write(">a\n" + "A" * 35 + "\n>c\n" + "C" * 400)
    found = numpy.concatenate(read_windows(path, 10, None)[:2])
    assert len(found) == 3 + 40
    assert (found == found[:, :1]).all()


def test_windows_over_a_tenth_unknown_are_left_out(write):
    unknown = "N" * 10 + "NN" + "A" * 8 + "N" + "A" * 9
    path = write(">a\n" + unknown + "\n>c\n" + "C" * 400)
    found = numpy.concatenate(read_windows(path, 10, None)[:2])
    rows = {tuple(row) for row in found.tolist()}
    assert rows == {(8,) * 10, (11, *[7] * 9)}


def test_intervals_give_the_windows_in_their_middles(write):
    path = write(">chr1\n" + "ACGT" * 25)
    bed = write("chr1\t0\t20\ttrain\nchr1\t41\t44\tvalid\nchr1\t10\t12\ttest\n", "windows.bed")
    train, val, *_ = read_windows(path, 8, bed)
    assert train.tolist() == [tokens(("ACGT" * 25)[6:14]).tolist()]
    assert val.tolist() == [tokens(("ACGT" * 25)[38:46]).tolist()]


def test_intervals_whose_window_leaves_the_sequence_are_left_out(write):
    path = write(">chr1\n" + "ACGT" * 25)
    outside = "chr1\t0\t4\ttrain\nchr1\t96\t100\ttrain\nchr1\t96\t100\tvalid\n"
    bed = write(outside + "chr1\t0\t8\ttrain\nchr1\t92\t100\tvalid\n", "windows.bed")
    assert [len(part) for part in read_windows(path, 8, bed)[:2]] == [1, 1]
    bed = write(outside, "windows.bed")
    assert "gives 0 windows of 8 letters to learn from and 0 to hold out" in refusal(
        read_windows, path, 8, bed
    )


def test_the_intervals_of_a_split(write):
    data = genome_data(write(genome()), 8, write(intervals(), "windows.bed"))
    assert (len(data.train), len(data.val), data.train.shape[1]) == (10, 5, 8)
    assert data.name == "genome" and data.floors == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("ACGT\n", ", line 1: FASTA begins with >name"),
        ("\n\nACGT\n>chr1\n", ", line 3: FASTA begins with >name"),
        ("", " holds no sequence; FASTA has >name, then lines of letters"),
        (">chr1\n>chr2\n", " holds no sequence; FASTA has >name"),
        (">chr1\nACGTN\nACQT\n", ", chr1, place 8: the letter 'Q' is no base"),
        (b">chr1\nAC\xffT\n", ", chr1, place 3: the letter 'ÿ' is no base"),
    ],
)
def test_what_is_no_fasta_is_one_line(write, content, message):
    path = write(content)
    assert refusal(read_fasta, path).startswith(f"{path}{message}")


@pytest.mark.parametrize(
    "damage",
    [lambda content: content[:-20], lambda content: b"ACGT", lambda content: content[:30] + b"x" * 40],
    ids=["cut", "not compressed", "changed"],
)
def test_a_damaged_compressed_genome_is_one_line(write, damage):
    path = write(damage(gzip.compress(genome())), "genome.fa.gz")
    assert refusal(read_fasta, path).startswith(f"cannot read {path}: ")


def test_a_missing_file_is_one_line(tmp_path, write):
    path = tmp_path / "no.fa"
    assert refusal(read_fasta, path) == f"cannot read {path}: No such file or directory"
    bed = tmp_path / "no.bed"
    message = refusal(read_windows, write(genome()), 8, bed)
    assert message == f"cannot read {bed}: No such file or directory"


def test_too_short_a_genome_is_one_line(write):
    path = write(">chr1\n" + "A" * 50)
    message = f"{path} gives 5 windows of 10 letters to learn from and 0 to hold out; it takes at least 1"
    assert refusal(read_windows, path, 10, None).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("chr1 0 20 train", "expected name, start, end and split between tabs"),
        ("chr1\t0\t20", "expected name, start, end and split between tabs"),
        ("chr1\t0.5\t20\ttrain", "expected name, start, end and split between tabs"),
        ("chr1\t-5\t20\ttrain", "expected name, start, end and split between tabs"),
        (f"chr1\t0\t{'9' * 5000}\ttrain", "expected name, start, end and split between tabs"),
        ("chr1\t40\t20\ttrain", "an interval from 40 to 20 holds nothing"),
        ("chr9\t0\t20\ttrain", "the genome has no sequence chr9"),
        ("chr1\t0\t20\tvalidation", "the split 'validation' is none of train, valid, test"),
        ("", "expected name, start, end and split between tabs"),
    ],
)
def test_a_wrong_interval_is_one_line(write, line, message):
    bed = write(f"chr1\t0\t20\ttrain\n{line}\n", "windows.bed")
    assert refusal(read_windows, write(genome()), 8, bed).startswith(f"{bed}, line 2: {message}")


def test_binary_bed_file_is_refused_in_one_line(write):
    bed = write(b"\xff\xfe\x00", "windows.bed")
    assert refusal(read_windows, write(genome()), 8, bed) == f"cannot read {bed}: it is no text"
