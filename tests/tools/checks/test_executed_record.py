"""The record behind the badges: what runs write into it, and when it is out of date."""

import re
import subprocess
from pathlib import Path

import pytest

from tools.checks import executed_record
from tools.checks.executed_lines import Report
from tools.checks.executed_record import RECORD, check, out_of_date, read, update
from tools.checks.sections import all_sections

ROOT = Path(__file__).resolve().parents[3]
VERSIONS = {"python": "3.11", "torch": "2.15.0", "torchvision": "0.29.2"}
ATTRIBUTES = RECORD.parent / ".gitattributes"
BOTH = ["cpu", "simulated-mps"]
ONE, TWO = "snippets/a.py:one", "snippets/a.py:two"
SOURCE = """
# --8<-- [start:one]
x = 1
# --8<-- [end:one]
# --8<-- [start:two]
y = 2
# --8<-- [end:two]
"""
PAGE = '```python\n--8<-- "snippets/a.py:{0}"\n```\n'


@pytest.fixture
def repository(plant, tmp_path, monkeypatch):
    """Return a small repository with two shown sections and the record of a complete run, on Linux."""
    monkeypatch.setattr("platform.system", lambda: "Linux")
    plant("requirements/examples.txt", "torch==2.15.0\ntorchvision==0.29.2\n")
    plant("snippets/a.py", SOURCE)
    for language in ("en", "zh"):
        plant(f"docs/{language}/p.md", PAGE.format("one") + "\n" + PAGE.format("two"))
    assert check(tmp_path, report(tmp_path)).startswith(f"{RECORD} was out of date and has been rewritten")
    assert check(tmp_path, report(tmp_path)) is None
    return tmp_path


def report(root, contexts=BOTH, ran=(ONE, TWO), **versions):
    """Return what a run found that executed the sections `ran` in all of its contexts."""
    made = Report(contexts=contexts, versions=VERSIONS | versions)
    for key, section in all_sections(root)[0].items():
        made.records[section.identity] = {"contexts": list(contexts) if key in ran else []}
        if key not in ran:
            made.never_ran[key] = [section.first]
    return made


def contexts_of(root):
    return {identity.split()[0]: known["contexts"] for identity, known in read(root).sections.items()}


def identity(root, key):
    return all_sections(root)[0][key].identity


def edit(root, old, new):
    path = root / "snippets/a.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_committed_record_is_up_to_date():
    assert read(ROOT).sections
    assert out_of_date(ROOT) == [], f"{RECORD} is out of date: {executed_record.UPDATE}"


def test_changed_line_is_outdated_until_its_tests_ran(repository):
    edit(repository, "x = 1", "x = 1  # why")
    assert out_of_date(repository) == []
    edit(repository, "x = 1", "x = 3")
    assert out_of_date(repository) == [ONE]
    changed = update(repository, report(repository, ["cpu"], ran=[ONE]), complete=False)
    assert changed == [identity(repository, ONE)]
    assert out_of_date(repository) == []
    assert contexts_of(repository) == {ONE: ["cpu"], TWO: BOTH}
    # The next complete run proves more than that, which is no reason to fail and to commit again.
    assert check(repository, report(repository)) is None
    assert contexts_of(repository) == {ONE: BOTH, TWO: BOTH}


def test_partial_run_leaves_other_sections_unchanged(repository):
    edit(repository, "x = 1", "x = 3")
    before = (repository / RECORD).read_bytes()
    assert update(repository, Report(contexts=["cpu"], versions=VERSIONS), complete=False) == []
    assert (repository / RECORD).read_bytes() == before
    assert update(repository, report(repository, ["cpu"], ran=[TWO]), complete=False) == []
    assert contexts_of(repository) == {TWO: BOTH}


