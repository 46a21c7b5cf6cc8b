"""Near misses and payload caches in files: what is read, refused, or told."""

import json
import zlib
from pathlib import Path

import numpy
import pytest
import torch

from examples.two_tower.generated_pairs import generate_pairs
from examples.two_tower.near_miss_files import (
    check_stamp,
    has_stamp,
    read_cache,
    read_near_misses,
    stamp_of,
    write_cache,
    write_near_misses,
)
from examples.two_tower.negatives import NONE
from snippets.errors import UsageError
from tests.examples.program_runs import assert_refused

STAMP = {"weights_crc32": 1, "step": 60, "epoch": 2.0, "data_crc32": 5}


@pytest.fixture
def pairs():
    """Return 12 pairs of three articles, of which the last one is held out."""
    return generate_pairs(12, 1.0, 0, width=4, per_article=4)


@pytest.fixture
def read(pairs, tmp_path):
    """Return a function that reads near misses from lines."""

    def call(*lines):
        file = tmp_path / "near.jsonl"
        file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return read_near_misses(file, pairs, pairs.articles == 2)

    return call


def line(row, *found, query="q_index", names="near_miss_indices"):
    return json.dumps({query: row, names: found})


def test_what_is_written_is_read(pairs, tmp_path):
    rows, found = torch.tensor([0, 5, 6]), torch.tensor([[4, 7], [1, NONE], [NONE, NONE]])
    write_near_misses(tmp_path / "near.jsonl", rows, found, STAMP)
    expected = torch.full((12, 2), NONE)
    expected[rows] = found
    assert torch.equal(read_near_misses(tmp_path / "near.jsonl", pairs, pairs.articles == 2), expected)
    first = (tmp_path / "near.jsonl").read_text().splitlines()[0]
    assert first == '{"q_index": 0, "near_miss_indices": [4, 7]}'
    checksum = {"file_crc32": zlib.crc32((tmp_path / "near.jsonl").read_bytes())}
    assert json.loads((tmp_path / "near.jsonl.stamp.json").read_text()) == STAMP | checksum


@pytest.mark.parametrize("query", ["q_index", "query_idx"])
@pytest.mark.parametrize("names", ["near_miss_indices", "negative_indices"])
def test_either_name_of_the_guides_project_is_read(read, query, names):
    assert read(line(1, 6, 4, query=query, names=names))[1].tolist() == [6, 4]


def test_own_article_and_equal_payloads_are_left_out(read, pairs):
    pairs.payload_ids[7] = pairs.payload_ids[0]
    found = read(line(0, 0, 1, 7, 4), line(1, 7))
    assert found[0].tolist() == [NONE, NONE, NONE, 4]
    assert found[1].tolist() == [7, NONE, NONE, NONE]
    assert (found[2:] == NONE).all()


def test_an_empty_file_names_nothing(read):
    assert read().tolist() == [[NONE]] * 12


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (line(0, 12), "line 2: the data has 12 rows, but no row 12"),
        (line(0, -1), "line 2: the data has 12 rows, but no row -1"),
        (line(99, 4), "line 2: the data has 12 rows, but no row 99"),
        (line(0, 4, 9), "line 2: row 9 is held out in this run; train with the --seed and --val-split of"),
        (line(8, 4), "line 2: row 8 is held out in this run"),
        *(
            (wrong, 'line 2: must look like {"q_index": 17, "near_miss_indices": [203, 41]}')
            for wrong in (
                "",
                "{",
                "[1]",
                "7",
                '"q_index"',
                line("0", 4),
                line(True, 4),
                line(0, 4.0),
                line(0, True),
                line(0, None),
                '{"q_index": 0}',
                '{"q_index": 0, "near_miss_indices": 4}',
                '{"q_index": 0, "query_idx": 0, "near_miss_indices": [4]}',
                "[" * 100_000,
                '{"q_index": ' + "9" * 5000 + ', "near_miss_indices": []}',
            )
        ),
    ],
)
def test_a_wrong_line_is_named(read, wrong, message):
    with pytest.raises(UsageError) as refused:
        read(line(0, 4), wrong)
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_that_is_no_text_is_one_line(pairs, tmp_path):
    (tmp_path / "near.jsonl").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "near.jsonl", tmp_path):
        with pytest.raises(UsageError, match=f"cannot read {path}: |line 1: must look like"):
            read_near_misses(path, pairs, pairs.articles == 2)
    with pytest.raises(UsageError, match=r"no/near\.jsonl; make it: python examples/two_tower/mine_near"):
        read_near_misses(tmp_path / "no" / "near.jsonl", pairs, pairs.articles == 2)


