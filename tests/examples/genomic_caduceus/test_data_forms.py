"""The forms of DNA data of docs/data/data_forms/: read by the real readers, or refused as is said there."""

import gzip
from pathlib import Path

import pytest

from examples.genomic_caduceus.class_data import file_data
from examples.genomic_caduceus.genome import read_genome, read_windows
from examples.genomic_caduceus.options import PRETRAIN, TRAIN
from examples.genomic_caduceus.tokens import PAD, letters
from snippets.errors import UsageError
from tests.examples.genomic_caduceus import data_forms
from tools.read_yaml import read_yaml

FORMS = read_yaml(Path(__file__).resolve().parents[3] / "docs/data/data_forms/genomic_caduceus.yaml")
HALVES = ["ACGTTGCAA", "GGGCCCATA"]  # how sequences of the first and of the second class begin

# What is read in each form: the names of the classes, the sizes of train, val and test, and, for data of
# places, all sequences of the first class, otherwise how those of each class begin.
READ = {
    "genomic_benchmarks, as its package downloads it": (["negative", "positive"], (3, 1, 2), HALVES),
    "genomic_benchmarks, the tables of its repository": (
        ["negative", "positive"],
        (3, 1, 2),
        {"ACGTTGCAAC", "GTGTTGCAAC", "TGCAACACGT"},
    ),
    "`demo_human_or_worm`: tables of two genomes": (
        ["human", "worm"],
        (3, 1, 2),
        {"ACGTTGCAAC", "GTGTTGCAAC", "TGCAACACGT"},
    ),
    "`demo_coding_vs_intergenomic_seqs`: transcripts and a genome": (
        ["coding_seqs", "intergenomic_seqs"],
        (3, 1, 2),
        {"GGGCCCATAA", "GCCCATAAGG", "CCATAAGGGC"},
    ),
    "Genomic Benchmarks on Hugging Face, Parquet": (["0", "1"], (2, 1, 2), HALVES),
    "The same as one CSV file": (["0", "1"], (8, 1, 1), ["ACGTTGCA", "GGGCCCAT"]),
    "GUE, DNABERT-2": (["0", "1"], (3, 2, 2), ["ACGTTGCA", "GGGCCCAT"]),
    "Nucleotide Transformer tasks, FASTA": (["0", "1"], (2, 1, 2), HALVES),
    "Nucleotide Transformer tasks, Parquet": (["0", "1"], (2, 1, 2), HALVES),
    "A FASTA file per class": (["negative", "positive"], (3, 1, 2), HALVES),
    "A FASTA file per class, in one folder": (["negative", "positive"], (8, 1, 1), ["ACGTTGCA", "GGGCCCAT"]),
    "iFeature and iLearn, with label and part in the header": (["0", "1"], (2, 1, 2), HALVES),
    "DNABERT, overlapping k-mers": (["0", "1"], (2, 1, 2), HALVES),
    "UCI promoters, `promoters.data`": (["+", "-"], (8, 1, 1), ["GGGCCCAT", "ACGTTGCA"]),
    "RNA, with U": (["0", "1"], (8, 1, 1), ["ACGTTGCA", "GGGCCCAT"]),
}
GENOMES = {  # for pretrain.py: the letters of each sequence, and what was replaced
    "GRCh38 from NCBI, with IUPAC letters": (
        {"NC_000001.11": "NNNNACGTTGCAACNGTNACGTNNNNNNNNACGTACGTACGT"},
        "IUPAC letters read as N: 10",
    ),
    "Ensembl, `toplevel.fa.gz`": ({"1": "NNNNACGTTGCAACACGTACGTACGTACGTACGTACGTAC"}, ""),
    "UCSC, `hg38.fa.gz`, also from `bgzip`": (
        {"chr1": "NNNNACGTTGCAACACGTACGTACGTACGTACGTACGTAC", "chr2": "ACGTTGCAAC" * 4},
        "",
    ),
}


@pytest.fixture(params=FORMS, ids=lambda form: form["name"]["en"])
def form(request, tmp_path):
    """Write the files of a form, and return it with the folder and the FASTA files in it."""
    for name, text in request.param.get("files", {}).items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    (tmp_path / "data").mkdir(exist_ok=True)
    if made := request.param.get("made_by"):
        getattr(data_forms, made)(tmp_path / "data")
    return request.param, tmp_path / "data"


@pytest.mark.slow
def test_forms_are_read_or_refused_as_said(form):
    what, folder = form
    name = what["name"]["en"]
    if what["result"] == "refused":
        with pytest.raises(UsageError) as refused:
            read_refused(folder)
        assert what["message"] in str(refused.value) and "\n" not in str(refused.value)
    elif name in GENOMES:
        (path,) = folder.iterdir()
        genome = read_genome(Path(PRETRAIN.resolve(PRETRAIN.read([f"data={path}"])).data))
        found = {name: letters(tokens) for name, tokens in genome.sequences.items()}
        assert (found, genome.replaced.note()) == GENOMES[name]
    elif (bed := folder / "human-sequences.bed").exists():
        (folder / "genome.fa").write_text(data_forms.HG38)
        found = read_windows(folder / "genome.fa", 10, bed)
        assert [letters(part.reshape(-1)) for part in found[:2]] == [
            "CGTTGCAACA" + "GCAACACGTT",
            "TACGTACGTA",
        ]
    else:
        check_classes(folder, *READ[name])


def check_classes(folder, names, sizes, sequences):
    """Read a data set, and compare classes, sizes, and the letters of each class."""
    files = list(folder.iterdir())
    genomes = [path for path in folder.rglob("*.fa.gz") if path.parent.name != "train"]
    given = files[0] if len(files) == 1 and files[0].is_file() else folder
    reference = str(genomes[0] if len(genomes) == 1 else folder / "genomes") if genomes else None
    words = [f"data={given}", *([f"dataset.reference={reference}"] if reference else [])]
    options = TRAIN.resolve(TRAIN.read(words))
    data = file_data(Path(options.data), None, 0, options.reference)
    assert (list(data.names), tuple(map(len, (data.train, data.val, data.test)))) == (names, sizes)
    of_class = [
        {
            letters(row[row != PAD].numpy())
            for part in (data.train, data.val, data.test)
            for row in part.tokens[part.classes == number]
        }
        for number in (0, 1)
    ]
    if isinstance(sequences, set):
        assert of_class[0] == sequences and not of_class[0] & of_class[1]
    else:
        assert all(
            text.startswith(begin) for found, begin in zip(of_class, sequences, strict=True) for text in found
        )
        assert sum(map(len, of_class)) == sum(sizes)


def read_refused(folder):
    """Read a form that is refused, with the program for it."""
    if (folder / "background.bed").exists():
        file_data(folder, None, 0)
    (path,) = folder.iterdir()
    if path.suffix == ".bed":
        (folder / "genome.fa").write_text(data_forms.HG38)
        read_windows(folder / "genome.fa", 10, path)
    read_windows(path, 10, None)
