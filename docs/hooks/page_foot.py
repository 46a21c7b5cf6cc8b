"""The last line of a page: what it was checked with and when, when it changed, and where to report a fault.

docs/overrides/partials/page-foot.html shows it, below the page's own text, so it is neither in the search nor
in the page's Markdown. The day of a change comes from git's history and is left out where there is none.
"""

import os
import subprocess
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from origins import DATA

from tools.checks.readings import page_dates
from tools.read_yaml import read_yaml

EXPLANATION = "project/how-it-is-tested/"
FORM = "wrong-fact.yml"  # of .github/ISSUE_TEMPLATE; the question `page` of it is filled in
WORDS = {
    "en": {
        "release": "PyTorch {0}",
        "read": "Checked against sources {0}",
        "changed": "Changed {0}",
        "question": "Was this right on your Mac?",
    },
    "zh": {
        "release": "PyTorch {0}",
        "read": "{0} 对照来源核对过",
        "changed": "{0} 修改",
        "question": "在你的 Mac 上也是这样吗？",
    },
}


def on_page_context(
    context: dict[str, Any], page: Page, config: MkDocsConfig, nav: Navigation
) -> dict[str, Any]:
    """Give the template the parts of the line as (text, address or ""); the home page has none."""
    if page.is_homepage:
        return context
    root, language = Path(config.config_file_path).parent, os.environ.get("DOCS_LOCALE", "en")
    name = page.file.src_uri.removeprefix(f"{language}/")
    changed = dates_of_changes(root).get(f"docs/{page.file.src_uri}")
    repository = config.extra.get("repository") or ""
    words, how = WORDS[language], EXPLANATION
    parts = [
        (page.meta.get("verified") or words["release"].format(release()), how),
        (words["read"].format(read) if (read := readings(root).get(name)) else "", ""),
        (words["changed"].format(changed) if changed else "", ""),
        (words["question"], form_address(repository, page) if repository else f"{how}#your-mac"),
    ]
    context["page_foot"] = [part for part in parts if part[0]]
    return context


readings = cache(page_dates)  # docs/hooks/whole_site.py empties these before each build


@cache
def release() -> str:
    """Return the newest release of PyTorch that the pages know."""
    return next(iter(read_yaml(DATA / "versions.yaml")["releases"]))


def form_address(repository: str, page: Page) -> str:
    """Return where a reader reports a fault of this page, with its title and its address filled in."""
    filled = {"template": FORM, "title": f"Fact: {page.title}", "page": page.canonical_url}
    return f"{repository}/issues/new?{urlencode(filled)}"


@cache
def dates_of_changes(root: Path) -> dict[str, date]:
    """Return when each page was last changed in git's history, by its path.

    The oldest commit of a shallow clone seems to add every file, so what it names is left out.
    """
    command = ["git", "log", "--format=%x00%as %D", "--name-only", "--relative", "--", "docs/en", "docs/zh"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError:  # no git here
        return {}
    found: dict[str, date] = {}
    for commit in done.stdout.split("\0")[1:]:
        head, *files = commit.split("\n")
        if "grafted" not in head:
            found = {path: date.fromisoformat(head[:10]) for path in files if path} | found
    return found
