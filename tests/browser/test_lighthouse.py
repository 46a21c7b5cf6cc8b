"""Lighthouse over pages of each kind. Performance is printed, not asserted: it is a timing.

npx installs this Node program (about 100 MB) into npm's cache; Node, npm and Chromium have to be there.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.browser.site_pages import address, page_files
from tests.system_browser import system_browser

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = (  # one page of each kind
    "",
    "guides/device/",
    "start/which-pytorch/",
    "start/first-run-notebook/",
    "examples/cifar-optimizers/how-it-works/",
)
LIGHTHOUSE = ("npx", "--yes", "lighthouse@12.8.2")  # 13 needs Node 22.19
BROWSER_FLAGS = "--headless=new --no-first-run --disable-background-networking --disable-sync"


def audit(url, form):
    """Return the scores of a page on a phone or a computer, 0 to 100 by category, and what failed."""
    flags = BROWSER_FLAGS + (" --no-sandbox" if os.geteuid() == 0 else "")
    command = [*LIGHTHOUSE, url, "--quiet", "--output=json", f"--chrome-flags={flags}"]
    done = subprocess.run(
        command + (["--preset=desktop"] if form == "desktop" else []),
        env=os.environ | {"CHROME_PATH": system_browser(), "npm_config_ignore_scripts": "true"},
        capture_output=True,
        check=True,
    )
    report = json.loads(done.stdout)
    parts = [one for name, one in report["categories"].items() if name != "performance"]
    weighed = {part["id"] for one in parts for part in one["auditRefs"] if part["weight"]}
    failed = [name for name in sorted(weighed) if report["audits"][name]["score"] == 0]
    return {name: round(one["score"] * 100) for name, one in report["categories"].items()}, failed


def test_the_sample_is_part_of_the_site():
    pages = {address(file) for file in page_files(ROOT)}
    assert {language + path for language in ("", "zh/") for path in SAMPLE} <= pages


@pytest.mark.long
@pytest.mark.skipif(
    not (shutil.which("npx") and system_browser()), reason="Lighthouse needs Node, npm and Chromium"
)
@pytest.mark.parametrize("form", ["mobile", "desktop"])
@pytest.mark.parametrize("language", ["", "zh/"])
@pytest.mark.parametrize("path", SAMPLE)
def test_lighthouse_finds_nothing_to_mend(site_url, path, language, form):
    scores, failed = audit(site_url + language + path, form)
    print(form, scores)
    assert not failed
    assert all(scores[category] == 100 for category in ("accessibility", "best-practices", "seo"))
