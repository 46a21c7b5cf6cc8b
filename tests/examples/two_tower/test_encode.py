"""encode.py: the vectors of texts, what is left out, articles, and a try that goes on where one stopped."""

import gzip
import json
import re
import shlex
import signal
import sys
from types import SimpleNamespace

import numpy
import pytest
import torch

from examples.two_tower import encode, encoding, train
from examples.two_tower.data_sources import TEXTS, find_data
from examples.two_tower.encoders import NgramEncoder, SentenceEncoder
from examples.two_tower.ngrams import stack_texts
from examples.two_tower.pair_columns import Columns
from examples.two_tower.pair_files import read_pairs
from examples.two_tower.pair_tables import read_rows, read_texts
from examples.two_tower.texts import Texts
from snippets.errors import UsageError, exit_with_one_line

HEAD = "question,answer\n"


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Return a function that encodes a text or file, and gives exit code, output, errors and the folder."""
    monkeypatch.chdir(tmp_path)

    def run(content, *words, name="pairs.csv", out="v"):
        if content is not None:
            content = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(content)
        capsys.readouterr()
        code = exit_with_one_line(encode.main, [name, "--out", out, *words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err, folder=tmp_path / out)

    return run


def table(rows):
    """Return a table of so many pairs, of which every second one is Chinese."""
    pairs = (
        (f"question {row} about memory", f"answer {row}: take less")
        if row % 2
        else (f"问题{row}：内存", f"答案{row}：用得少")
        for row in range(rows)
    )
    return HEAD + "".join(",".join(pair) + "\n" for pair in pairs)


def contents(folder):
    """Return the content of all files but the one with times."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "encoder.json"}


# ---- What comes out ----


def test_pages_encoded_equal_the_default_data(call, texts):
    done = call(None, "--article", "page", name=str(TEXTS))
    assert (done.code, done.err) == (0, "")
    pairs = read_pairs(done.folder)
    assert torch.equal(pairs.contexts, texts.contexts) and torch.equal(pairs.payloads, texts.payloads)
    assert [text[1:] for text in pairs.texts] == [tuple(map(str.strip, text[1:])) for text in texts.texts]
    same = (given.articles[:, None] == given.articles for given in (pairs, texts))
    assert torch.equal(*same)
    assert "892 rows, 892 pairs, 30 articles" in done.out


