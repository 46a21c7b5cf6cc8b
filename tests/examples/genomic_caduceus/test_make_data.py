"""The program that writes generated sequences: what it writes is what trains without files."""

import shlex
import subprocess
import sys
from types import SimpleNamespace

import numpy
import pytest

from examples.genomic_caduceus import generated_sequences, make_data, sequence_files
from examples.genomic_caduceus.class_files import class_names, read_parts, read_split
from examples.genomic_caduceus.generated_sequences import NAMES, chain_data, motif_data
from examples.genomic_caduceus.genome import HELD_OUT, read_windows
from examples.genomic_caduceus.options import PRETRAIN, TRAIN
from examples.genomic_caduceus.tokens import letters
from snippets.errors import exit_with_one_line
from tests.examples.genomic_caduceus.data_files import encode_all, read_fasta, texts_of
from tests.examples.program_runs import assert_refused, contents


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Return a function that calls make_data.py in an empty folder, with a small test set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(generated_sequences, "TEST", 30)

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(make_data.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


def by_class(data):
    """Return the letters of labelled sequences, class by class, and the classes."""
    found = [
        (number, letters(row)) for row, number in zip(data.tokens.numpy(), data.classes.tolist(), strict=True)
    ]
    found.sort(key=lambda pair: pair[0])
    return [sequence for _, sequence in found], [number for number, _ in found]


def typed(printed, command):
    """Return the options that the printed command sets."""
    words = shlex.split(printed.out.rpartition("next ")[2])
    return command.read(words[2:])


def test_folders_hold_what_trains_without_files(call, tmp_path):
    done = call("--sequences", 40, "--seed", 3, "--length", 20, "--out", "some data")
    assert (done.code, done.err) == (0, "")
    given = motif_data(40, 3, 20)
    assert done.out == (
        "written    some data: 40 sequences to learn from, 30 for the test, 20 letters each; "
        "classes background, motif\n"
        f"           accuracy {given.best[0]:.2%} on the test sequences at best, loss {given.best[1]:.4f}\n"
        "next       python examples/genomic_caduceus/train.py 'data=some data'\n"
    )
    folder = tmp_path / "some data"
    assert class_names(folder) == list(NAMES)
    for split in ("train", "test"):
        found = read_split(folder / split, list(NAMES))
        assert texts_of(found) == by_class(getattr(given, split))
    assert TRAIN.resolve(typed(done, TRAIN)).data == str(folder)


def test_intervals_mean_the_same_sequences_on_both_strands(call, tmp_path):
    done = call("--format", "csv", "--sequences", 40, "--seed", 3)
    folder = tmp_path / "data/genomic_csv"
    names, found, _ = read_parts(folder, str(folder / "genome.fa"))
    given = motif_data(40, 3)
    assert names == list(NAMES)
    for split in ("train", "test"):
        assert texts_of(found[split]) == by_class(getattr(given, split))
    tables = [sequence_files.gzip.decompress(path.read_bytes()) for path in folder.glob("*/*.csv.gz")]
    times = {path.read_bytes()[4:8] for path in folder.glob("*/*.csv.gz")}
    assert times == {bytes(4)}  # another day gives the same bytes
    assert len(tables) == 4 and all(table.startswith(b"id,region,start,end,strand\n") for table in tables)
    strands = b"".join(tables).count(b",-\n"), b"".join(tables).count(b",+\n")
    assert sum(strands) == 70 and min(strands) > 15
    assert "background:" in (folder / "metadata.yaml").read_text()
    options = TRAIN.resolve(typed(done, TRAIN))
    assert (options.data, options.reference) == (str(folder), "data/genomic_csv/genome.fa")


@pytest.mark.parametrize("kind", ["markov", "hairpin"])
@pytest.mark.parametrize(("words", "file"), [((), "sequences.fa"), (("--format", "genome"), "genome.fa")])
def test_sequences_without_classes_are_fasta(call, tmp_path, kind, words, file):
    done = call("--data", kind, *words, "--sequences", 45, "--length", 24, "--out", "x")
    assert (done.code, done.err) == (0, "")
    given = chain_data(kind, 45, 0, 24).train.numpy()
    path = tmp_path / "x" / file
    assert len(read_fasta(path)) == (1 if words else 45)
    learned, held_out, *_ = read_windows(path, 24, None)
    is_held_out = numpy.arange(45) % HELD_OUT == HELD_OUT - 1
    assert numpy.array_equal(learned, given[~is_held_out])
    assert numpy.array_equal(held_out, given[is_held_out])
    assert max(map(len, path.read_text().splitlines())) <= 60
    options = PRETRAIN.resolve(typed(done, PRETRAIN))
    assert (options.data_name, options.data, options.length) == ("genome", str(path), 24)
    assert ("loss at best" in done.out) == (kind == "markov")


def test_equal_options_give_equal_files(call, tmp_path):
    for form in ("txt", "csv"):
        for name, seed in (("one", 0), ("two", 0), ("three", 1)):
            call("--format", form, "--sequences", 20, "--seed", seed, "--out", f"{form}/{name}")
        one, two, three = (
            sorted(contents(tmp_path / form / name).values()) for name in ("one", "two", "three")
        )
        assert one == two != three


def test_a_data_set_is_not_written_over(call, tmp_path):
    assert call("--sequences", 20).code == 0
    before = contents(tmp_path)
    assert len(before) == 50
    assert_refused(call("--sequences", 20, "--seed", 1), "data/genomic is not empty; choose another --out")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sequences", "19"], "--sequences: must be a whole number from 20"),
        (["--length", "x"], "--length: must be a whole number from 16"),
        (["--data", "motiv"], "--data: invalid choice: 'motiv'"),
        (["--format", "fasta"], "--format fasta: --data motif has txt or csv"),
        (["--data", "markov", "--format", "csv"], "--format csv: --data markov has fasta or genome"),
        (["--Seed", "1"], "unknown option '--Seed'"),
        (["--out", "file/below"], ""),
    ],
)
def test_mistakes_are_one_line(call, tmp_path, words, message):
    (tmp_path / "file").touch()
    done = call(*words)
    assert (done.code, done.err.count("\n")) == (1 if "--out" in words else 2, 1)
    assert done.err.startswith("error: ") and message in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_letters_are_the_inverse_of_tokens():
    assert letters(encode_all(["ACGTN"], 5)[0].numpy()) == "ACGTN"


@pytest.mark.program
def test_the_program_starts_from_any_folder(tmp_path):
    command = [sys.executable, make_data.__file__, "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("usage: make_data.py")
