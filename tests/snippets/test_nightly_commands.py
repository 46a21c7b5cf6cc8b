"""The commands of the page about nightly builds, with indexes and a history of PyTorch on disk."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.tiny_wheels import make_wheel

ROOT = Path(__file__).resolve().parents[2]
SHELL = ROOT / "snippets" / "shell"
NIGHTLY_INDEX = "https://download.pytorch.org/whl/nightly/cpu"
STABLE, STABLE_VISION = "2.15.0", "0.29.2"  # those that the section `back` names
OLDER, NEWER = "2.16.0.dev20261118", "2.16.0.dev20261120"


def section(file, name):
    """Return the lines of a section, as the page shows them."""
    text = (SHELL / file).read_text(encoding="utf-8")
    return re.search(rf"\[start:{name}\]\n(.*?)# --8<-- \[end:{name}\]", text, re.DOTALL).group(1)


def clean_environment(**more):
    personal = ("PIP_", "GIT_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(personal)}
    quiet = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return kept | quiet | {"GIT_CONFIG_GLOBAL": os.devnull} | more


def bash(lines, folder, **more):
    return subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", lines],
        cwd=folder,
        env=clean_environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )


# ---- installing, pinning, going back ----


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    """Return a folder with an index of releases, and one of nightlies, which has NumPy, too."""
    folder = tmp_path_factory.mktemp("indexes")
    stable, nightly = folder / "stable", folder / "nightly"
    make_wheel(stable, "torch", STABLE, needs=["numpy"])
    make_wheel(stable, "torchvision", STABLE_VISION, needs=["torch>=2.14.0"])
    make_wheel(stable, "numpy", "2.4.0")
    make_wheel(nightly, "numpy", "2.3.0")
    for torch in (OLDER, NEWER):
        make_wheel(nightly, "torch", torch, needs=["numpy"])
        make_wheel(nightly, "torchvision", torch.replace("2.16", "0.30"), needs=[f"torch=={torch}"])
    return folder


@pytest.mark.long
def test_install_pin_keep_and_go_back(indexes, tmp_path):
    """The sections in the order of the page, in an environment that begins with nothing."""

    def run(name, *also):
        lines = section("nightly.sh", name).replace(NIGHTLY_INDEX, (indexes / "nightly").as_uri())
        enter = "" if name == "install" else ". torch-nightly/bin/activate\n"
        done = bash("\n".join([enter + lines, *also]), tmp_path, PIP_INDEX_URL=(indexes / "stable").as_uri())
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    versions = "python -m pip list --format freeze"
    assert f"torch=={NEWER}\n" in run("install", versions)
    assert re.findall(r"dev\d+", run("dates").partition("Available versions:")[2].splitlines()[0]) == [
        NEWER[7:],
        OLDER[7:],
    ]
    assert f"torchvision=={OLDER.replace('2.16', '0.30')}\n" in run("pin", versions)
    assert f"torch=={OLDER}\n" in (tmp_path / "nightly.txt").read_text()
    run("keep")
    assert [path.name for path in (tmp_path / "wheels").iterdir()] == [f"torch-{OLDER}-py3-none-any.whl"]
    assert f"torch=={STABLE}\n" in run("back", versions)


# ---- which commit a nightly was made from ----


def git(repository, *arguments, **more):
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
    done = subprocess.run(
        ["git", "-C", repository, *arguments],
        env=clean_environment(**names, GIT_COMMITTER_EMAIL="a@b", **more),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Return PyTorch's history in small, and commits of it by name.

    As in its own repository, the branch `nightly` shares no commit with `main`: each commit of it has the
    nightly before as its only parent, and names the commit of `main` in its title.
    """
    origin = tmp_path_factory.mktemp("history") / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    commits, nightly = {}, None
    for name, title in (
        ("start", "Initial commit"),
        ("fix", "[MPS] Take the NHWC path in the conv backward (#193623)"),
        ("other", "Fix a typo (#193700)"),
        ("revert", 'Revert "[MPS] Take the NHWC path in the conv backward (#193623)"'),
    ):
        git(origin, "commit", "-q", "--allow-empty", "-m", title)
        commits[name] = git(origin, "rev-parse", "HEAD")
        parent = ["-p", nightly] if nightly else []
        title = f"2026-11-18 nightly release ({commits[name]})"
        nightly = git(origin, "commit-tree", *parent, "HEAD^{tree}", "-m", title)
        commits[f"nightly of {name}"] = nightly
    git(origin, "branch", "nightly", nightly)
    git(origin, "branch", "release", commits["fix"])
    return origin, commits


@pytest.mark.program
@pytest.mark.parametrize(
    ("built", "found", "later"),
    [
        ("nightly of start", [], ["revert", "fix"]),
        ("nightly of fix", ["fix"], ["revert"]),
        ("nightly of other", ["fix"], ["revert"]),
        ("nightly of revert", ["revert", "fix"], []),
        ("fix", ["fix"], None),  # a release: its own commit is part of the history
    ],
)
def test_is_the_fix_in_this_build(history, tmp_path, built, found, later):
    origin, commits = history
    package = tmp_path / "work" / "torch"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").write_text("from torch import version\n")
    package.joinpath("version.py").write_text(f"git_version = {commits[built]!r}\n")
    instead = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{origin.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/pytorch/pytorch",
    }
    lines = section("nightly_commit.sh", "contains")
    if later is not None:
        lines += "echo later\n" + section("nightly_commit.sh", "between")
    done = bash(lines, tmp_path / "work", **instead)
    assert done.returncode == 0, done.stderr
    before, _, after = done.stdout.partition("later\n")
    names = {commit[:7]: name for name, commit in commits.items()}
    assert [names[line[:7]] for line in before.splitlines()] == found
    assert [names[line[:7]] for line in after.splitlines()] == (later or [])
