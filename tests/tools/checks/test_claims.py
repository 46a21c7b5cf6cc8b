"""Faults planted in a claim: each gives one line that says what to do, and ends the build of the site."""

import pytest

from tools.checks.claims import TOPICS, in_language, read_claims, words, wrong_claims

MEMORY = """\
- id: cache-speed
  claim: {en: Emptying the cache is faster, zh: 清空缓存更快}
  verdict: wrong
  versions: 2.6 and later
  truth: {en: It is slower., zh: 反而更慢。}
  evidence:
  - {issue: 5}
  - {pull: [6, a/b]}
  - {url: "https://a.example/b", name: A page}
  - {read: {en: a.py of 2.15, zh: 2.15 的 a.py}}
  - {ran: {en: on Linux, zh: 在 Linux 上}}
  page: guides/memory.md#cache
  check: {test: "tests/test_a.py::Some::test_cache[mps]"}
- {id: other, claim: {en: a, zh: 一}, verdict: holds, truth: {en: a, zh: 一}, evidence: [{issue: 1}],
   page: guides/memory.md, check: {command: python -c 1, expect: "^1$", mac: true}}
"""
NO_CHECK = "{none: {en: It takes a day, zh: 要一天}}"
PLACE = "docs/data/claims/memory.yaml"


@pytest.fixture(autouse=True)
def repository(plant, tmp_path):
    plant("tests/test_a.py", "class Some:\n    def test_cache(self): ...\n")
    for language in ("en", "zh"):
        plant(f"docs/{language}/guides/memory.md", "# Memory { #memory }\n\n## Cache { #cache }\n")
        plant(f"docs/{language}/facts/claims.md", "# Claims { #claims-checked }\n")
    plant(PLACE, MEMORY)
    assert wrong_claims(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("  verdict: wrong\n", "", "`verdict` is missing: tools/checks/claims.py says what it is"),
        ("verdict: wrong", "verdict: false", "`verdict` is missing"),
        ("verdict: wrong", "verdict: hold", "`verdict`: hold is none of holds, conditions, depends"),
        ("  versions:", "  version:", "`version` is no key of a claim; did you mean versions?"),
        ("2.6 and later", "{en: 2.6}", "`versions`: write one text, or en and zh"),
        ("cache-speed", "Cache", "`id`: write lower case, digits and hyphens"),
        (", zh: 反而更慢。", "", "`truth`: write it in en and zh"),
        ("is faster", "is " + "faster " * 23, "`claim` in en has 27 words: at most 25"),
        ("It is slower.", "slow " * 56, "`truth` in en has 56 words: at most 55"),
        ("反而更慢。", "慢" * 151, "`truth` in zh has 151 words: at most 150"),
        ("It is slower.", '"It is slower [?]."', "`truth` in en has a [?]: what is not proven is left out"),
        ("{issue: 5}", "{isue: 5}", "`evidence` {'isue': 5}: write issue: 5, pull: [5, owner/name]"),
        ("[6, a/b]", "[6, a]", "`evidence` {'pull': [6, 'a']}: write"),
        ("https:", "ftp:", "`evidence` {'url': 'ftp://a.example/b', 'name': 'A page'}: write"),
        ("memory.md#cache", "memry.md#cache", "`page`: there is no docs/en/guides/memry.md"),
        ("memory.md#cache", "memory.md#cash", "has no { #cash }; did you mean cache?"),
        ("tests/test_a.py", "tests/test_b.py", "`check`: there is no test file tests/test_b.py"),
        ("::test_cache", "::test_cash", "tests/test_a.py has no test test_cash; did you mean test_cache?"),
        ('test: "tests/test_a.py::Some::test_cache[mps]"', "tset: a", "write one of test, command, none"),
        ('test_cache[mps]"', 'test_cache[mps]", mac: true', "`check`: mac is no key beside test"),
        ('{test: "tests/test_a.py::Some::test_cache[mps]"}', "{none: later}", "say in en and zh why there"),
        ('{test: "tests/test_a.py::Some::test_cache[mps]"}', "{command: a}", "`expect` is no regular expr"),
        ('{test: "tests/test_a.py::Some::test_cache[mps]"}', '{command: a, expect: "("}', "no regular expr"),
    ],
)  # fmt: skip
def test_one_fault_is_one_line(plant, tmp_path, old, new, sentence):
    assert old in MEMORY
    plant(PLACE, MEMORY.replace(old, new, 1))
    found = wrong_claims(tmp_path)
    assert sentence in found[0] and found[0].startswith(f"{PLACE}: ") and "\n" not in found[0]
    assert len(found) == (2 if "`page`" in sentence or "no { #" in sentence else 1)  # of both languages


def test_a_reason_stands_for_a_check(plant, tmp_path):
    plant(PLACE, MEMORY.replace('{test: "tests/test_a.py::Some::test_cache[mps]"}', NO_CHECK))
    assert wrong_claims(tmp_path) == []


def test_evidence_is_needed(plant, tmp_path):
    plant(PLACE, MEMORY.replace("[{issue: 1}]", "[]", 1))
    assert wrong_claims(tmp_path) == [
        f"{PLACE}: other: `evidence` is missing: tools/checks/claims.py says what it is"
    ]


@pytest.mark.parametrize("ident", ["cache-speed", "other", "memory", "claims-checked"])
def test_an_id_is_there_once(plant, tmp_path, ident):
    """In all files, and it is no heading of the page."""
    plant("docs/data/claims/speed.yaml", MEMORY[MEMORY.index("- {id: other") :].replace("other", ident))
    (found,) = wrong_claims(tmp_path)
    assert found.startswith(f"docs/data/claims/speed.yaml: {ident}: ")
    assert found.endswith("has this `id` too: take another")


def test_files_are_topics_and_lists(plant, tmp_path):
    plant("docs/data/claims/memry.yaml", "claims: []\n")
    assert wrong_claims(tmp_path) == [
        "docs/data/claims/memry.yaml: tools/checks/claims.py has no such topic; did you mean memory?",
        "docs/data/claims/memry.yaml: write a list of entries, each with `- id:`",
    ]


def test_what_is_no_yaml_is_one_line(plant, tmp_path):
    plant(PLACE, "- id: one\n- id: [\n")
    (found,) = wrong_claims(tmp_path)
    assert found.startswith(f"{PLACE}: line 3: no YAML: ") and "\n" not in found


def test_anchors_that_tables_bring(plant, tmp_path):
    plant("docs/data/error_messages/sizes.yaml", "messages: [{id: too-large}]\n")
    for language in ("en", "zh"):
        plant(f"docs/{language}/guides/memory.md", "# A { #cache }\n\n<!-- table: error-messages-sizes -->\n")
    plant(PLACE, MEMORY.replace("memory.md#cache", "memory.md#too-large", 1))
    assert wrong_claims(tmp_path) == []


def test_claims_are_read_in_the_order_of_the_page(plant, tmp_path):
    plant("docs/data/claims/device.yaml", "[]\n")
    assert list(read_claims(tmp_path)) == ["device", "memory"]
    plant(PLACE, MEMORY.replace("wrong", "false", 1))
    with pytest.raises(ValueError, match=r"memory\.yaml: cache-speed: `verdict` is missing"):
        read_claims(tmp_path)


def test_words():
    assert words("Use bf16, it is `torch.bfloat16`.", "en") == 5
    assert words("在 MPS 上用 `torch.bfloat16`，快 35%～45%。", "zh") == 7
    assert in_language("2.6", "zh") == "2.6" and in_language(TOPICS["cost"], "zh") == "成本"
