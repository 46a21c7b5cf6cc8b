"""embed.py, search.py and export.py on a run whose data are texts, with texts that the run has not seen."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy
import pytest
import torch

from examples.two_tower import embed, encode, export, search, train
from examples.two_tower.encoders import NgramEncoder
from examples.two_tower.trained import load_trained
from snippets.errors import exit_with_one_line

PROGRAMS = {"embed": embed, "search": search, "export": export}
DOCUMENTS = ["用得更少", "打开电脑", "memory of the answer 7", "answer 3"]


@pytest.fixture(scope="module")
def run(tmp_path_factory, one_thread):
    """Encode 40 pairs and train for an epoch; return the run folder."""
    folder = tmp_path_factory.mktemp("texts")
    pairs = (f"question {row} about memory\t答案 {row}：用得少 answer {row}\n" for row in range(40))
    (folder / "pairs.tsv").write_text("question\tanswer\n" + "".join(pairs), encoding="utf-8")
    assert encode.main([str(folder / "pairs.tsv"), "--out", str(folder / "v")]) == 0
    words = "--size tiny --batch-size 16 --max-steps 2 --device cpu --lr 0.01 --out"
    assert train.PROGRAM.main(["--data", str(folder / "v"), *words.split(), str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Return a function that calls a program and gives exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.txt").write_text("".join(f"{text}\n" for text in DOCUMENTS), encoding="utf-8")

    def start(name, *words):
        capsys.readouterr()
        code = exit_with_one_line(PROGRAMS[name].main, [*map(str, words)])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return start


def vectors(run, side, texts):
    """Return what the towers compute of texts, one text at a time."""
    model, encoder = load_trained(run).model, NgramEncoder()
    with torch.no_grad():
        if side == "query":
            return torch.cat([model.context(encoder.contexts([text])) for text in texts])
        return torch.cat([model.payload(encoder.documents([text])) for text in texts])


@pytest.mark.program
@pytest.mark.parametrize("side", ["query", "document"])
def test_vectors_are_those_of_the_tower(call, run, tmp_path, side):
    expected = vectors(run, side, DOCUMENTS)
    for out in ("new", "new.npy"):
        done = call("embed", run, "docs.txt", "--side", side, "--out", out, "--device", "cpu")
        assert (done.code, done.err) == (
            0,
            "",
        ) and f"written    {out}: 4 texts, 1024 numbers each" in done.out
        found = numpy.load(tmp_path / out / "vectors.npy" if out == "new" else tmp_path / out)
        torch.testing.assert_close(torch.from_numpy(found), expected, rtol=0, atol=1e-6)
    assert (
        expected - vectors(run, "query" if side == "document" else "document", DOCUMENTS)
    ).abs().max() > 1e-3


@pytest.mark.program
def test_texts_without_content_keep_their_row(call, run, tmp_path):
    (tmp_path / "docs.csv").write_text("id,text\n1,one two\n2,\n3,!!!\n4,four\n")
    done = call("embed", run, "docs.csv", "--side", "document", "--out", "v.npy", "--device", "cpu")
    assert done.code == 0 and "in 2 of the texts the encoder finds nothing" in done.out
    assert numpy.load(tmp_path / "v.npy").shape == (4, 1024)


@pytest.mark.program
def test_search_finds_pairs_files_and_folders(call, run):
    call("embed", run, "docs.txt", "--side", "document", "--out", "docs", "--device", "cpu")
    scores = vectors(run, "document", DOCUMENTS) @ vectors(run, "query", ["answer 3"])[0]
    best = DOCUMENTS[int(scores.argmax())]
    for documents, place in (("docs.txt", "docs.txt, line"), ("docs", "text")):
        done = call("search", "answer 3", run, "--documents", documents, "--device", "cpu")
        assert (done.code, done.err) == (0, "")
        lines = done.out.splitlines()
        first = lines[lines.index("after training:") + 1 :]
        assert first[0] == f"    {scores.max():5.2f}  {place} {DOCUMENTS.index(best) + 1}"
        assert first[1].strip() == best and len(first) == 2 * len(DOCUMENTS)
    done = call("search", "question 7", run, "--device", "cpu")
    assert "question 7 about memory" in done.out and "before training:" in done.out


@pytest.mark.program
@pytest.mark.skipif(find_spec("faiss") is None, reason="needs FAISS (pip install faiss-cpu)")
def test_other_programs_find_the_same_in_the_index(call, run, tmp_path):
    words = ["--side", "document", "--out", "docs.npy", "--index", "docs.faiss", "--device", "cpu"]
    for _ in range(2):  # the second time, it replaces its own files
        done = call("embed", run, "docs.txt", *words)
        assert (done.code, done.err) == (0, "")
    call("embed", run, "docs.txt", "--side", "query", "--out", "queries.npy", "--device", "cpu")
    program = (
        "import faiss, numpy; index = faiss.read_index('docs.faiss'); "
        "print(index.search(numpy.load('queries.npy'), 4)[1].tolist())"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    scores = vectors(run, "query", DOCUMENTS) @ vectors(run, "document", DOCUMENTS).T
    assert found.stdout.strip() == str(scores.argsort(dim=1, descending=True).tolist())
    (tmp_path / "mine.faiss").write_text("mine")
    assert (
        "is no file that this command made" in call("embed", run, "docs.txt", *words[:-3], "mine.faiss").err
    )


@pytest.mark.program
def test_folders_of_other_weights_are_refused(call, run, tmp_path):
    call("embed", run, "docs.txt", "--side", "query", "--out", "q", "--device", "cpu")
    failed = call("search", "a", run, "--documents", "q", "--device", "cpu")
    assert failed.code == 2 and "is not of documents by the weights of" in failed.err
    (tmp_path / "empty").mkdir()
    assert "empty was not made by embed.py" in call("search", "a", run, "--documents", "empty").err


@pytest.mark.program
def test_runs_on_ready_vectors_have_no_encoder(call, run, first_run, tmp_path):
    failed = call("embed", first_run, "docs.txt", "--side", "query", "--out", "q")
    assert failed.code == 2 and "ready vectors, so nothing here turns texts into such" in failed.err
    data = shutil.copytree(run.parent / "v", tmp_path / "v")
    (data / "encoder.json").write_text('{"encoder": {"encoder": "ngrams", "width": 7}}')
    changed = shutil.copytree(run, tmp_path / "run")
    for name in ("best.pt", "last.pt"):
        content = torch.load(changed / "checkpoints" / name, weights_only=True)
        content["config"]["options"]["data"] = str(data)
        torch.save(content, changed / "checkpoints" / name)
    failed = call("search", "a", changed)
    assert failed.code == 2 and "names no encoder of this version" in failed.err


@pytest.mark.program
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("missing.txt --side query --out q", "cannot read missing.txt: No such file"),
        ("docs.txt --side query --out q --column text", "has no such column"),
        ("docs.txt --side query --out docs.txt", "is not empty"),
        ("empty.txt --side query --out q", "empty.txt has no text"),
    ],
)
def test_bad_words_end_with_one_line(call, run, tmp_path, words, message):
    (tmp_path / "empty.txt").touch()
    failed = call("embed", run, *words.split())
    assert (failed.code, failed.err.count("\n")) == (2, 1) and message in failed.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs.txt", "empty.txt"]


@pytest.mark.long
@pytest.mark.program
def test_exported_towers_give_the_vectors_of_embed(call, run, tmp_path):
    done = call("export", run, "--out", "made")
    assert (done.code, done.err) == (0, "")
    encoder = NgramEncoder()
    for side, inputs in (("query", encoder.contexts(DOCUMENTS)), ("document", encoder.documents(DOCUMENTS))):
        tower = torch.export.load(tmp_path / f"made/{side}.pt2").module()
        torch.testing.assert_close(tower(inputs), vectors(run, side, DOCUMENTS), rtol=0, atol=1e-6)