@pytest.mark.parametrize(
    ("rows", "batch"), [(3, "2"), (10, "8"), (79, "63"), (80, None), (200, None)], ids=str
)
def test_the_printed_command_begins_a_training(call, rows, batch):
    done = call(table(rows))
    words = shlex.split(done.out.splitlines()[-1])
    wanted = ["--data", "v", *(["--batch-size", batch] if batch else [])]
    assert words[1:] == ["python", "examples/two_tower/train.py", *wanted]
    assert find_data("v") == "texts"
    task = train.PROGRAM.prepare(train.read_command_line([*words[3:], "--device", "cpu"]))
    assert (task.steps_per_epoch, task.samples_per_step) == (max(1, rows * 4 // 5 // 64), int(batch or 64))


@pytest.mark.parametrize(
    "content",
    [
        table(2),
        "question,answer,article\n"
        + "".join(f"question {row},answer {row},{row // 9}\n" for row in range(10)),
    ],
    ids=["two pairs", "nine of one article"],
)
def test_too_few_pairs_for_a_training_are_named(call, content):
    done = call(content)
    count = content.count("\n") - 1
    line = f"train      not possible: 1 of {count} pairs would be left to learn from; add others"
    assert (done.code, done.out.splitlines()[-1]) == (0, line)


def test_chinese_texts_become_characters_and_their_pairs(call):
    done = call(HEAD + "内存不足,减小批大小\nmemory,smaller\n")
    query = numpy.load(done.folder / "context_sequences.npy")[0]
    assert (query == query[0]).all()  # no spaces, so the text does not grow
    assert torch.equal(torch.from_numpy(query[0].copy()), stack_texts(["内存不足"])[0])
    near, far = (
        stack_texts(["内存很小"])[0] @ stack_texts(["内存不足"])[0],
        stack_texts(["足不存内"])[0] @ stack_texts(["内存不足"])[0],
    )
    assert near > 0.2
    assert 0.2 < far < 0.7 and stack_texts(["内存不足"])[0] @ stack_texts(["减小批大小"])[0] < 0.2


# ---- What is left out ----


def test_rows_without_content_are_counted_and_left_out(call):
    rows = ["a one,first", ",no query", "  ,  ", "!!!,third", "a one,first", "two b,second", "привет,мир"]
    done = call(HEAD + "\n".join(rows) + "\n")
    assert done.code == 0 and len(Texts(done.folder / "texts.jsonl")) == 2
    assert "left out   2 rows with an empty text" in done.out
    assert "left out   2 rows with a text in which the encoder finds nothing" in done.out
    assert "left out   1 rows that came before" in done.out


def test_contradicting_labels_are_named(call):
    rows = "a,b,1\na,b,0\nc,d,1\nc,e,0\n"
    done = call("sentence1,sentence2,label\n" + rows, "--label", "1")
    assert "left out   2 rows that do not belong together" in done.out
    assert "note       1 pairs belong together in one row, not in another; kept" in done.out


def test_scores_below_the_least_are_left_out(call):
    rows = "a,b,0.9\nc,d,0.79\ne,f,0.8\n"
    done = call("sentence1,sentence2,score\n" + rows, "--min-score", "0.8")
    assert [tuple(text[1:]) for text in Texts(done.folder / "texts.jsonl")] == [("a", "b"), ("e", "f")]


def test_pairs_with_equal_texts_are_one_article(call):
    rows = ["q1,d1", "q1,d2", "q2,d2", "q3,d3", "q4,d4", "q5,d4"]
    done = call(HEAD + "\n".join(rows) + "\n")
    assert numpy.load(done.folder / "truth_keys.npy")[:, 0].tolist() == [0, 0, 0, 1, 2, 2]
    assert "2 pairs share a query with another one: no negatives of each other" in done.out


@pytest.mark.parametrize("header", ["问题,答案", "Frage,Antwort", "question,réponse", "提问,回答"])
def test_headers_of_other_languages_are_no_pairs(call, header):
    done = call(f"{header}\none,eins\ntwo,zwei\n{header}\n")
    assert "3 rows, 2 pairs" in done.out and "left out   1 rows that repeat the header" in done.out
    assert "no header seen" not in done.out


def test_unknown_headers_and_unused_columns_are_shown(call):
    done = call("domanda,risposta\none,eins\n")
    assert "note       no header seen; first row: 1 (domanda), 2 (risposta)" in done.out
    done = call("anchor,positive,negative\na,b,c\nd,e,f\n", out="other")
    assert "note       columns not used: negative" in done.out


def test_columns_are_named_by_their_numbers(call):
    done = call("a,b,5\nc,d,3.5\ne,f,4\n", "--query", "2", "--document", "1", "--min-score", "3=4")
    assert [tuple(text[1:]) for text in Texts(done.folder / "texts.jsonl")] == [("b", "a"), ("f", "e")]


def test_rows_that_are_no_texts_are_skipped_and_named(call):
    """An object, a text of over 100,000 characters, a list of objects 21 times; three pairs stay."""
    cells = [{"query": {"a": 1}, "answer": "x"}, {"query": "long", "answer": "z" * 100_001}]
    cells += [{"query": "q", "answer": [{}]}] * 21
    cells += [{"query": f"question {row}", "answer": f"answer {row}"} for row in range(3)]
    content = "".join(json.dumps(cell) + "\n" for cell in cells)
    refused = call(content, name="pairs.jsonl")
    line = "pairs.jsonl, line 1: 'query' is neither a text nor a list of texts"
    assert refused.code == 2 and f"{line}; --skip-bad leaves out such rows" in refused.err
    done = call(content, "--skip-bad", name="pairs.jsonl")
    assert done.code == 0 and len(Texts(done.folder / "texts.jsonl")) == 3
    named = [text for text in done.out.splitlines() if text.startswith("no text")]
    assert named[0] == f"no text    {line}" and "line 2: a text of 100,001 characters" in named[1]
    assert len(named) == 21 and named[20] == "no text    3 more"
    assert "left out   23 rows that are no texts" in done.out and "26 rows, 3 pairs, 3 articles" in done.out


# ---- Goes on ----


@pytest.mark.parametrize("stop", ["reading", "begin", "middle", "torn"])
def test_a_stopped_try_goes_on_bit_equal(call, monkeypatch, stop):
    monkeypatch.setattr(encoding, "PART", 4)
    whole = call(table(15), out="whole")
    real, left = NgramEncoder.contexts, {"reading": 0, "begin": 0, "middle": 2, "torn": 2}[stop]
    calls = []

    def interrupted(self, queries):
        calls.append(len(queries))
        if len(calls) > left:
            raise KeyboardInterrupt
        return real(self, queries)

    with monkeypatch.context() as patch:
        patch.setattr(NgramEncoder, "reads" if stop == "reading" else "contexts", interrupted)
        stopped = call(None)
    assert (stopped.code, stopped.err) == (130, "interrupted\n")
    assert "to go on: the same command" in stopped.out
    work = stopped.folder.with_name("v.unfinished")
    if stop == "torn":  # killed while the third part was written
        with (work / "context_sequences.npy").open("ab") as file:
            file.write(b"half")
    done = call(None)
    assert (done.code, done.err) == (0, "")
    assert ("continuing after 8 of 15 pairs" in done.out) == (stop in ("middle", "torn"))
    assert contents(done.folder) == contents(whole.folder) and not work.exists()
    assert len(contents(whole.folder)) == 4


def test_other_options_do_not_go_on_with_it(call, monkeypatch):
    def interrupted(self, queries):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(NgramEncoder, "contexts", interrupted)
        call(table(4))
    for changed, words in ((table(5), []), (table(4), ["--query", "answer", "--document", "question"])):
        failed = call(changed, *words)
        assert failed.code == 2 and "was begun with another file or other options" in failed.err


def test_sigterm_ends_it_like_ctrl_c(call, monkeypatch):
    monkeypatch.setattr(NgramEncoder, "contexts", lambda self, queries: signal.raise_signal(signal.SIGTERM))
    stopped = call(table(4))
    assert (stopped.code, stopped.err) == (130, "interrupted\n")


# ---- Refused ----


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (HEAD + "a,b\nc\n", (), "line 3 has 1 values"),
        (HEAD, (), "has a header and no rows below it"),
        ("", (), "it is empty"),
        ("text\none\ntwo\n", (), "has a single column (text); a pair takes two texts in each row"),
        ("text,title\na,b\n", (), "which two columns belong together?"),
        (
            HEAD + "a,b\n",
            ("--query", "frage"),
            "--query frage: pairs.csv has no such column; it has the columns question",
        ),
        (HEAD + "a,b\n", ("--label", "1"), "and none of a known name; leave it out"),
        (HEAD + "a,b\na,c\n", (), "all 2 pairs hang together by equal texts"),
        (HEAD + f"{'a' * 100_001},b\n", (), "line 2: a text of 100,001 characters; cut it"),
        (
            HEAD + f"a,b\n{'a' * (1 << 21)},b\n",
            (),
            "line 3: a row is longer than 1,048,576 bytes; cut its texts",
        ),
        ("q,a,same\none,b,1\n", ("--query", "q", "--document", "a", "--label", "1"), "--label COLUMN=1"),
        ("q,a,same\nb,c,1\nd,e,0\n", ("--query", "1", "--document", "a"), "column same, so not all rows"),
        ("b,c,1\nd,e,0\n", ("--query", "1", "--document", "2"), "such as --label 3=1, or --label all"),
        ("b,c,1.5\nd,e,5\n", ("--query", "1", "--document", "2"), "such as --min-score 3=4, or"),
        (HEAD + "a,b\n", ("--query", "answer", "--document", "2"), "both name the column answer"),
        ("query,query,answer\na,b,c\n", (), "has several columns query; rename all but one"),
        (HEAD + "a,b\0c\n", (), "is NUL, so it is no text"),
        ("question,answer,score\na,b,high\n", ("--min-score", "1"), "line 2: score is 'high', no number"),
    ],
)
def test_bad_tables_end_with_one_line(call, content, words, message):
    failed = call(content, *words)
    assert (failed.code, failed.err.count("\n"), failed.out) == (2, 1, "")
    assert message in failed.err
    assert [path.name for path in failed.folder.parent.iterdir()] == ["pairs.csv"]


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.npz", "pairs.csv.gz"])
def test_other_bad_files_end_with_one_line(call, name):
    failed = call(b"{'a': 1}\n", name=name)
    assert (failed.code, failed.err.count("\n")) == (2, 1) and name in failed.err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_marks_and_line_ends_of_windows_are_read(call, encoding):
    done = call("\ufeffquestion,answer\r\none,eins\r\ntwo,zwei\r\n".encode(encoding))
    assert [text[1:] for text in Texts(done.folder / "texts.jsonl")] == [("one", "eins"), ("two", "zwei")]


