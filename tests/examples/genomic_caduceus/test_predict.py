"""Classification of files with a trained network: the figures of the training, in bounded parts."""

import csv
import gzip

import pyarrow
import pytest
import torch
from pyarrow import parquet

from examples.genomic_caduceus import make_data, predict, trained_classifier, unlabelled_files
from snippets.errors import UsageError, exit_with_one_line
from tests.examples.genomic_caduceus.conftest import train_only

WORDS = {"data": "given", "dataset.sequences": "null", "dataset.max_length": "null", "batch_size": 16}


@pytest.fixture
def call(capsys, tmp_path):
    """Return a function that calls predict.py and gives code, output, error and the rows of the CSV file."""

    def run(*words, out="predictions.csv"):
        capsys.readouterr()
        words = [*map(str, words), "--out", out, "--device", "cpu"]
        code = exit_with_one_line(predict.main, words)
        printed = capsys.readouterr()
        rows = list(csv.DictReader((tmp_path / out).open())) if code == 0 else None
        return code, printed.out, printed.err, rows

    return run


@pytest.fixture
def run(run_train, tiny, tmp_path, without_curves):
    """Train in `run` on the data set `given`, in the form of GUE."""
    make_data.main(["--format", "gue", "--sequences", "48", "--length", "24", "--out", "given"])
    return lambda **settings: run_train(*tiny(**WORDS | settings), out="run")


def sequences(path):
    """Return the rows of a table."""
    return list(csv.DictReader(path.open()))


@train_only
def test_predictions_are_those_of_the_training_in_any_form(run, call, tmp_path, monkeypatch):
    trained = run(max_steps=3, epochs=1)
    summary, given = trained.json("summary.json"), sequences(tmp_path / "given/test.csv")
    code, out, error, rows = call("run", "given/test.csv")
    assert (code, error, len(rows)) == (0, "", 240)
    right = [row["class"] == one["label"] for row, one in zip(rows, given, strict=True)]
    assert sum(right) / len(right) == pytest.approx(summary["test_accuracy"])
    assert f"right      {sum(right) / 240:.2%} of 240 with a label" in out
    assert [row["name"] for row in rows] == [str(number + 1) for number in range(240)]
    for row in rows:
        assert float(row["p_0"]) + float(row["p_1"]) == pytest.approx(1, abs=2e-6)
        assert row["probability"] == max(row["p_0"], row["p_1"]) == row[f"p_{row['class']}"]
    before = (tmp_path / "predictions.csv").read_bytes()
    assert call("run/checkpoints/best.pt", "given/test.csv")[0] == 0  # over the file of the first call
    assert (tmp_path / "predictions.csv").read_bytes() == before
    write_others(tmp_path, given)
    monkeypatch.setattr(unlabelled_files, "LETTERS", 100)  # parts of four sequences
    for name in ("a.fa", "a.fa.gz", "a.tsv", "a.parquet"):
        again = call("run", name, out=f"{name}.csv")
        assert again[0] == 0
        for row, one in zip(again[3], rows, strict=True):  # of other batches, which may round otherwise
            assert (row["class"], row["label"]) == (one["class"], one["label"])
            assert float(row["p_0"]) == pytest.approx(float(one["p_0"]), abs=2e-6)
    assert [row["name"] for row in again[3]][:2] == ["s0", "s1"]


def write_others(folder, rows):
    """Write the sequences of a table as FASTA with labels, tabs and Parquet."""
    pairs = [(row["sequence"], row["label"]) for row in rows]
    fasta = "".join(f">s{n}|{label}\n{text[:10]}\n{text[10:]}\n" for n, (text, label) in enumerate(pairs))
    (folder / "a.fa").write_text(fasta)
    (folder / "a.fa.gz").write_bytes(gzip.compress(fasta.lower().encode()))
    (folder / "a.tsv").write_text("seq\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in pairs))
    names = [f"s{number}" for number in range(len(pairs))]
    columns = {
        "sequence": [text for text, _ in pairs],
        "label": [int(label) for _, label in pairs],
        "name": names,
    }
    parquet.write_table(pyarrow.table(columns), folder / "a.parquet")


@train_only
def test_strands_are_averaged_as_in_the_training(run, tmp_path):
    run(max_steps=2, **{"model.config.rcps": "false", "model.conjoin_test": "true"})
    trained = trained_classifier.load_classifier(tmp_path / "run")
    tokens = torch.randint(7, 11, (5, 24))
    turned = (17 - tokens).flip(1)
    assert torch.equal(trained.probabilities(tokens), trained.probabilities(turned))
    assert not torch.equal(trained.network(tokens), trained.network(turned))


@train_only
def test_other_files_are_counted_or_refused(run, call, tmp_path):
    run(max_steps=2)
    (tmp_path / "x.csv").write_text(f"id,sequence,label\na,{'ACGT' * 9},7\nb,,1\nc,ACRU,1\n")
    code, out, _, rows = call("run", "x.csv")
    assert (code, [row["name"] for row in rows], rows[1]["class"], rows[1]["p_0"]) == (
        0,
        ["a", "b", "c"],
        "",
        "",
    )
    for line in (
        "note       sequences cut to their first 24 letters: 1",
        "note       sequences without a letter, which have no class: 1",
        "note       IUPAC letters read as N: 1, letters U read as T: 1",
        "note       some labels are no class of the network, such as '7'",
        "of 1 with a label",
        "written    predictions.csv: 3 rows",
    ):
        assert line in out
    (tmp_path / "other.csv").write_text("mine\n")
    (tmp_path / "y.csv").write_text("sequence\nACGT\nACGE\n")
    before = (tmp_path / "predictions.csv").read_bytes()
    for words, message in (
        (("run", "y.csv"), "y.csv, line 3, place 4: the letter 'E' is no base"),
        (("run", "none.fa"), "cannot read none.fa: No such file"),
        (("run", "given"), "given is a folder without .txt or FASTA in it; name a file of sequences"),
        (("given", "x.csv"), "given holds no run"),
    ):
        code, _, error, _ = call(*words)
        assert (code, error.count("\n")) == (2, 1) and message in error
    assert (tmp_path / "predictions.csv").read_bytes() == before  # nothing is half written
    assert "is no file that this command made" in call("run", "x.csv", out="other.csv")[2]
    assert (tmp_path / "other.csv").read_text() == "mine\n"


@train_only
@pytest.mark.parametrize(
    "change",
    [{"classes": "ab"}, {"classes": [1, 2]}, {"length": 0}, {"length": None}, {"options": {"width": 10**9}}],
)
def test_a_changed_checkpoint_is_one_line(run, tmp_path, change):
    run(max_steps=1, epochs=1)
    path = tmp_path / "run/checkpoints/best.pt"
    content = torch.load(path, weights_only=True)
    content["config"] |= change
    torch.save(content, path)
    with pytest.raises(UsageError, match="does not say which classes and sizes it has"):
        trained_classifier.load_classifier(path)