# ---- Payload caches ----


def test_a_cache_is_read_as_it_was_written(pairs, tmp_path):
    write_cache(tmp_path / "cache.npy", pairs.payloads, STAMP)
    assert torch.equal(read_cache(tmp_path / "cache.npy", 12, 4), pairs.payloads)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            numpy.ones((11, 4), "f"),
            "holds float32 of shape (11, 4); a row of each of the 12 pairs is float32 4",
        ),
        (numpy.ones((12, 5), "f"), "holds float32 of shape (12, 5)"),
        (numpy.ones((12, 4), "d"), "holds float64 of shape (12, 4)"),
        (numpy.ones(12, "f"), "holds float32 of shape (12,)"),
        (numpy.full((12, 4), numpy.nan, "f"), "holds NaN or infinity; make it anew"),
        (numpy.array([None]), "is no whole .npy file with plain numbers: it is a pickle"),
    ],
)
def test_another_cache_is_refused(tmp_path, array, message):
    numpy.save(tmp_path / "cache.npy", array)
    with pytest.raises(UsageError) as refused:
        read_cache(tmp_path / "cache.npy", 12, 4)
    assert message in str(refused.value)


def test_another_file_is_no_cache(tmp_path):
    file = tmp_path / "cache.npy"
    for content in (b"", b"PK\3\4", b"x" * 200, b"\x93NUMPY\1\0"):
        file.write_bytes(content)
        with pytest.raises(UsageError, match=r"cache\.npy is no whole \.npy file with plain numbers: .+"):
            read_cache(file, 12, 4)
    with file.open("wb") as target:
        numpy.savez(target, one=numpy.ones(3))
    with pytest.raises(UsageError, match="holds several arrays"):
        read_cache(file, 12, 4)
    file.unlink()
    with pytest.raises(
        UsageError, match=r"there is no .*; make it: python examples/two_tower/build_cache\.py"
    ):
        read_cache(file, 12, 4)


# ---- Stamps ----


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"data_crc32": 6}, "was made from other data; make it anew with build_cache.py"),
        (
            {"weights_crc32": 2, "epoch": 3.5},
            "by the weights of epoch 2.0, and these are of epoch 3.5: their vectors mean different things",
        ),
    ],
)
def test_a_stamp_of_other_weights_or_data_is_refused(tmp_path, other, message):
    write_cache(tmp_path / "cache.npy", torch.ones(12, 4), STAMP)
    assert check_stamp(tmp_path / "cache.npy", STAMP, "build_cache.py") is None
    with pytest.raises(UsageError, match=message):
        check_stamp(tmp_path / "cache.npy", STAMP | other, "build_cache.py")


@pytest.mark.parametrize("content", [None, "", "[]", "\0"])
def test_without_a_stamp_there_is_a_note(tmp_path, content):
    file = tmp_path / "cache.npy"
    if content is not None:
        stamp_of(file).write_text(content)
    note = check_stamp(file, STAMP, "build_cache.py")
    assert note == f"{file} has no cache.npy.stamp.json: nobody can tell whether these weights made it"