def test_packed_tables_are_read(call):
    assert call(gzip.compress(table(4).encode()), name="pairs.csv.gz").code == 0


def test_a_folder_is_neither_read_nor_overwritten(call, tmp_path):
    (tmp_path / "pairs.csv").mkdir()
    assert "it is a folder; name a file in it" in call(None).err
    (tmp_path / "v").mkdir()
    (tmp_path / "v/notes").write_text("mine")
    assert "is not empty; choose another --out" in call(table(4), name="other.csv").err


def test_vectors_that_do_not_fit_the_disk_are_refused(call, monkeypatch):
    monkeypatch.setattr(encoding.shutil, "disk_usage", lambda path: SimpleNamespace(free=60_000))
    failed = call(table(4))
    assert failed.code == 2 and "3 pairs and more take over 0.0 GB, which are free on this disk" in failed.err


def test_training_on_a_table_names_the_command(call, tmp_path):
    call(table(4))
    with pytest.raises(UsageError, match="holds texts, and training reads their vectors") as refused:
        find_data("pairs.csv")
    words = re.search(r"encode\.py (.*)", str(refused.value))[1].split()
    assert words == ["pairs.csv", "--out", "pairs"]
    assert exit_with_one_line(encode.main, words) == 0


def test_lines_that_no_longer_fit_are_refused(call):
    folder = call(table(4)).folder
    (folder / "texts.jsonl").write_bytes(b"[]\n{\n")
    with pytest.raises(UsageError, match=r"texts.jsonl has 2 lines, and there are 4 pairs; encode anew"):
        read_pairs(folder)
    for row in (0, 1):
        with pytest.raises(UsageError, match=f"line {row + 1}, is damaged; encode the texts anew"):
            Texts(folder / "texts.jsonl")[row]


