"""The report on DNA data: what it counts, and that it takes the words of both programs."""

import pytest

from examples.genomic_caduceus import check_data
from snippets.errors import exit_with_one_line
from tests.examples.genomic_caduceus.data_files import make_folder


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Return a function that prints the report on words in an empty folder, and gives code, lines, error."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(check_data.main, list(words))
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err

    return run


def test_report_counts_what_is_in_the_files(call, tmp_path):
    (tmp_path / "train.csv").write_text(
        "sequence,label\nAAAACCCCTTTTGGGGAC,b\nAAAACCCCTTTTGGGGAC,a\nNNNNNNNN,b\nACRU,a\n,b\nAAAA,a\n"
    )
    (tmp_path / "val.csv").write_text("sequence,label\nTTTT,b\n")
    (tmp_path / "test.csv").write_text("sequence,label\nACNT,b\nACACAC,b\n")
    code, lines, error = call(f"data={tmp_path}", "dataset.max_length=16")
    assert (code, error) == (0, "")
    assert lines[1:] == [
        "classes    class      train   held out       test",
        "           a              3          0          0",
        "           b              2          1          2",
        "note       the test has no sequence of a",
        "baseline   always a: 0.00% of the test sequences right",
        "letters    A 27.4%, C 21.0%, G 12.9%, T 22.6%, N 16.1%",
        "note       16% of the letters are N, about which nothing can be learned",
        "lengths    4 to 18 letters, 5 in the median",
        "cut        2 to 16 letters",
        "replaced   IUPAC letters read as N: 1, letters U read as T: 1",
        "left out   1 without a sequence or a label",
        "duplicates 1 within the training data; in it, too: 1 held out, 1 of the test (either strand)",
        "note       3 sequences have more than one class",
        "example    b: AAAACCCCTTTTGGGG",
        f"next       python examples/genomic_caduceus/train.py data={tmp_path} dataset.max_length=16",
    ]


def test_report_of_generated_and_downloaded_sequences(call, tmp_path):
    code, lines, _ = call("dataset.sequences=40")
    assert code == 0 and lines[0].startswith("data       motif: generated;")
    make_folder(tmp_path / "promoters")
    code, lines, _ = call("data=promoters")
    assert code == 0 and lines[2].split() == ["one", "11", "1", "12"]


def test_fasta_without_labels_is_a_genome(call, tmp_path):
    (tmp_path / "g.fa").write_text(">chr1\n" + "ACGM" * 160 + "\n")
    code, lines, error = call("data=g.fa", "dataset.max_length=32")
    assert code == 2 and "gives 0 windows" in error  # a quarter of each window is N
    (tmp_path / "g.fa").write_text(">chr1\n" + "ACGT" * 160 + "MM\n")
    code, lines, error = call("data=g.fa", "dataset.max_length=32")
    assert (code, error) == (0, "")
    assert lines[0] == f"data       genome: {tmp_path}/g.fa; IUPAC letters read as N: 2"
    assert lines[1] == "windows    19 to learn from, 1 held out, of 32 letters each"
    assert lines[2] == "letters    A 25.0%, C 25.0%, G 25.0%, T 25.0%, N 0.0%"
    assert (
        lines[-1] == "next       python examples/genomic_caduceus/pretrain.py data=g.fa dataset.max_length=32"
    )


@pytest.mark.parametrize("words", [("data=nothing",), ("batch_size",), ("data=x.csv", "lr=0.1"), ("--data",)])
def test_mistakes_are_one_line(call, tmp_path, words):
    code, lines, error = call(*words)
    assert (code, lines, error.count("\n"), error[:7]) == (2, [], 1, "error: ")


def test_help_names_the_words(call):
    assert "data=FILE|FOLDER" in "\n".join(call("--help")[1])
