"""Files of pairs: what they give, and the one line that says what is wrong with one."""

import numpy
import pytest
import torch
from torch.nn import functional as F

from examples.programs import array_files
from examples.two_tower.pair_files import read_pairs
from examples.two_tower.pairs import PairRows, PlainPayloads
from snippets.errors import UsageError
from tests.examples.program_runs import assert_refused
from tests.examples.two_tower.data_files import arrays


@pytest.fixture
def write(tmp_path):
    """Return a function that writes the arrays of a file, changed, and returns its path."""

    def call(**changed):
        content = {name: array for name, array in (arrays() | changed).items() if array is not None}
        numpy.savez(tmp_path / "pairs.npz", **content)
        return tmp_path / "pairs.npz"

    return call


@pytest.fixture
def unpack(tmp_path):
    """Return a function that writes the arrays, changed, each into its own file, and returns their folder."""

    def call(**changed):
        (tmp_path / "folder").mkdir()
        for name, array in (arrays() | changed).items():
            if array is not None:
                numpy.save(tmp_path / "folder" / f"{name}.npy", array)
        return tmp_path / "folder"

    return call


def test_what_a_file_gives(write):
    given, pairs = arrays(), read_pairs(write())
    assert torch.equal(pairs.contexts, torch.from_numpy(given["context_sequences"]))
    assert torch.equal(pairs.payloads, torch.from_numpy(given["target_vectors"]))
    assert pairs.articles.tolist() == given["truth_keys"][:, 0].tolist()
    assert (len(pairs), pairs.name, pairs.mapped) == (12, "pairs.npz", False)
    assert pairs.texts is None


def test_a_folder_is_mapped_and_gives_the_same(write, unpack):
    whole, mapped = read_pairs(write()), read_pairs(unpack())
    assert (whole.mapped, mapped.mapped) == (False, True)
    for name in ("contexts", "payloads", "articles", "payload_ids"):
        assert torch.equal(getattr(whole, name), getattr(mapped, name))
    assert whole.fingerprint() == mapped.fingerprint()
    row, context, payload = PairRows(mapped, torch.tensor([5, 7]))[1]
    assert (row, len(PairRows(mapped, torch.tensor([5, 7])))) == (7, 2)
    assert torch.equal(context, whole.contexts[7]) and torch.equal(payload, whole.payloads[7])


def test_a_mapped_file_is_not_read_into_memory(unpack):
    """What changes in the file afterwards is seen; and nothing that is written here gets there."""
    folder = unpack()
    pairs, file = read_pairs(folder), folder / "target_vectors.npy"
    changed = numpy.load(file, mmap_mode="r+")
    changed[3] = 5
    changed.flush()
    assert (pairs.payloads[3] == 5).all()
    pairs.payloads[4] = 6
    assert (numpy.load(file)[4] != 6).all()


@pytest.mark.parametrize("kind", [numpy.int32, numpy.uint8, ">i8"])
def test_articles_may_be_any_whole_numbers(write, kind):
    keys = arrays()["truth_keys"]
    assert read_pairs(write(truth_keys=keys.astype(kind))).articles.tolist() == keys[:, 0].tolist()
    assert read_pairs(write(truth_keys=keys[:, :1])).articles.tolist() == keys[:, 0].tolist()


def test_arrays_in_another_order_of_memory_are_the_same(write):
    plain = read_pairs(write())
    other = read_pairs(write(**{name: numpy.asfortranarray(array) for name, array in arrays().items()}))
    assert other.fingerprint() == plain.fingerprint()
    assert torch.equal(other.payload_ids, plain.payload_ids)


def test_every_value_counts_in_the_fingerprint(write):
    known = {read_pairs(write()).fingerprint()}
    for name, place in (
        ("context_sequences", (11, 4, 3)),
        ("target_vectors", (0, 0)),
        ("truth_keys", (4, 0)),
    ):
        changed = arrays()[name].copy()
        changed[place] += 1
        known.add(read_pairs(write(**{name: changed})).fingerprint())
    assert len(known) == 4


def test_payloads_of_any_length_are_compared_by_their_direction(write):
    payloads = arrays()["target_vectors"]
    longer = read_pairs(write(target_vectors=payloads * numpy.arange(1, 13, dtype="f")[:, None]))
    bank = torch.cat(list(PlainPayloads(longer.payloads, torch.device("cpu"))))
    torch.testing.assert_close(bank, F.normalize(torch.from_numpy(payloads), dim=1))


def with_value(name, place, value):
    """Return an array of the file with a value at a place."""
    array = arrays()[name].copy()
    array[place] = value
    return {name: array}


