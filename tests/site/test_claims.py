"""The page of claims: each is a block that can be linked, and faults of an entry end the build."""

import re

import pytest
from claims import VERDICTS, WORDS, check_line, claims, counts, evidence, page_link, render
from rendering import TableError

FOUND = {claim["id"]: claim for entries in claims().values() for claim in entries}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_claim_is_a_block_with_its_link(language):
    text = render(language)
    blocks = re.findall(r'<div class="claim" id="([\w-]+)"', text)
    assert blocks == list(FOUND) and text.count("</div>") == len(blocks)
    for name, claim in FOUND.items():
        assert f"[#{name}](#{name})" in text
        assert f"**{claim['claim'][language]}**\n<span>{WORDS[language][claim['verdict']][0]}</span>" in text
    assert "[?]" not in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_counts_are_computed(language):
    numbers = [int(line.split("|")[3]) for line in counts(language).splitlines()[2:]]
    assert numbers[-1] == sum(numbers[:-1]) == len(FOUND)
    assert numbers[0] == sum(claim["verdict"] == VERDICTS[0] for claim in FOUND.values())


def test_the_forms_of_evidence_and_checks():
    assert evidence({"issue": 5}, "en") == "[#5](https://github.com/pytorch/pytorch/issues/5)"
    assert evidence({"pull": [5, "a/b"]}, "en") == "[a/b#5](https://github.com/a/b/pull/5)"
    assert (
        evidence({"url": "https://a.example", "name": {"en": "A", "zh": "甲"}}, "zh")
        == "[甲](https://a.example)"
    )
    assert evidence({"ran": {"en": "on Linux", "zh": ""}}, "en") == "Run on Linux"
    assert check_line({"test": "tests/a.py::b"}, "en") == "Check: a test of this project"
    assert check_line({"command": "a `b`", "expect": "^1$", "mac": True}, "en") == (
        "Check on a Mac: `` a `b` `` must print what matches `^1$`"
    )
    assert check_line({"none": {"en": "too long", "zh": "太久"}}, "zh") == "没有核对方法：太久"


def test_the_page_is_named_by_its_heading():
    assert page_link("guides/device.md#order", "en") == "[What the order means](../guides/device.md#order)"
    assert page_link("facts/faq.md", "zh") == "[常见问题](faq.md)"


def test_a_fault_ends_the_build(monkeypatch):
    monkeypatch.setattr("tools.checks.claims.wrong_claims", lambda root: ["a.yaml: b: c", "d"])
    with pytest.raises(TableError, match=r"^a\.yaml: b: c\nd$"):
        render("en")
