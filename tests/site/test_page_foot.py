"""The last line of a page: with and without a reading, a history and the repository's address."""

import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

from docs.hooks.page_foot import FORM, dates_of_changes, release
from tests.mkdocs_runs import build_site
from tools.checks.readings import main
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DEVICE = "guides/device/index.html"


def foot(html: Path) -> Tag | None:
    return BeautifulSoup(html.read_text(encoding="utf-8"), "html.parser").select_one("article > .page-foot")


def git(folder: Path, *arguments: str, day: str = "2026-03-04") -> None:
    """Run git in a folder, as somebody, on a day."""
    who = {
        f"GIT_{role}_{name}": "a@b.example" for role in ("AUTHOR", "COMMITTER") for name in ("NAME", "EMAIL")
    }
    dates = {f"GIT_{role}_DATE": f"{day}T12:00:00" for role in ("AUTHOR", "COMMITTER")}
    subprocess.run(["git", *arguments], cwd=folder, env=who | dates | {"PATH": "/usr/bin:/bin"}, check=True)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Return a project whose first page changed last on 5 March, its second on 4 March."""
    pages = tmp_path / "project/docs/en"
    pages.mkdir(parents=True)
    git(tmp_path / "project", "init", "-q")
    for name, text, day in (("a", "1", "2026-03-04"), ("b", "1", "2026-03-04"), ("a", "2", "2026-03-05")):
        (pages / f"{name}.md").write_text(text, encoding="utf-8")
        git(tmp_path / "project", "add", ".")
        git(tmp_path / "project", "commit", "-q", "-m", "x", day=day)
    return tmp_path / "project"


@pytest.mark.program
def test_days_of_changes(history: Path, tmp_path: Path) -> None:
    dates = {path: str(day) for path, day in dates_of_changes(history).items()}
    assert dates == {"docs/en/a.md": "2026-03-05", "docs/en/b.md": "2026-03-04"}
    git(tmp_path, "clone", "-q", "--depth", "1", history.as_uri(), "shallow")
    assert dates_of_changes(tmp_path / "shallow") == {}
    (tmp_path / "none").mkdir()
    assert dates_of_changes(tmp_path / "none") == {}


@pytest.mark.long
@pytest.mark.program
def test_a_page_without_history_and_repository(site: Path) -> None:
    build_site(site / "out", site)
    assert foot(site / "out/index.html") is None and foot(site / "out/404.html") is None
    line = foot(site / "out" / DEVICE)
    assert line.get_text() == f"PyTorch {release()} · Was this right on your Mac?"
    assert line.select("a")[-1]["href"] == "../../project/how-it-is-tested/#your-mac"
    for name in ("search/sections.json", "guides/device/index.md"):
        assert "on your Mac?" not in (site / "out" / name).read_text(encoding="utf-8")


@pytest.mark.program
def test_a_page_that_was_read_in_a_repository(site: Path) -> None:
    main(["stamp", "guides/device.md", "--statements", "1", "--corrected", "0", "--date", "2026-02-03"], site)
    git(site, "init", "-q")
    git(site, "add", "docs/en", "docs/zh")
    git(site, "commit", "-q", "-m", "x")
    build_site(site / "out", site, REPO_URL="https://github.com/you/b")
    english, chinese = foot(site / "out" / DEVICE), foot(site / "out/zh" / DEVICE)
    assert re.search(r" · Checked against sources 2026-02-03 · Changed 2026-03-04 · Was", english.get_text())
    assert " · 2026-02-03 对照来源核对过 · 2026-03-04 修改 · 在你" in chinese.get_text()
    address = urlsplit(chinese.select("a")[-1]["href"])
    asked = {name: value for name, (value,) in parse_qs(address.query).items()}
    assert address.path == "/you/b/issues/new"
    assert asked["title"] == "Fact: Choosing the device" and asked["page"].endswith("/zh/guides/device/")
    form = read_yaml(ROOT / ".github/ISSUE_TEMPLATE" / asked["template"])
    assert asked["template"] == FORM and "page" in {part.get("id") for part in form["body"]}
