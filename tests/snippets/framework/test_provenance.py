"""What a run records about its circumstances."""

import json
import shlex
import subprocess
import sys

import torch

from snippets.framework.provenance import git_commit, provenance


def test_versions_and_command_are_recorded():
    facts = provenance()
    assert facts["torch"] == torch.__version__
    assert facts["command"] == shlex.join(sys.orig_argv)
    assert json.loads(json.dumps(facts)) == facts


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
