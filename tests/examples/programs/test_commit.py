"""Which commit the code is from, with git and without."""

import subprocess

from examples.programs.identity import NOTE, git_commit, source_commit


def test_commit_of_a_folder(tmp_path):
    assert git_commit(tmp_path) is None

    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(
            ["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-q", "-m", "first")
    head = git("rev-parse", "HEAD")
    assert git_commit(tmp_path) == head
    (tmp_path / "file").write_text("2")
    assert git_commit(tmp_path) == f"{head}-dirty"


def test_no_git_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_commit(tmp_path) is None


def test_unpacked_zip_names_its_commit_within_another_repository(tmp_path):
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q"], check=True)
    assert source_commit(tmp_path) is None  # nothing is committed yet
    (tmp_path / NOTE).write_text("0123abc\n", encoding="utf-8")
    assert source_commit(tmp_path) == "0123abc"
