"""Whether a file may be written, and what is removed beside it."""

import os

import pytest

from examples.programs.run_folder import check_target, json_with
from snippets.errors import UsageError

REPORT = json_with("rows", "plan")


@pytest.mark.parametrize("content", ['{"rows": [], "plan": 1, "more": 2}', None])
def test_a_new_file_and_ones_own_may_be_written(tmp_path, content):
    file = tmp_path / "report.JSON"
    if content:
        file.write_text(content)
    check_target(file, REPORT, [".json"])


@pytest.mark.parametrize("content", ["", "[]", '{"rows": []}', "\0", "folder", "broken link"])
def test_what_is_not_ones_own_stays(tmp_path, content):
    file = tmp_path / "report.json"
    if content == "folder":
        file.mkdir()
    elif content == "broken link":
        file.symlink_to("elsewhere.json")
    else:
        file.write_text(content)
    with pytest.raises(
        UsageError, match=r"report\.json is there already and .*; choose another --json, or remove"
    ):
        check_target(file, REPORT, option="--json")


@pytest.mark.parametrize("name", ["best.pt", "json", ".json", "."])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match=r"^--out .*: the name must end in \.json or \.txt$"):
        check_target(tmp_path / name, REPORT, [".json", ".txt"])


def test_what_killed_writers_of_this_file_left_is_removed(tmp_path):
    killed, alive, own = 999_999_999, os.getppid(), os.getpid()
    kept = [
        f".re[p]ort.json.{alive}.tmp",  # it writes just now
        f".another.json.{killed}.tmp",
        f".re[p]ort.json.{killed}.txt",
        ".re[p]ort.json.x.tmp",
        f".report.json.{killed}.tmp",
    ]
    for name in (*kept, f".re[p]ort.json.{killed}.tmp", f".re[p]ort.json.{own}.tmp"):
        (tmp_path / name).write_text("half")
    check_target(tmp_path / "re[p]ort.json", REPORT)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)
