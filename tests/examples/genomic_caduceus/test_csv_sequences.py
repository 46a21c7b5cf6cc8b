"""Sequences that a table names by their places in a genome."""

import gzip

import pytest
import yaml

from examples.genomic_caduceus import train
from examples.genomic_caduceus.class_data import file_data
from examples.genomic_caduceus.class_files import read_parts
from examples.genomic_caduceus.intervals import also_called, holds_intervals
from examples.genomic_caduceus.options import TRAIN
from snippets.errors import UsageError
from tests.examples.genomic_caduceus.data_files import texts_of

#                 0         1
#                 0123456789012345
GENOME = {"chr1": "AACCGGTTNACGTACG", "chr2": "TTTTTTTTTTTTTTTT"}
HEADER = "id,region,start,end,strand"
TABLES = {
    "train/b": ["0,chr1,0,4,+", "x1,chr1,0,4,-", "7,chr2,15,16,"],
    "train/a": ["0,chr1,8,12,-"],
    "test/a": ["0,chr1,0,16,+"],
    "test/b": ["0,chr2,0,2,+"],
}


def write_table(path, rows, header=HEADER):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join([header, *rows, ""]).encode()))


@pytest.fixture
def data(tmp_path):
    """Return the folder of a data set, beside which is its genome, genome.fa."""
    for name, rows in TABLES.items():
        write_table(tmp_path / "data" / f"{name}.csv.gz", rows)
    (tmp_path / "data/train/.DS_Store").touch()
    write_genome(tmp_path, GENOME)
    return tmp_path / "data"


def write_genome(folder, sequences):
    (folder / "genome.fa").write_text("".join(f">{name} more\n{text}\n" for name, text in sequences.items()))
    return folder / "genome.fa"


def test_places_become_sequences_class_by_class(data):
    names, splits, _ = read_parts(data, str(data.parent / "genome.fa"))
    assert names == ["a", "b"]
    assert {part: texts_of(found) for part, found in splits.items()} == {
        "train": (["CGTN", "AACC", "GGTT", "T"], [0, 1, 1, 1]),
        "test": (["AACCGGTTNACGTACG", "TT"], [0, 1]),
    }


@pytest.mark.parametrize(
    ("called", "name", "expected"),
    [
        ("chr1", "1", True),
        ("chrX", "X", True),
        ("ENST00000371014", "ENST00000371014.6", True),
        ("chr1", "chr1", True),
        ("1", "chr1", False),
        ("chr1", "chr10", False),
    ],
)
def test_names_of_ensembl_are_understood(called, name, expected):
    assert (called in also_called(name)) == expected


def test_the_very_name_goes_first(data):
    """A worm has a chromosome X as well; behind a human genome it is not chrX."""
    for name in ("train/a", "test/a"):
        write_table(data / f"{name}.csv.gz", ["0,chrX,0,3,+", "1,X,0,3,+"])
    genome = GENOME | {"chrX": "AAAA", "X": "CCCC"}
    parts = read_parts(data, str(write_genome(data.parent, genome))).parts
    assert texts_of(parts["test"])[0][:2] == ["AAA", "CCC"]


def test_only_what_is_needed_of_a_genome_is_kept(data):
    """A letter that is no base matters only in the sequences that are read."""
    genome = write_genome(data.parent, GENOME | {"chr3": "ACGT!", "chr1_alt": "?"})
    assert read_parts(data, str(genome)).names == ["a", "b"]


def test_a_folder_of_tables_is_a_data_set(data):
    assert holds_intervals(data) and not holds_intervals(data / "train")
    found = file_data(data, None, 0, str(data.parent / "genome.fa"))
    assert (found.names, found.length, len(found.test)) == (("a", "b"), 16, 2)
    assert len(found.train) + len(found.val) == 4


def test_it_trains_and_notes_the_classes(data, one_thread):
    words = [f"data={data}", f"dataset.reference={data.parent / 'genome.fa'}", "batch_size=1", "device=cpu"]
    small = ["model.config.d_model=4", "model.config.d_state=1", "max_steps=1"]
    task = train.PROGRAM.prepare(TRAIN.read([*words, *small]))
    assert task.facts["classes"] == ("a", "b")
    assert task.options.reference == str(data.parent / "genome.fa")
    assert "reference" not in task.options.decisive()  # the sequences have a checksum


def refused(data, genome=None):
    with pytest.raises(UsageError) as error:
        read_parts(data, str(genome or data.parent / "genome.fa"))
    message = str(error.value).replace(str(data.parent), "")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["0,chr9,0,4,+"], "line 2: /genome.fa has no sequence 'chr9'"),
        (["0,chr1,0,4,+", "1,chr1,13,17,+"], "line 3: 13 to 17 is no part of chr1, which has 16 letters"),
        (["0,chr1,4,4,+"], "4 to 4 is no part of chr1"),
        (["0,chr1,5,4,+"], "5 to 4 is no part of chr1"),
        (["0,chr1,-1,4,+"], "start and end must be whole numbers, not '-1' and '4'"),
        (["0,chr1,0,4.5,+"], "not '0' and '4.5'"),
        (["0,chr1,0,٤,+"], "must be whole numbers"),
        ([f"0,chr1,0,{'9' * 5000},+"], "must be whole numbers"),
        (["0,chr1,0,4,*"], "the strand is '*'; it must be +, - or empty"),
        (["0,chr1,0,4"], "line 2: 4 values; it takes 5: id, region, start, end, strand"),
        (['0,"chr1,0,4,+'], "it is damaged or no compressed table"),
        ([], "train/a.csv.gz holds no sequence"),
    ],
)
def test_wrong_rows(data, rows, message):
    write_table(data / "train/a.csv.gz", rows)
    assert message in refused(data)


