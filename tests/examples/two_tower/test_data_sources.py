"""What `--data` means: the texts of the pages, generated pairs whose best scorer is known, files."""

import re

import pytest
import torch

from examples.two_tower.data_sources import TEXTS, find_data, read_passages
from examples.two_tower.generated_pairs import generate_pairs
from examples.two_tower.ngrams import WIDTH, features, stack_contexts, stack_texts
from examples.two_tower.pairs import split_by_article
from examples.two_tower.retrieval import retrieval
from snippets.errors import UsageError
from tools import extract_pairs
from tools.checks.page_reader import read_markdown


def test_pages_give_892_passages_of_limited_length():
    passages = read_passages()
    pages = {page for page, *_ in passages}
    assert (len(passages), len(pages)) == (892, 30)
    for page, _, english, chinese in passages:
        assert all((page, english, chinese))
        assert len(english) <= 120 and len(chinese) <= 48
        assert len(re.findall("[\u4e00-\u9fff]", chinese)) >= 4
    assert len({passage[2:] for passage in passages}) == 892


def test_the_head_of_the_texts_has_date_and_commit():
    origin = TEXTS.with_name("README.md").read_text(encoding="utf-8").splitlines()[-1]
    assert re.fullmatch(r"`pairs.tsv`: English .*, \d{4}-\d\d-\d\d, commit [0-9a-f]{7,}; made by .*", origin)
    assert TEXTS.stat().st_size <= 200_000


def test_pairs_of_pages_are_unit_vectors_by_page(texts):
    pairs = texts
    assert pairs.contexts.shape == (892, 5, WIDTH) and pairs.payloads.shape == (892, WIDTH)
    torch.testing.assert_close(pairs.payloads.norm(dim=1), torch.ones(892))
    torch.testing.assert_close(pairs.plain_queries().norm(dim=1), torch.ones(892))
    for row in (0, 17, 891):
        text = pairs.texts[row]
        assert torch.equal(pairs.contexts[row], stack_contexts([text.query])[0])
        assert torch.equal(pairs.payloads[row], stack_texts([text.document])[0])
        page, same = text.place.partition("#")[0], pairs.articles == pairs.articles[row]
        assert [other.place.partition("#")[0] == page for other in pairs.texts] == same.tolist()


def test_features_are_words_numbers_and_pieces():
    assert list(features("MPS 2.15")) == ["mps", "2.15"]
    assert list(features("Memory")) == ["memory", "<mem", "memo", "emor", "mory", "ory>"]
    assert list(features("用 MPS 训练")) == ["mps", "用", "训", "练", "训练"]
    assert list(features("—!")) == []


def test_inflected_texts_have_near_vectors():
    one, other, far = stack_texts(["training a network", "networks are trained", "disk space"])
    assert one @ other > 0.3 > abs(one @ far)
    assert stack_texts(["训练 MPS"])[0] @ stack_texts(["training on MPS"])[0] > 0.1  # the name alone
    assert not stack_texts(["—!"])[0].any()


def test_a_context_grows_to_the_whole_text():
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    found = stack_contexts([" ".join(words)])[0]
    for position in range(5):
        assert torch.equal(found[position], stack_texts([" ".join(words[: 2 * position + 2])])[0])
    assert (stack_contexts(["out of memory"])[0] == stack_texts(["out of memory"])[0]).all()


# ---- Generated pairs ----


def test_generated_pairs_depend_on_their_seed_alone():
    first, again, other = (generate_pairs(300, 1.4, seed) for seed in (0, 0, 1))
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()
    torch.testing.assert_close(first.payloads.norm(dim=1), torch.ones(300))
    assert first.articles.bincount().tolist() == [12] * 25


def test_known_rotation_finds_fewer_pairs_with_more_noise():
    found = []
    for noise in (0, 1.4, 3):
        pairs = generate_pairs(480, noise, 0)
        known = torch.arange(480), [pairs.payloads], pairs.payload_ids, pairs.articles
        found.append(retrieval(pairs.best_queries, *known)["recall_5"])
        assert retrieval(pairs.plain_queries(), *known)["recall_5"] < 0.1  # unturned, it helps nobody
    assert found[0] == 1 and found[0] > found[1] + 0.02 > found[2] + 0.1


def test_what_data_may_be_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert [find_data(name) for name in ("pages", "generated", "folder")] == ["pages", "generated", "file"]
    with pytest.raises(UsageError, match=r"--data page: neither pages nor generated nor an existing \.npz"):
        find_data("page")


# ---- The split ----


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_articles_stay_whole(share):
    articles = torch.randint(40, (500,), generator=torch.Generator().manual_seed(0))
    held_out = split_by_article(articles, share, seed=0)
    assert not set(articles[held_out].tolist()) & set(articles[~held_out].tolist())
    largest = articles.bincount().max()
    assert share * 500 <= held_out.sum() < share * 500 + largest
    assert torch.equal(held_out, split_by_article(articles, share, seed=0))
    assert not torch.equal(held_out, split_by_article(articles, share, seed=1))
    order = torch.randperm(500, generator=torch.Generator().manual_seed(1))
    assert torch.equal(held_out[order], split_by_article(articles[order], share, seed=0))


# ---- How the texts were extracted ----

ENGLISH = """# Title { #title }

A long beginning of the page with `code` and more words than one hundred and twenty characters, so that it
is cut after one of them.

## Numbers { #numbers }

Text.

| Name | Meaning |
|---|---|
| a | first one |
| b | 2 |
"""
CHINESE = """# 标题 { #title }

这一页的开头。

## 数字 { #numbers }

一些文字。

| 名称 | 含义 |
|---|---|
| a | 第一个东西 |
| b | 2 |
"""


def test_sections_and_table_rows_of_two_pages_are_paired():
    found = list(extract_pairs.page_pairs("some/page", read_markdown(ENGLISH), read_markdown(CHINESE)))
    assert [(pair.page, pair.anchor) for pair in found] == [
        ("some/page", "title"),
        ("some/page", "numbers"),
        ("some/page", "numbers"),
    ]
    first, second, row = found  # the row with numbers alone is equal in both languages, and left out
    beginning = (
        "Title A long beginning of the page with code and more words than one hundred and twenty characters"
    )
    assert (
        first.english == f"{beginning}, so that it is cut"
    )  # 117 characters, and the next word does not fit
    assert first.chinese == "标题 这一页的开头。"
    assert (second.english, second.chinese) == ("Numbers Text.", "数字 一些文字。")
    assert (row.english, row.chinese) == ("a · first one", "a · 第一个东西")


def test_the_file_is_written_as_it_is_read(tmp_path, monkeypatch, capsys):
    for language, text in (("en", ENGLISH), ("zh", CHINESE)):
        for name in ("one", "two"):  # equal texts count once
            path = tmp_path / "docs" / language / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    pairs = extract_pairs.all_pairs(tmp_path)
    assert len(pairs) == 3
    monkeypatch.setattr(extract_pairs, "all_pairs", lambda: pairs)
    monkeypatch.setattr(extract_pairs, "FILE", tmp_path / "pairs.tsv")
    assert extract_pairs.main() == 0
    assert [tuple(passage) for passage in read_passages(tmp_path / "pairs.tsv")] == [*map(tuple, pairs)]
    assert f"3 pairs of 1 pages in {tmp_path / 'pairs.tsv'}" in capsys.readouterr().out
    origin = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert re.search(r", \d{4}-\d\d-\d\d, commit [0-9a-f]{7,}; made by", origin)
