"""Labelled sequences in tables and FASTA: what is read, how one file is split, and what is refused."""

import gzip

import numpy
import pytest
import torch

from examples.genomic_caduceus import labelled_files
from examples.genomic_caduceus.class_data import Labelled, file_data
from examples.genomic_caduceus.duplicates import Duplicates, find_duplicates
from examples.programs import array_files
from snippets.errors import UsageError
from tests.examples.genomic_caduceus.data_files import encode_all, texts_of


def rows(count):
    """Return rows of a table: sequences of 8 letters that are all different, with three classes."""
    letters = numpy.array(list("ACGT"))
    sequences = ["".join(letters[[n >> 2 * place & 3 for place in range(8)]]) for n in range(count)]
    return [f"{sequence},{number % 3}" for number, sequence in enumerate(sequences)]


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file in a folder and gives its path."""

    def call(content, name="data.csv"):
        path = tmp_path / "given" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return call


def table(lines, header="sequence,label", end="\n"):
    """Return a table as text."""
    return end.join([header, *lines, ""])


def refusal(path, length=None):
    """Return the line in which a data set is refused, without its folder."""
    with pytest.raises(UsageError) as refused:
        file_data(path, length, 0)
    assert "\n" not in str(refused.value)
    return str(refused.value).replace(f"{path.parent}/", "")


def all_texts(data):
    """Return the texts of training, validation and test sequences, each with its class."""
    names = numpy.array(data.names)
    return [
        list(zip(texts(part.tokens), names[part.classes.numpy()].tolist(), strict=True))
        for part in (data.train, data.val, data.test)
    ]


def texts(tokens):
    """Return rows of tokens as letters, with padding as a dot."""
    return ["".join("....…..ACGTN"[token] for token in row).lstrip("…") for row in tokens.tolist()]


def test_one_file_is_split_by_the_seed(write):
    path = write(table(rows(50)))
    data = file_data(path, None, 3)
    assert [len(part) for part in (data.train, data.val, data.test)] == [40, 5, 5]
    order = torch.randperm(50, generator=torch.Generator().manual_seed(3)).tolist()
    given = [tuple(row.split(",")) for row in rows(50)]
    expected = [[given[n] for n in sorted(part)] for part in (order[10:], order[:5], order[5:10])]
    assert all_texts(data) == expected
    assert data.source == f"{path}; split by the seed"
    assert all_texts(file_data(path, None, 4)) != expected


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (table(rows(30), "seq,label"), "a.csv"),
        ("\ufeff" + table(rows(30), "Sequence,Label", "\r\n"), "a.csv"),
        (table([row.replace(",", "\t") for row in rows(30)], "sequence\tlabel"), "a.tsv"),
        (table([f"{n},{row},x" for n, row in enumerate(rows(30))], "id,sequence,label,more"), "a.csv.gz"),
        (table([f"{row}.0" for row in rows(30)]), "a.csv"),
        (table([f" {row.lower()} " for row in rows(30)]), "a.csv"),
        (
            "".join(f">{n}|{row[-1]}\n{row[:4]}\n{row[4:8]}\n" for n, row in enumerate(rows(30))),
            "a.fa.gz",
        ),
        ("".join(f">{n} label={row[-1]} more\n{row[:8]}\n" for n, row in enumerate(rows(30))), "a.fasta"),
    ],
    ids=["seq", "BOM, capitals, CRLF", "tabs", "other columns, gz", "1.0", "lower case", "|label", "label="],
)
def test_all_these_are_the_same_data(write, content, name):
    expected = file_data(write(table(rows(30)), "plain.csv"), None, 0)
    found = file_data(write(content, name), None, 0)
    assert found.names == expected.names == ("0", "1", "2")
    assert all_texts(found) == all_texts(expected)


def test_numbers_of_classes_follow_their_names(write):
    lines = [f"{row[:8]},{label}" for row, label in zip(rows(40), ["10", "9", "-1", "2"] * 10, strict=True)]
    assert file_data(write(table(lines)), None, 0).names == ("-1", "2", "9", "10")
    lines = [f"{row[:8]},{label}" for row, label in zip(rows(40), ["b", "10", "9", "a"] * 10, strict=True)]
    data = file_data(write(table(lines)), None, 0)
    assert data.names == ("10", "9", "a", "b")
    assert sorted(pair for part in all_texts(data) for pair in part) == sorted(
        tuple(line.split(",")) for line in lines
    )


def test_dev_is_held_out_and_gaps_counted(write):
    write(table([*rows(6), ",1", "ACGT,", "AARN,2"]), "train.csv")
    write(table(rows(6)[:2]), "valid.csv")
    path = write(table(["ACGUACGT,1", "AAAAAAAA,0"]), "test.csv").parent
    data = file_data(path, None, 0)
    assert [len(part) for part in (data.train, data.val, data.test)] == [7, 2, 2]
    assert data.source == (
        f"{path}; left out, without a sequence or a label: 2; "
        "IUPAC letters read as N: 1, letters U read as T: 1"
    )
    assert sorted(data.findings.lengths.tolist()) == [4] + [8] * 10
    assert data.findings.duplicates == Duplicates(0, 2, 1, 0)


def test_duplicates_are_found_on_either_strand():
    def part(sequences, classes):
        return Labelled(encode_all(sequences, 8), torch.tensor(classes))

    train = part(["AACGTTTT", "AAAACGTT", "CCCC", "CCCCCCCC"], [0, 0, 1, 1])  # the second turns the first
    val, test = part(["GGGG", "GGGGGGG"], [1, 0]), part(["AACGTTTT", "CCCC", "ACACACAC"], [0, 0, 0])
    assert find_duplicates((train, val, test)) == Duplicates(1, 1, 2, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (table(rows(9)[:1] * 3), "data.csv: all labels are '0'; it takes 2 classes"),
        (table(rows(2)), "data.csv has 2 sequences to learn from; it takes at least 3"),
        (table([]), "data.csv holds no labelled sequence"),
        ("", "cannot read data.csv: it is empty"),
        ("dna,target\nACGT,1\n", "data.csv has no column sequence; its columns are dna, target"),
        ("sequence,target\nACGT,1\n", "data.csv has no column label; its columns are sequence, target"),
        (
            "\n".join(rows(9)),
            "data.csv has no header; its first line names the columns, such as sequence,label",
        ),
        (table([*rows(3), "ACEF,1"]), "data.csv, line 5, place 3: the letter 'E' is no base"),
        (table([*rows(3), "sequence,label"]), "data.csv, line 5, the header once more; remove it"),
        (table([*rows(3), "AC-GT,1"]), "is no base; the letters are A, C, G, T, N; remove the gaps"),
        (table([*rows(3), "ACGT"]), "line 5 has 1 values, and the first one has 2"),
        (table([*rows(3), "ACGT,1,2"]), "line 5 has 3 values, and the first one has 2"),
        (
            table([f"ACGTACGT,0.{n}" for n in range(9)]),
            "data.csv: label has more than 5 values, such as '0.5'",
        ),
    ],
)
def test_what_is_no_labelled_table_is_one_line(write, monkeypatch, content, message):
    monkeypatch.setattr(labelled_files, "MOST_CLASSES", 5)
    assert message in refusal(write(content))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"train.csv": table(rows(9))}, "given has no folder test; a data set has train and test; to split "),
        ({"train.csv": table(rows(9))}, " by the seed, name it: data=given/train.csv"),
        ({"positive.fa": ">a\nACGT\n"}, "positive.fa, line 1: '>a' has no label"),
        ({"train.csv": table(rows(9)), "test.csv": table(["ACGT,7"])}, "test.csv: the class '7' is not in "),
        ({"train.fa": ">a|1\nACGT\n", "test.fa": ">b\nACGT\n"}, "test.fa, line 1: '>b' has no label"),
        ({"train/a.fa": ">a\nAC\n", "train/b.fa": ">a\nAC\n", "test/a.fa": ">a\nAC\n"}, "class b is in"),
        ({"train/a.fa": ">a\nAC\n", "train/a.fna": ">a\nAC\n", "test/a.fa": ">a\nAC\n"}, "are one class"),
    ],
)  # fmt: skip
def test_what_is_no_labelled_folder_is_one_line(write, files, message):
    for name, content in files.items():
        write(content, name)
    folder = write("", "notes.md").parent
    assert message in refusal(folder)


def test_sequences_larger_than_memory_are_refused(write, monkeypatch):
    monkeypatch.setattr(array_files.os, "sysconf", lambda name: 10)  # a machine of 100 bytes
    assert "data.csv: its sequences take more than 0.0 GB, and this machine has" in refusal(
        write(table(rows(9)))
    )


def test_labels_of_classes_are_kept_by_file(write):
    read = labelled_files.LabelledParts()
    read.read(write(table(["ACGT,b", "AC,a"])), "train")
    read.read(write(">x|a\nGG\n>y|c\n\n", "b.fa"), "train")
    parts = read.parts["train"]
    assert (texts_of(parts), read.classes, parts.left_out) == (
        (["ACGT", "AC", "GG"], [0, 1, 1]),
        {"b": 0, "a": 1},
        1,
    )


def test_a_row_of_a_later_part_is_named(write):
    lines = [f"{'ACGT' * 20},{number % 2}" for number in range(15_000)]  # more than a megabyte
    lines[14_000] = "ACGTX,1"
    assert refusal(write(table(lines))).startswith("data.csv, line 14002, place 5: the letter 'X' is no base")
