"""Records of what was checked: a changed text loses its record, Chinese texts play no part."""

import datetime

import pytest

from tools.checks import readings
from tools.checks.readings import READINGS, main, overview, page_dates, parts

DAY = datetime.date(2026, 11, 23)
PAGE = "---\ndescription: {}\n---\n# Memory {{ #memory }}\n\nText.\n\n<!-- table: variables-memory -->\n"
FAQ = "# FAQ { #faq }\n\n## One { #one }\n\n### Why? { #why }\n\nSo.\n\n## Two { #two }\n\nEnd.\n"
VARIABLES = """\
- {name: A, group: memory, effect: {en: Effect., zh: 作用。}, read: {en: once, zh: 一次}}
- {name: B, group: cpu, effect: {en: Effect., zh: 作用。}, read: {en: once, zh: 一次}}
"""
MESSAGES = (
    "messages:\n- {id: oom, cause: {en: Cause., zh: 原因。}, read: 2026-11-22, sources: [[issue, 1, a/b]]}\n"
)


@pytest.fixture
def project(plant, tmp_path):
    for language in ("en", "zh"):
        plant(f"docs/{language}/guides/memory.md", PAGE.format("d"))
        plant(f"docs/{language}/facts/faq.md", FAQ)
    plant("docs/data/environment_variables.yaml", VARIABLES)
    plant("docs/data/error_messages/memory.yaml", MESSAGES)
    return tmp_path


def stamp(root, *keys):
    readings.stamp(root, [(key, 3, 1) for key in keys], DAY)


def unread(root):
    return [line.partition(": ")[0] for line in overview(root) if "never read" in line or "changed" in line]


def test_keys(project):
    assert list(parts(project)) == [
        "faq#why",
        "facts/faq.md",
        "guides/memory.md",
        "error_messages/memory#oom",
        "environment_variables#A",
        "environment_variables#B",
    ]
    assert parts(project)["faq#why"].text == "### Why? { #why }\n\nSo.\n\n"
    assert "So." not in parts(project)["facts/faq.md"].text


def test_page_has_a_date_when_all_was_read(project):
    stamp(project, "guides/memory.md")
    assert page_dates(project) == {}
    readings.stamp(project, [("environment_variables#A", 1, 0)], datetime.date(2026, 11, 21))
    assert page_dates(project) == {"guides/memory.md": datetime.date(2026, 11, 21)}
    stamp(project, "facts/faq.md", "faq#why")
    assert page_dates(project)["facts/faq.md"] == DAY


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        ("docs/en/guides/memory.md", "Text.", "Other text.", ["guides/memory.md"]),
        ("docs/en/guides/memory.md", "description: d", "description: e", []),
        ("docs/zh/guides/memory.md", "Text.", "文字。", []),
        ("docs/en/facts/faq.md", "So.", "Not so.", ["faq#why"]),
        ("docs/en/facts/faq.md", "End.", "No end.", ["facts/faq.md"]),
        ("docs/data/environment_variables.yaml", "en: Effect.", "en: Other.", ["environment_variables#A"]),
        ("docs/data/environment_variables.yaml", "en: once", "en: twice", ["environment_variables#A"]),
        ("docs/data/environment_variables.yaml", "作用", "效果", []),
        ("docs/data/error_messages/memory.yaml", "2026-11-22", "2026-11-23", []),
        ("docs/data/error_messages/memory.yaml", "[issue, 1,", "[issue, 2,", ["error_messages/memory#oom"]),
    ],
)
def test_a_changed_text_loses_its_record(project, name, old, new, changed):
    stamp(project, *parts(project))
    assert unread(project) == []
    assert len(page_dates(project)) == 2
    path = project / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    assert unread(project) == changed
    memory, faq = {"guides/memory.md", "environment_variables#A"}, {"facts/faq.md", "faq#why"}
    assert ("guides/memory.md" in page_dates(project)) == memory.isdisjoint(changed)
    assert ("facts/faq.md" in page_dates(project)) == faq.isdisjoint(changed)


def test_figures_by_kind_and_entries_that_are_gone(project):
    stamp(project, "environment_variables#A", "environment_variables#B", "faq#why")
    (project / "docs/data/environment_variables.yaml").write_text(VARIABLES.split("\n")[0] + "\n")
    lines = overview(project, short=True)
    assert "environment_variables: 1 of 1 read, 6 statements, 2 corrected" in lines
    assert "environment_variables#B: there is no such page or entry any more" in lines
    assert "pages: 0 of 2 read, 0 statements, 0 corrected" in lines
    assert not any("never" in line for line in lines)


def test_command_line(project, capsys):
    arguments = ["stamp", "faq#why", "--statements", "4", "--corrected", "0", "--date", "2026-11-23"]
    assert main(arguments, project) == 0
    lines = project / "lines"
    lines.write_text("environment_variables#A 2 1\n\nguides/memory.md 30 2\n")
    assert main(["stamp", "--from", str(lines), "--date", "2026-11-24"], project) == 0
    records = (project / READINGS).read_text(encoding="utf-8").splitlines()[2:]
    assert [record.partition(", hash")[0] for record in records] == [
        "environment_variables#A: {date: 2026-11-24, statements: 2, corrected: 1",
        "faq#why: {date: 2026-11-23, statements: 4, corrected: 0",
        "guides/memory.md: {date: 2026-11-24, statements: 30, corrected: 2",
    ]
    assert main(["list"], project) == 0
    assert "facts/faq.md: never read" in capsys.readouterr().out


@pytest.mark.parametrize("line", ["nobody.md 1 0", "faq#why 1 2", "faq#why 1", "faq#why one 0"])
def test_wrong_lines_write_nothing(project, capsys, line):
    lines = project / "lines"
    lines.write_text(f"guides/memory.md 3 0\n{line}\n")
    assert main(["stamp", "--from", str(lines)], project) == 2
    assert "error: " in capsys.readouterr().err
    assert not (project / READINGS).exists()


def test_two_entries_of_one_name(project):
    path = project / "docs/data/environment_variables.yaml"
    path.write_text(VARIABLES.replace("name: B", "name: A"), encoding="utf-8")
    with pytest.raises(ValueError, match="two entries"):
        parts(project)


def test_an_answer_has_one_name_on_both_pages(plant, project):
    for language in ("en", "zh"):
        plant(f"docs/{language}/facts/models-and-libraries.md", FAQ.replace("#why", "#lora"))
    assert parts(project)["faq#lora"].shown == ("facts/models-and-libraries.md",)
    plant("docs/en/facts/models-and-libraries.md", FAQ)
    with pytest.raises(ValueError, match="two entries have the key faq#why"):
        parts(project)


@pytest.mark.slow
def test_the_real_data_have_a_key_for_every_kind():
    found = {readings.kind(key) for key in parts()}
    assert found >= {"pages", "faq", "error_messages", "environment_variables", "wrong_results", "versions"}
    assert set(page_dates()) <= set(parts())