def test_wrong_tables(data):
    table = data / "train/a.csv.gz"
    whole = table.read_bytes()
    write_table(table, TABLES["train/a"], header="id,chromosome,start,end,strand")
    assert refused(data) == (
        "/data/train/a.csv.gz begins with 'id,chromosome,start,end,strand', "
        "not with id,region,start,end,strand"
    )
    for damaged in (
        b"",
        whole[:-9],
        whole[:20] + b"\0\0" + whole[22:],
        b"id,region\n",
        gzip.compress(b"\xff\n", mtime=0),
    ):
        table.write_bytes(damaged)
        assert refused(data).startswith(
            (
                "cannot read /data/train/a.csv.gz: it is damaged",
                "cannot read /data/train/a.csv.gz: damaged",
                "/data/train/a.csv.gz begins",
            )
        )
    table.unlink()
    assert refused(data) == "/data: the class a is in only one of train and test"


def test_wrong_genomes(data):
    assert "cannot read /none.fa: No such file" in refused(data, data.parent / "none.fa")
    assert "chr1, place 3: the letter 'X' is no base" in refused(
        data, write_genome(data.parent, GENOME | {"chr1": "AAX"})
    )
    twice = data.parent / "twice.fa"
    twice.write_text(">chr1\nACGT\n>chr1\nACGT\n")
    assert refused(data, twice) == "/twice.fa, line 3: there is another sequence chr1"
    damaged = data.parent / "genome.fa.gz"
    damaged.write_bytes(gzip.compress(b">chr1\n" + b"ACGT" * 1000)[:-20])
    assert refused(data, damaged).startswith("cannot read /genome.fa.gz: ")
    with pytest.raises(UsageError, match=r"name the genome that has them: dataset.reference=FILE.fa$"):
        read_parts(data, None)


def two_genomes(data, *names):
    """Write tables of two classes that both have a sequence X, and a genome for each; return their folder."""
    for split in ("train", "test"):
        for name in ("a", "b"):
            (data / f"{split}/{name}.csv.gz").unlink()
        write_table(data / f"{split}/human.csv.gz", ["0,chrX,0,4,+", "1,chrX,4,8,-"])
        write_table(data / f"{split}/worm.csv.gz", ["0,X,0,4,+", "1,I,0,4,-"])
    folder = data.parent / "genomes"
    folder.mkdir()
    for name, text in zip(names, (">X\nAAACCRGT\n", ">I\nAGTC\n>X\nTTTTGGGG\n"), strict=True):
        (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return folder


FOUND = (["AAAC", "ACNG", "TTTT", "GACT"], [0, 0, 1, 1])


@pytest.mark.parametrize("names", [("human.fa", "worm.fa"), ("GRCh38.fa.gz", "WBcel235.fa.gz")])
@pytest.mark.parametrize("by_folder", [True, False])
def test_each_class_is_read_in_its_own_genome(data, names, by_folder):
    folder = two_genomes(data, *names)
    url = "http://x/pub/{}"
    classes = {"human": {"url": url.format("GRCh38.fa.gz")}, "worm": {"url": url.format("WBcel235.fa.gz")}}
    (data / "metadata.yaml").write_text(yaml.safe_dump({"classes": classes, "version": 0}))
    typed = folder if by_folder else ",".join(str(folder / name) for name in reversed(names))
    options = TRAIN.resolve(TRAIN.read([f"data={data}", f"dataset.reference={typed}"]))
    parts = read_parts(data, options.reference)
    assert parts.names == ["human", "worm"]
    assert [texts_of(parts.parts[part]) for part in ("train", "test")] == [FOUND, FOUND]
    assert parts.parts["train"].replaced.ambiguous == 1


def test_name_in_both_genomes_needs_the_class(data):
    folder = two_genomes(data, "one.fa", "two.fa")
    message = refused(data, folder)
    assert message == (
        "/data/train/human.csv.gz, line 2: /genomes/one.fa and /genomes/two.fa both have 'chrX'; call the "
        "genome of the class human human.fa, and name it so in dataset.reference"
    )
    for name, own in (("one", "human"), ("two", "worm")):
        (folder / f"{name}.fa").rename(folder / f"{own}.fa")
    assert texts_of(read_parts(data, str(folder)).parts["test"]) == FOUND


@pytest.mark.parametrize(
    ("content", "reason"),
    [("classes: [a", ""), ("a: 1", ""), ("classes: {human: {url: &x u}, worm: *x}", "aliases"), ("- x", "")],
)
def test_metadata_that_cannot_be_read_is_one_line(data, content, reason):
    folder = two_genomes(data, "one.fa", "two.fa")
    (data / "metadata.yaml").write_text(content)
    message = refused(data, folder)
    assert message.startswith("cannot read /data/metadata.yaml: ") and reason in message


def test_folder_without_a_genome_is_named(data):
    (data.parent / "empty").mkdir()
    assert refused(data, data.parent / "empty").startswith("/empty holds no genome")
