"""search.py on a short training with the texts of the pages, which is to be worth it."""

import io
import sys

import pytest
import torch

from examples.programs.run_folder import read_json, read_metrics
from examples.two_tower import data_sources, search, train
from examples.two_tower.embedding import embed_contexts, embed_payloads
from examples.two_tower.ngrams import stack_contexts, stack_texts
from examples.two_tower.pairs import split_by_article
from examples.two_tower.trained import load_trained
from snippets.errors import exit_with_one_line

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def pages_run(tmp_path_factory, one_thread, texts):
    """Train with the pages for two short epochs; afterwards, too, their vectors are not made again."""
    folder = tmp_path_factory.mktemp("pages") / "run"
    words = "--size tiny --epochs 2 --lr 3e-4 --device cpu --out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data_sources, "page_pairs", lambda: texts)
        assert train.PROGRAM.main([*words.split(), str(folder)]) == 0
        yield folder


@pytest.fixture
def ask(capsys):
    """Return a function that calls search.py and gives exit code, lines and errors."""

    def call(*words):
        capsys.readouterr()
        code = exit_with_one_line(search.main, [*map(str, words), "--device", "cpu"])
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err

    return call


@pytest.mark.program
def test_short_training_beats_words_and_names(pages_run):
    before, after = (
        read_json(pages_run / "config.json")["untrained"],
        read_metrics(pages_run / "metrics.jsonl")[-1],
    )
    assert 0.6 < before["recall_5"] < 0.7
    assert after["recall_5"] > before["recall_5"] + 0.05
    assert after["recall_1"] > before["recall_1"] + 0.05
    assert (pages_run / "train.log").read_text().count("no better than without training") == 0


@pytest.mark.slow
def test_the_five_nearest_before_and_after(ask, pages_run, texts):
    held_out = split_by_article(texts.articles, 0.2, 0).tolist()
    sentence = "PyTorch runs out of memory on MPS"
    code, lines, err = ask(sentence, pages_run)
    assert (code, err) == (0, "")
    assert lines[0].endswith("best.pt; 892 Chinese passages")
    middle = lines.index("after training:")
    assert (lines[1], middle, len(lines)) == (
        "before training, by the words and names that both languages share:",
        2 + 3 * 5,
        3 + 2 * 3 * 5,
    )
    pairs = texts
    plain = pairs.payloads @ stack_texts([sentence])[0]
    for place, row in enumerate(plain.topk(5).indices.tolist()):
        score, where = lines[2 + 3 * place].split()[:2]
        text = pairs.texts[row]
        assert (score, where) == (f"{plain[row]:.2f}", text.place)
        assert [line.strip() for line in lines[3 + 3 * place : 5 + 3 * place]] == list(text[1:])
    model = load_trained(pages_run).model
    query = embed_contexts(model, stack_contexts([sentence]), torch.tensor([0]), CPU)
    learned = (embed_payloads(model, pairs.payloads, CPU) @ query[0]).topk(5)
    found = [pairs.texts[row].place for row in learned.indices.tolist()]
    assert [line.split()[1] for line in lines[middle + 1 :: 3]] == found
    scores = [float(line.split()[0]) for line in lines[middle + 1 :: 3]]
    assert scores == pytest.approx(learned.values.tolist(), abs=0.006)
    places = (text.place.partition("#")[0] for text in pairs.texts)
    of_held_out = {place for place, out in zip(places, held_out, strict=True) if out}
    for line in lines[2:middle:3] + lines[middle + 1 :: 3]:
        assert line.endswith("(held out)") == (line.split()[1].partition("#")[0] in of_held_out)


@pytest.mark.slow
def test_sentences_may_come_one_by_one(ask, pages_run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("batch size\n\n  \nlearning rate\n"))
    code, lines, _ = ask("", pages_run)
    assert code == 0
    assert lines.count("after training:") == 2


def test_what_shares_no_word_says_so(ask, pages_run):
    _, lines, _ = ask("!!!", pages_run)
    assert lines[2] == "    nothing: the encoder finds no word of the sentence"


def test_a_run_without_texts_is_refused(ask, first_run):
    code, _, err = ask("a sentence", first_run)
    message = "learned from --data generated, which has no texts; "
    message += "train with texts (encode.py), or with --data pages\n"
    assert (code, err.count("\n")) == (2, 1)
    assert err.endswith(message)


def test_without_a_run_it_says_what_makes_one(ask, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = ask("a sentence")
    assert code == 2
    assert (
        err
        == "error: there is no trained run in runs/two_tower; make one: python examples/two_tower/train.py\n"
    )
