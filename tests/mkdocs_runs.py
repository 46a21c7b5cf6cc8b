"""Runs of plain `mkdocs`, in a process of their own, as somebody types it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def environment(**variables: str) -> dict[str, str]:
    """Return this environment without what changes a build, and with `variables`."""
    personal = ("DOCS_LOCALE", "SITE_URL", "REPO_URL")
    kept = {name: value for name, value in os.environ.items() if name not in personal}
    return kept | {"NO_MKDOCS_2_WARNING": "1"} | variables


def mkdocs_build(folder: Path, root: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Build the project at `root` strictly into `folder`; what MkDocs reports is in the result's stderr."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    return subprocess.run(
        command, cwd=root, env=environment(**variables), capture_output=True, text=True, check=False
    )


def build_site(folder: Path, root: Path = ROOT, **variables: str) -> None:
    """Build as above; the build has to succeed."""
    done = mkdocs_build(folder, root, **variables)
    assert done.returncode == 0, done.stderr