CONTEXTS, PAYLOADS, KEYS = arrays().values()
WRONG = {
    "no name": ({"truth_keys": None, "keys": KEYS}, "has no array truth_keys; it has context_sequences, "),
    "objects": (
        {"truth_keys": numpy.array([None] * 12)},
        "is no whole .npz file with plain numbers: it is a pickle",
    ),
    "64 bits": ({"target_vectors": PAYLOADS.astype("d")}, "target_vectors is float64, not float32"),
    "big-endian": ({"target_vectors": PAYLOADS.astype(">f4")}, "target_vectors is >f4, not float32"),
    "whole numbers": (
        {"context_sequences": CONTEXTS.astype("i")},
        "context_sequences is int32, not float32",
    ),
    "fractions": ({"truth_keys": KEYS.astype("f")}, "truth_keys is float32, not whole numbers"),
    "texts": ({"truth_keys": KEYS.astype(str)}, "truth_keys is <U21, not whole numbers"),
    "one vector each": (
        {"context_sequences": PAYLOADS},
        "context_sequences has shape (12, 4), not 3 axes that hold something",
    ),
    "flat keys": ({"truth_keys": KEYS[:, 0]}, "truth_keys has shape (12,), not 2 axes that hold something"),
    "no positions": (
        {"context_sequences": CONTEXTS[:, :0]},
        "context_sequences has shape (12, 0, 4), not 3 axes that hold something",
    ),
    "no rows": ({"target_vectors": PAYLOADS[:0]}, "target_vectors has shape (0, 4), not 2 axes that hold"),
    "misaligned": (
        {"target_vectors": PAYLOADS[:-1]},
        "the arrays have 12, 11 and 12 rows (context_sequences, target_vectors, truth_keys); a pair is a row",
    ),
    "misaligned keys": ({"truth_keys": KEYS[1:]}, "the arrays have 12, 12 and 11 rows"),
    "widths": (
        {"target_vectors": PAYLOADS[:, :3]},
        "contexts are 4 wide and payloads 3; both come from one encoder",
    ),
    "one article": (
        {"truth_keys": KEYS * 0 + 7},
        "all rows are of article 7; to hold some out, it takes two",
    ),
    "NaN": (
        with_value("context_sequences", (9, 2, 1), numpy.nan),
        "context_sequences, row 9, holds NaN or infinity",
    ),
    "infinity": (
        with_value("target_vectors", (3, 0), numpy.inf),
        "target_vectors, row 3, holds NaN or infinity",
    ),
    "zero payload": (
        with_value("target_vectors", 8, 0),
        "target_vectors, row 8, is all zeros and has no direction; leave that row out",
    ),
    "zero context": (
        with_value("context_sequences", (2, -1), 0),
        "context_sequences, row 2, has a last vector of zeros, which has no direction; leave that row out",
    ),
}


@pytest.mark.parametrize(("changed", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_one_line(write, run_train, tmp_path, changed, message):
    assert_refused(run_train(data=write(**changed)), message)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.npz"]  # and nothing was written


FOLDERS = {
    "missing": ({"truth_keys": None}, "has no truth_keys.npy; unpack a .npz there: python -m zipfile -e"),
    "objects": ({"truth_keys": numpy.array([None] * 12)}, "truth_keys.npy is no whole .npy file with plain"),
    "misaligned": ({"truth_keys": KEYS[1:]}, "the arrays have 12, 12 and 11 rows"),
    "NaN": (with_value("context_sequences", (9, 2, 1), numpy.nan), "context_sequences, row 9, holds NaN"),
    "empty": ({"target_vectors": PAYLOADS[:0]}, "target_vectors"),
}


@pytest.mark.parametrize(("changed", "message"), FOLDERS.values(), ids=FOLDERS.keys())
def test_what_is_wrong_with_a_folder_is_one_line(unpack, changed, message):
    with pytest.raises(UsageError) as refused:
        read_pairs(unpack(**changed))
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_an_early_position_of_a_context_may_be_zeros(write):
    assert len(read_pairs(write(**with_value("context_sequences", (2, 0), 0)))) == 12


def test_other_files_are_one_line(write, unpack, tmp_path):
    whole = write().read_bytes()
    path = tmp_path / "other.npz"
    for content in (b"", b"PK\3\4", whole[: len(whole) // 2], b"x" * 100, b"\x93NUMPY\1\0"):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"other\.npz is no whole \.npz file with plain numbers: .+"):
            read_pairs(path)
    numpy.save(tmp_path / "one.npy", PAYLOADS)
    with pytest.raises(UsageError, match=r"one\.npy is no whole \.npz file"):
        read_pairs(tmp_path / "one.npy")
    folder = unpack()
    (folder / "truth_keys.npy").write_bytes(whole)
    with pytest.raises(
        UsageError,
        match=r"truth_keys\.npy is no whole \.npy file.*: it is a \.npz file, which holds several arrays",
    ):
        read_pairs(folder)
    (folder / "truth_keys.npy").write_bytes(b"PK\3\4")
    with pytest.raises(UsageError, match=r"truth_keys\.npy is no whole \.npy file"):
        read_pairs(folder)


def test_unreadable_file_is_refused_in_one_line(write, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = write()
    monkeypatch.setattr(array_files, "open_regular", refuse)
    with pytest.raises(UsageError, match=r"cannot read .*pairs\.npz: Permission denied"):
        read_pairs(path)


def test_names_of_the_guides_project_get_a_hint(run_train):
    refused = run_train("--train-npz", "pairs.npz")
    assert_refused(refused, "--train-npz")
    assert "--data" in refused.err.partition("--train-npz")[2]
