"""What whole programs are given that does not fit: one line, and nothing is written."""

import gzip
import shutil

import pytest

from tests.examples.genomic_caduceus.conftest import pretrain_only, train_only
from tests.examples.genomic_caduceus.data_files import genome, intervals, make_folder
from tests.examples.program_runs import assert_refused

pytestmark = pytest.mark.usefixtures("without_curves")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 64}, "batch_size=64: there are only 48 sequences to learn from"),
        (
            {"batch_size": 20, "accumulate": 3},
            "batch_size=20 × accumulate=3: there are only 48 sequences to learn from",
        ),
        ({"dataset.max_length": 8}, "dataset.max_length: must be a whole number from 16"),
        ({"dataset.sequences": "null"}, "dataset.sequences=null: name the number of sequences to generate"),
        ({"trainer.devices": 2}, "trainer.devices: must be a whole number from 1 to 1"),
        ({"dataset.drop_last": "false"}, "dataset.drop_last=false: every step of training takes whole"),
        ({"data": "none.fa"}, "data=none.fa: neither "),
        ({"seed": "1,2"}, "seed=1,2: a run has one value"),
        ({"lr": "fast"}, "lr: must be a number"),
    ],
)
def test_options_that_do_not_fit(run_train, tiny, tmp_path, settings, message):
    assert_refused(run_train(*tiny(**settings)), message)
    assert list(tmp_path.iterdir()) == []


def no_test(folder):
    shutil.rmtree(folder / "test")


def another_class(folder):
    (folder / "train" / "three").mkdir()


def no_sequence(folder):
    for path in (folder / "train" / "one").iterdir():
        path.unlink()


def empty_file(folder):
    (folder / "test" / "one" / "3.txt").write_text("")


def another_letter(folder):
    (folder / "train" / "two" / "3.txt").write_text("ACGXACGX")


FOLDERS = {
    no_test: "data has no folder test",
    another_class: "the class three is in only one of train and test",
    no_sequence: "train/one holds no sequence (.txt)",
    empty_file: "test/one/3.txt is empty",
    another_letter: "train/two/3.txt, place 4: the letter 'X' is no base; the letters are A, C, G, T, N",
}
FEW = {"dataset.sequences": "null", "dataset.max_length": "null", "max_steps": 2}


@train_only
@pytest.mark.parametrize(
    ("damage", "message"), FOLDERS.items(), ids=lambda value: getattr(value, "__name__", "")
)
def test_folders_that_are_no_data_set(run_train, tiny, tmp_path, damage, message):
    folder = make_folder(tmp_path / "data")
    damage(folder)
    assert_refused(run_train(*tiny(data=folder, **FEW)), message)
    assert list(tmp_path.iterdir()) == [folder]


@train_only
def test_folder_run_resumes_only_with_its_own_sequences(run_train, tiny, tmp_path, stop):
    folder = make_folder(tmp_path / "data")
    stopped = stop(1, data=folder, **FEW)
    assert stopped.json("config.json")["classes"] == ["one", "two"]
    changed = folder / "train" / "one" / "3.txt"
    before = changed.read_text()
    changed.write_text(before[::-1])
    assert_refused(run_train(resume="run"), f"the content of data={folder} is not what run began with")
    changed.write_text(before)
    assert run_train(resume="run").json("summary.json")["test_accuracy"] >= 0


@train_only
def test_a_downloaded_data_set_is_found_by_its_name(run_train, tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    make_folder(tmp_path / ".genomic_benchmarks" / "human_nontata_promoters")
    run = run_train(*tiny(data="human_nontata_promoters", **FEW), out="run")
    assert "data       human_nontata_promoters: " in run.out and run.code == 0
    again = run_train(*tiny(**FEW), "dataset.dataset_name=human_nontata_promoters", out="again")
    assert again.json("config.json")["data_crc32"] == run.json("config.json")["data_crc32"]


@pretrain_only
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.fa", b"ACGT", "g.fa, line 1: FASTA begins with >name"),
        ("g.fa", b">chr1\nACGX\n", "chr1, place 4: the letter 'X' is no base"),
        ("g.fa", b">chr1\nACGT\n", "gives 0 windows of 24 letters to learn from"),
        ("g.fa.gz", gzip.compress(genome(), mtime=0)[:-30], "cannot read "),
        ("g.fa.gz", gzip.compress(genome(), mtime=0)[:20] + b"x" * 80, "cannot read "),
    ],
)
def test_files_that_are_no_genome(run_train, tiny, tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    assert_refused(run_train(*tiny(data=path, max_steps=1)), message)
    assert list(tmp_path.iterdir()) == [path]


@pretrain_only
def test_a_genome_is_learned_from_with_intervals_too(run_train, tiny, tmp_path):
    path, bed = tmp_path / "g.fa.gz", tmp_path / "w.bed"
    path.write_bytes(gzip.compress(genome()))
    bed.write_text(intervals())
    run = run_train(*tiny(data=path, max_steps=2), out="whole")
    assert (run.code, run.json("config.json")["sequences"]) == (0, {"train": 78, "val": 4})
    settings = {"dataset.max_length": 16, "max_steps": 1, "dataset.intervals": bed}
    run = run_train(*tiny(data=path, **settings), out="windows")
    assert run.json("config.json")["sequences"] == {"train": 10, "val": 5}
    assert f"data       genome: {path}; the windows of {bed}\n" in run.out
    bed.write_text("chr7\t0\t20\ttrain\n")
    assert_refused(
        run_train(*tiny(data=path, **settings), out="other"), "w.bed, line 1: the genome has no sequence chr7"
    )