# ---- Columns of JSON lines, single texts ----


def test_each_payload_of_a_list_is_a_pair(tmp_path):
    file = tmp_path / "p.jsonl"
    lines = [{"query": "a", "pos": ["b", "c"]}, {"query": ["d"], "pos": "e"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = [(row.place[-6:], row.query, row.document) for row in read_rows(file, Columns())]
    assert rows == [("line 1", "a", "b"), ("line 1", "a", "c"), ("line 2", "d", "e")]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("t.txt", "one, two\nthree\n", ["one, two", "three"]),
        ("t.csv", "id,text\n1,one\n2,two\n", ["one", "two"]),
        ("t.jsonl", '{"_id": "1", "title": "T", "text": "one"}\n', ["one"]),
    ],
)
def test_texts_of_one_side_are_read(tmp_path, name, content, expected):
    (tmp_path / name).write_text(content)
    assert [text for _, text in read_texts(tmp_path / name, None, ("document", "text"))] == expected


# ---- Models of sentence-transformers ----


class Model:
    """Stands for a model of sentence-transformers: the vector of a text depends on its words."""

    def __init__(self, name, device):
        self.name = name

    def encode(self, texts, **options):
        """Return vectors of 8 numbers."""
        sums = [[sum(map(ord, text)) % (prime + 9) + 1 for prime in range(8)] for text in texts]
        vectors = numpy.array(sums, dtype=numpy.float64)
        return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def test_a_model_gives_one_vector_per_text(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    done = call(table(6), "--model", "some/model", "--device", "cpu")
    pairs = read_pairs(done.folder)
    assert pairs.contexts.shape == (6, 1, 8) and pairs.payloads.dtype == torch.float32
    grown = SentenceEncoder("m", 3, torch.device("cpu")).contexts(["a b c d e f", "a b"])
    plain = SentenceEncoder("m", 1, torch.device("cpu")).documents(["a b", "a b c d", "a b c d e f"])
    assert torch.equal(grown[0], plain) and torch.equal(grown[1], plain[:1].expand(3, 8))


def test_a_missing_package_is_named_with_its_cure(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    failed = call(table(6), "--model", "some/model", "--device", "cpu")
    assert (failed.code, failed.err.count("\n")) == (2, 1)
    assert "--model needs a package that is missing" in failed.err
    assert failed.err.endswith(": pip install sentence-transformers\n")