def test_two_branches_that_note_neighbouring_sections_merge_without_conflict(repository):
    """Git keeps all lines, those of the old code too; a line counts for the code of its hash alone."""

    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=repository, check=True, capture_output=True)

    (repository / ATTRIBUTES).write_bytes((ROOT / ATTRIBUTES).read_bytes())
    git("init", "-b", "main")
    git("add", "docs/data")
    git("commit", "-m", "before")
    for branch, old, new, key in (("a", "x = 1", "x = 3", ONE), ("b", "y = 2", "y = 4", TWO)):
        git("checkout", "-b", branch, "main")
        edit(repository, old, new)
        update(repository, report(repository, ran=[key]), complete=False)
        git("commit", "-am", branch)
        edit(repository, new, old)
    git("merge", "a")
    edit(repository, "x = 1", "x = 3")
    edit(repository, "y = 2", "y = 4")
    assert out_of_date(repository) == []
    assert check(repository, report(repository)) is None
    assert len((repository / RECORD).read_text(encoding="utf-8").splitlines()) == 4


def test_complete_run_rewrites_the_record_and_fails_once(repository):
    edit(repository, "x = 1", "x = 3")
    assert check(repository, report(repository)).endswith(f"commit it: {ONE}")
    assert check(repository, report(repository)) is None


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (r"(a\.py:one) \w+", r"\1 0000", ONE),
        (r".*a\.py:one.*\n", "", ONE),
        (r"torch=\S+", "torch=2.13.0", "the versions"),
    ],
    ids=["another hash", "missing", "versions"],
)
def test_an_untrue_record_is_named_and_rewritten(repository, old, new, named):
    good = (repository / RECORD).read_text(encoding="utf-8")
    (repository / RECORD).write_text(re.sub(old, new, good, count=1), encoding="utf-8")
    assert check(repository, report(repository)).endswith(named)
    assert (repository / RECORD).read_text(encoding="utf-8") == good


def test_lost_badge_is_removed(repository):
    found = report(repository)
    found.records[identity(repository, ONE)]["contexts"] = ["cpu"]
    assert check(repository, found).endswith(f"commit it: {ONE}")
    assert contexts_of(repository) == {ONE: ["cpu"], TWO: BOTH}


@pytest.mark.parametrize("context", ["mps", "cuda"])
def test_gpu_result_is_kept_until_the_code_changes(repository, context):
    assert check(repository, report(repository, [context])) is None
    assert contexts_of(repository) == {ONE: sorted([*BOTH, context]), TWO: sorted([*BOTH, context])}
    assert check(repository, report(repository)) is None
    assert contexts_of(repository)[ONE] == sorted([*BOTH, context])
    edit(repository, "x = 1", "x = 3")
    assert check(repository, report(repository)).endswith(ONE)
    assert contexts_of(repository) == {ONE: BOTH, TWO: sorted([*BOTH, context])}


def test_parts_note_disappears_when_one_device_suffices(repository):
    parts, one = report(repository), identity(repository, ONE)
    known = {"contexts": [], "parts": BOTH, "exceptions": {"cuda-only": 2}}
    parts.records[one] |= known
    assert check(repository, parts).endswith(ONE)
    assert read(repository).sections[one] == known
    update(repository, report(repository, ["cpu"]), complete=False)
    assert read(repository).sections[one] == {"contexts": ["cpu"], "exceptions": {"cuda-only": 2}}


def test_other_pytorch_version_changes_nothing_and_says_why(repository):
    before = (repository / RECORD).read_bytes()
    newer = report(repository, torch="2.16.0")
    assert check(repository, newer) is None
    edit(repository, "x = 1", "x = 3")
    assert "does not know the present code of snippets/a.py:one; make test ARGS=" in check(
        repository, report(repository, torch="2.16.0")
    )
    assert (repository / RECORD).read_bytes() == before


def test_another_python_is_no_news(repository):
    before = (repository / RECORD).read_bytes()
    assert check(repository, report(repository, python="3.14")) is None
    assert (repository / RECORD).read_bytes() == before


def test_the_real_pins_are_read():
    pins = executed_record.pinned_versions(ROOT)
    assert set(pins) == {"torch", "torchvision"}
    assert all(version.replace(".", "").isdigit() for version in pins.values())
