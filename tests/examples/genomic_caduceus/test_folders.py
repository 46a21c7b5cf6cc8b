"""Data sets in folders: which number a class gets, which files are read, and what is refused."""

import random

import pytest
import torch

from examples.genomic_caduceus.class_data import file_data
from examples.genomic_caduceus.class_files import class_names, read_split
from examples.genomic_caduceus.tokens import PAD
from snippets.errors import UsageError
from tests.examples.genomic_caduceus.data_files import check_classes, make_folder, texts_of


@pytest.fixture
def folder(tmp_path):
    """Return a data set of two classes."""
    return make_folder(tmp_path / "promoters")


def all_rows(data):
    """Return tokens and classes of a whole data set."""
    parts = (data.train, data.val, data.test)
    return torch.cat([part.tokens for part in parts]), torch.cat([part.classes for part in parts])


def refusal(folder):
    """Return the line in which a folder is refused."""
    with pytest.raises(UsageError) as refused:
        file_data(folder, None, 0)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_classes_are_numbered_by_their_names_in_any_listing(tmp_path, monkeypatch):
    names = [f"class{number}" for number in range(9)]
    folder = make_folder(tmp_path / "data", dict.fromkeys(names, "ACGT"), count=2)
    chance, listed = random.Random(0), type(folder).iterdir

    def shuffled(path):
        entries = list(listed(path))
        chance.shuffle(entries)
        return entries

    monkeypatch.setattr(type(folder), "iterdir", shuffled)
    for _ in range(3):
        assert class_names(folder) == names


def test_a_sequence_has_the_number_of_its_class(folder):
    data = file_data(folder, None, 0)
    check_classes(data)
    assert data.names == ("one", "two")
    tokens, classes = all_rows(data)
    assert torch.equal(tokens[:, 0] == 9, classes == 1)  # G: the second one
    assert (len(data.train), len(data.val), len(data.test)) == (22, 2, 24)


def test_seed_chooses_the_held_out_tenth(folder):
    first, again, other = (file_data(folder, None, seed) for seed in (0, 0, 1))
    assert torch.equal(first.val.tokens, again.val.tokens)
    assert not torch.equal(first.val.tokens, other.val.tokens)
    rows = [sorted(all_rows(data)[0].tolist()) for data in (first, other)]
    assert rows[0] == rows[1]
    held_out = {tuple(row) for row in first.val.tokens.tolist()}
    assert held_out.isdisjoint(map(tuple, first.train.tokens.tolist()))


def test_hidden_and_foreign_files_are_ignored(folder):
    before = file_data(folder, None, 0)
    for split in ("train", "test"):
        (folder / split / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
        (folder / split / "._one").write_bytes(b"\0\5\26\7")
        (folder / split / ".hidden").mkdir()
        (folder / split / "one" / "._0.txt").write_bytes(b"\0\5\26\7")
        (folder / split / "one" / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
        (folder / split / "two" / "notes.md").write_text("no sequence")
    after = file_data(folder, None, 0)
    assert after.names == before.names
    for one, two in zip(all_rows(before), all_rows(after), strict=True):
        assert torch.equal(one, two)


def test_lower_case_and_final_newline_change_nothing(folder):
    before = file_data(folder, None, 0)
    for path in folder.rglob("*.txt"):
        path.write_text(path.read_text().lower() + "\n")
    assert torch.equal(file_data(folder, None, 0).train.tokens, before.train.tokens)


def test_short_sequences_are_padded_and_long_ones_cut(folder):
    (folder / "train" / "one" / "0.txt").write_text("ACG")
    (folder / "test" / "two" / "0.txt").write_text("G" * 20)
    whole = file_data(folder, 1024, 0)
    assert whole.length == 20 and "cut" not in whole.source
    assert (all_rows(whole)[0] == PAD).sum(1).max() == 17
    cut = file_data(folder, 12, 0)
    check_classes(cut)
    assert cut.length == 12
    assert cut.source == f"{folder}; 1 sequences were cut to their first 12 letters"


def test_files_come_in_the_order_of_their_names(folder):
    found = read_split(folder / "train", ["one", "two"])
    names = sorted(path.name for path in (folder / "train" / "one").iterdir())
    texts, classes = texts_of(found)
    assert texts[: len(names)] == [(folder / "train" / "one" / name).read_text() for name in names]
    assert classes == [0] * 12 + [1] * 12


def test_classes_that_one_split_has_alone_are_named(folder):
    (folder / "test" / "three").mkdir()
    assert refusal(folder) == f"{folder}: the class three is in only one of train and test"


def test_a_class_without_a_sequence_is_named(folder):
    for path in (folder / "test" / "two").iterdir():
        path.unlink()
    assert refusal(folder).startswith(f"{folder}/test/two holds no sequence")


@pytest.mark.parametrize("content", ["", "\n", " \n\n"])
def test_an_empty_file_is_named(folder, content):
    (folder / "train" / "two" / "7.txt").write_text(content)
    assert refusal(folder) == f"{folder}/train/two/7.txt is empty"


@pytest.mark.parametrize("content", ["ACGX", "ACG\nACG", "ACG中", "\ufeffACG"])
def test_another_letter_is_named_with_its_file(folder, content):
    (folder / "train" / "two" / "7.txt").write_text(content, encoding="utf-8")
    message = refusal(folder)
    assert "is no base; the letters are A, C, G, T, N" in message
    assert f"{folder}/train/two/7.txt" in message


def test_a_missing_split_is_named(folder):
    (folder / "test").rename(folder / "tests")
    assert refusal(folder) == f"{folder} has no folder test; a data set has train and test"


def test_one_class_is_too_few(tmp_path):
    assert "has 1 classes; it takes at least 2" in refusal(make_folder(tmp_path / "data", {"one": "ACGT"}))