@pytest.mark.parametrize("stopped", ["replace_json", "replace_file", "Path.replace"])
def test_interrupted_writer_leaves_no_stamp_for_other_vectors(tmp_path, monkeypatch, stopped):
    file = tmp_path / "cache.npy"
    write_cache(file, torch.ones(12, 4), STAMP)
    other = STAMP | {"weights_crc32": 2}
    with monkeypatch.context() as patch:
        if stopped == "Path.replace":  # between the two
            replace = Path.replace
            patch.setattr(Path, "replace", lambda one, to: 1 / 0 if to == file else replace(one, to))
        else:
            patch.setattr(f"examples.two_tower.near_miss_files.{stopped}", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            write_cache(file, torch.zeros(12, 4), other)
    assert torch.equal(read_cache(file, 12, 4), torch.ones(12, 4)) and has_stamp(file)
    with pytest.raises(
        UsageError, match=r"made by the weights|is not the file that cache\.npy\.stamp\.json was"
    ):
        check_stamp(file, other, "build_cache.py")


@pytest.mark.parametrize("from_elsewhere", ["vectors", "stamp"])
def test_vectors_and_stamp_of_two_writers_do_not_fit(tmp_path, from_elsewhere):
    file, other = tmp_path / "cache.npy", tmp_path / "other.npy"
    write_cache(file, torch.ones(12, 4), STAMP)
    write_cache(other, torch.zeros(12, 4), STAMP)
    if from_elsewhere == "vectors":
        numpy.save(file, numpy.zeros((12, 4), "f"))
    else:
        stamp_of(other).replace(stamp_of(file))
    with pytest.raises(
        UsageError, match=r"was written for; make it anew with build_cache\.py, or remove the"
    ):
        check_stamp(file, STAMP, "build_cache.py")


def test_a_stamp_without_a_checksum_is_told(tmp_path):
    write_cache(tmp_path / "cache.npy", torch.ones(12, 4), STAMP)
    stamp_of(tmp_path / "cache.npy").write_text(json.dumps(STAMP))
    note = check_stamp(tmp_path / "cache.npy", STAMP, "build_cache.py")
    assert note.endswith(
        "cache.npy.stamp.json has no checksum of the file: nobody can tell whether they belong together"
    )


# ---- In a training ----


def test_files_of_other_weights_are_refused(run_train, run_copy, from_files, tmp_path):
    stamp = stamp_of(run_copy / "p_cache.npy")
    before = stamp.read_text()
    for file, command in (("p_cache.npy", "build_cache.py"), ("near_misses.jsonl", "mine_near_misses.py")):
        stamp = stamp_of(run_copy / file)
        before = stamp.read_text()
        stamp.write_text(json.dumps(json.loads(before) | {"weights_crc32": 1, "epoch": 0.5}))
        refused = run_train(*from_files(run_copy))
        assert_refused(refused, f"{file} was made by the weights of epoch 0.5, and these are of epoch 1.0: ")
        assert f"make it anew with {command}" in refused.err
        stamp.write_text(before)
    assert not (tmp_path / "runs").exists()


def test_files_without_stamps_are_used_with_a_note(run_train, run_copy, from_files, without_curves):
    for file in ("p_cache.npy", "near_misses.jsonl"):
        stamp_of(run_copy / file).unlink()
    run = run_train(*from_files(run_copy, max_steps=1))
    assert run.code == 0
    notes = [text for text in run.out.splitlines() if text.startswith("note")]
    assert len(notes) == 2
    assert "p_cache.npy has no p_cache.npy.stamp.json" in notes[0]


def test_few_near_misses_are_told(run_train, run_copy, from_files, without_curves):
    """Coverage is in the metrics, and below a half it is in a note."""
    file = run_copy / "near_misses.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    for kept, told in ((len(lines) // 4, True), (len(lines) * 3 // 4, False)):
        file.write_text("".join(lines[:kept]))
        stamp_of(file).unlink(missing_ok=True)
        run = run_train(*from_files(run_copy), out=f"run{kept}")
        assert run.code == 0
        note = f"note       only {kept / len(lines):.0%} of the pairs have a near miss; mine more: --k"
        assert (note in run.out) == told
        coverage = run.metrics[-1]["near_miss_coverage"]
        assert coverage == pytest.approx(kept / len(lines), abs=1e-3)


@pytest.mark.parametrize(
    ("without", "message"),
    [
        ({"p_cache": None}, "--near-misses needs --p-cache: the vectors of what is named there"),
        ({"start_from": None}, "--p-cache needs --start-from: to new weights, the vectors of others mean"),
        ({"near_miss_k": 0}, "--near-misses has no effect with --near-miss-k 0"),
    ],
)
def test_files_need_each_other(run_train, run_copy, from_files, without, message):
    assert_refused(run_train(*from_files(run_copy, **without)), message)


def test_files_of_another_split_or_data(run_train, run_copy, from_files):
    words = from_files(run_copy)
    split = run_train(*words, "--val-split=0.4")
    assert_refused(split, "is held out in this run; train with the --seed and --val-split of the run that")
    other = run_train(*[word if word != "3" else "4" for word in words])
    assert_refused(other, "p_cache.npy was made from other data; make it anew with build_cache.py")
    fewer = run_train(*[word if word != "240" else "252" for word in words])
    assert_refused(fewer, "p_cache.npy holds float32 of shape (240, 32); a row of each of the 252 pairs")
    assert_refused(run_train(*words, "--width=16"), "the checkpoint is of a network of another size")
