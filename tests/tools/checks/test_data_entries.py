"""Faults planted in an entry that somebody adds by hand: each gives one sentence that says what to do."""

import pytest

from tools.checks.data_entries import wrong_messages, wrong_results

MEMORY = """\
title: {en: Memory, zh: 内存}
messages:
- id: too-large
  text: "RuntimeError: too large"
  variants: ["RuntimeError: much too large"]
  cause: {en: Why., zh: 原因。}
  cure:
    en: "[Halve it](../guides/memory.md#limits), see [the other](#other)."
    zh: "[减半](../guides/memory.md#limits)。"
  code: snippets/a.py:part
  sources: [[issue, 5, a/b], [text, "https://a.example/b"]]
  read: 2026-11-23
- {id: other, text: x, cause: &a {en: a, zh: 一}, cure: *a, sources: [[pull, 5, a/b]], read: 2026-11-23}
"""
SPEED = """\
- device: cpu
  machine: {system: Linux x86_64, cpu_cores: 2}
  versions: {torch: 2.15.0}
  date: 2026-11-23
  command: python -m tools.measuring.a
  seconds: 0.5
"""


@pytest.fixture(autouse=True)
def repository(plant, tmp_path):
    plant("snippets/a.py", "# --8<-- [start:part]\nx = 1\n# --8<-- [end:part]\n")
    for language in ("en", "zh"):
        plant(f"docs/{language}/reference/error-messages/index.md", "<!-- table: error-messages -->\n")
        plant(f"docs/{language}/guides/memory.md", "# Memory { #memory }\n\n## Limits { #limits }\n")
    plant("docs/data/error_messages/memory.yaml", MEMORY)
    plant("docs/data/results/speed.yaml", SPEED)
    assert [*wrong_messages(tmp_path), *wrong_results(tmp_path)] == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("  read: 2026-11-23\n", "", "`read` is missing: add it, the day on which the sources were read"),
        ("  cause:", "  casue:", "`casue` is no key of an entry; did you mean cause?"),
        ("  cause:", "  seen: x\n  cause:", "`seen` is no key of an entry; remove it"),
        (", zh: 原因。", "", "`cause` has no `zh`: write it in both languages"),
        ("limits), see", "limit), see", "memory.md#limit): that page has no heading { #limit }; did"),
        ("memory.md#limits), see", "memry.md), see", "there is no such page; did you mean memory.md?"),
        ("(#other)", "(#others)", "that page has no heading { #others }; did you mean other?"),
        ("a.py:part", "a.py:pat", "no section snippets/a.py:pat; did you mean snippets/a.py:part?"),
        ("[issue, 5, a/b]", "[isue, 5, a/b]", "source ['isue', 5, 'a/b']: write [issue, 5, owner/name]"),
        ("much too", "too", "'RuntimeError: too large' is there twice: remove one"),
        ("Error: too", "Error: too\\n", "has a line break or blanks at an end: put it into one line"),
        ("read: 2026-11-23\n", "read: today\n", "`read` is 'today': write a day, such as 2026-11-23"),
    ],
)  # fmt: skip
def test_one_fault_of_a_message_is_one_sentence(plant, tmp_path, old, new, sentence):
    plant("docs/data/error_messages/memory.yaml", MEMORY.replace(old, new, 1))
    (found,) = wrong_messages(tmp_path)
    assert found.startswith("docs/data/error_messages/memory.yaml: too-large: ")
    assert sentence in found


def test_entries_without_a_name_or_with_that_of_another(plant, tmp_path):
    plant("docs/data/error_messages/memory.yaml", MEMORY.replace("id: too-large\n  ", ""))
    assert "memory.yaml: message 1: `id` is missing: add it, the anchor" in wrong_messages(tmp_path)[0]
    plant("docs/data/error_messages/memory.yaml", MEMORY)
    plant("docs/data/error_messages/sizes.yaml", MEMORY.replace(", zh: 内存", ""))
    found = "\n".join(wrong_messages(tmp_path))
    assert "sizes.yaml: other: docs/data/error_messages/memory.yaml has this `id` too: take another" in found
    assert "sizes.yaml: `title` has no `zh`: write it" in found


@pytest.mark.parametrize("key", ["machine", "versions", "date", "command"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_result_without_its_origin_is_one_sentence(plant, tmp_path, key, inside):
    lines = [line for line in SPEED.splitlines() if not line.strip().startswith(f"{key}:")]
    text = "\n".join(lines)
    if inside:  # one part of several, as the parts of one file may come from several machines
        text = "\n".join(["one:", *(f"  {line}" for line in lines)])
    plant("docs/data/results/speed.yaml", text)
    (found,) = wrong_results(tmp_path)
    place = "one: entry 1:" if inside else "entry 1:"
    assert found.startswith(f"docs/data/results/speed.yaml: {place} no `{key}`: add {key}, ")


def test_result_names_its_origin_or_its_test(plant, tmp_path):
    plant("docs/data/results/speed.yaml", "parameters: 5\n")
    (found,) = wrong_results(tmp_path)
    assert "no `machine`, `versions`, `date`, `command`: add machine, as docs/hooks/origins.py" in found
    plant("docs/data/results/speed.yaml", "parameters: 5\nrecomputed_by: tests/a.py\n")
    (found,) = wrong_results(tmp_path)
    assert found.endswith("`recomputed_by` names tests/a.py: there is no such test; correct the path")
    plant("tests/a.py", "")
    assert wrong_results(tmp_path) == []
