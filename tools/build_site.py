"""Build the site in both languages: English into the folder, Chinese into its `zh/`.

    python -m tools.build_site [--site-dir site] [--lenient]

The environment gives the public addresses: SITE_URL (where the site will stand, also under a sub-path)
and REPO_URL (turns on the edit and source links). Both may be missing.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from tools.checks import parity, site_addresses

ROOT = Path(__file__).resolve().parent.parent
LOCAL_ADDRESS = "http://127.0.0.1:8000/"
LANGUAGES = {"en": "", "zh": "zh/"}  # locale: folder. English first: its build empties the folder

SEARCH_WORKER = "assets/javascripts/search-worker.js"
RANKING = "docs/data/search/ranking.yaml"
OTHER_WORDS = "docs/data/search/words.yaml"
UNUSED = "assets/javascripts/lunr"  # the languages of the theme's search, which only its worker loaded
CHINESE = re.compile(r"[\u4e00-\u9fff]")


class BuildFailed(RuntimeError):
    """The site did not build; the messages before say why."""


def build(site_dir: Path, strict: bool = True, site_url: str | None = None, root: Path = ROOT) -> None:
    """Build both languages of the project at `root` into `site_dir` and tidy what only one may own.

    `strict` turns every warning of MkDocs, every difference between the languages and every wrong address in
    the built pages into a failure. Raises BuildFailed.
    """
    report(parity.check(root).defects, strict, "the two languages differ")
    site_dir = site_dir.resolve()
    address = (site_url or os.environ.get("SITE_URL") or LOCAL_ADDRESS).rstrip("/") + "/"
    for locale, folder in LANGUAGES.items():
        environment = os.environ | {
            "DOCS_LOCALE": locale,
            "DOCS_SITE_URL": address + folder,
            "NO_MKDOCS_2_WARNING": "1",  # silences the theme's banner about MkDocs 2
        }
        command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(site_dir / folder)]
        command += ["--strict"] if strict else []
        if not run_mkdocs(command, root, environment):
            raise BuildFailed(f"the {locale} site did not build; see the messages above")
    finish(site_dir, address)
    report(site_addresses.check(site_dir, address), strict, "the built site has wrong addresses")


def report(defects: list[str], strict: bool, summary: str) -> None:
    """Print defects, as warnings or as errors. Raises BuildFailed when `strict` and there is one."""
    for defect in defects:
        print(f"{'error' if strict else 'warning'}: {defect}", file=sys.stderr)
    if strict and defects:
        raise BuildFailed(f"{summary}; see the messages above")


def run_mkdocs(command: list[str], root: Path, environment: dict[str, str]) -> bool:
    """Run MkDocs and print what it says except for its progress; return whether it succeeded.

    Its own --quiet would not do: it hides the warnings as well, and --strict does not count hidden ones.
    """
    done = subprocess.run(
        command,
        cwd=root,
        env=environment | {"PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    for line in done.stdout.splitlines():
        if not line.startswith("INFO "):
            print(line, file=sys.stderr, flush=True)
    return done.returncode == 0


def finish(site_dir: Path, address: str) -> None:
    """Add the search; keep one bilingual 404 page and one robots.txt, at the root, where servers look."""
    (site_dir / "zh" / "404.html").unlink()
    ranking = yaml.safe_load((ROOT / RANKING).read_text(encoding="utf-8"))
    words = yaml.safe_load((ROOT / OTHER_WORDS).read_text(encoding="utf-8"))
    for locale, name in LANGUAGES.items():
        folder = site_dir / name
        (folder / "sitemap.xml.gz").unlink()  # carries the time of the build: no two builds would be equal
        replace_search(folder, ranking, other_words(words, locale))
    sitemaps = "".join(f"Sitemap: {address}{folder}sitemap.xml\n" for folder in LANGUAGES.values())
    (site_dir / "robots.txt").write_text(f"User-agent: *\nAllow: /\n\n{sitemaps}", encoding="utf-8")


def other_words(words: dict[str, dict[str, list[str]]], locale: str) -> dict[str, str]:
    """Return each section's other words in a language, by the section's address.

    Words with a Chinese character are Chinese; the others are for both languages.
    """
    chosen = {}
    for page, sections in words.items():
        for section, wordings in sections.items():
            fitting = [each for each in wordings if locale == "zh" or not CHINESE.search(each)]
            if fitting:
                chosen[f"{page}#{section}" if section else page] = ", ".join(fitting)
    return chosen


def replace_search(folder: Path, ranking: dict[str, Any], words: dict[str, str]) -> None:
    """Put the search of one language in the place of the theme's, and the sections into a file of their own.

    Every page loads the theme's index, which is empty now; the first search loads that file. It is UTF-8 (the
    theme writes each Chinese character as six) and without the marks between Chinese words, which only the
    theme's search needs. Each section has its other words, by its address. What only the theme's search would
    load is removed. Raises BuildFailed when the theme has changed.
    """
    workers = list((folder / "assets/javascripts/workers").glob("search.*.min.js"))
    if len(workers) != 1:
        raise BuildFailed(f"{folder}: the theme's search has changed: {len(workers)} workers instead of one")
    (folder / SEARCH_WORKER).replace(workers[0])
    shutil.rmtree(folder / UNUSED)
    index = folder / "search" / "search_index.json"
    content = json.loads(index.read_text(encoding="utf-8"))
    for section in content["docs"]:
        if section["location"] in words:
            section["other"] = words[section["location"]]
    sections = json.dumps(ranking | {"docs": content["docs"]}, ensure_ascii=False, separators=(",", ":"))
    (folder / "search" / "sections.json").write_text(sections.replace("\u200b", ""), encoding="utf-8")
    index.write_text(json.dumps(content | {"docs": []}), encoding="utf-8")


def main() -> int:
    """Build from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Build both languages of the site.", allow_abbrev=False)
    parser.add_argument("--site-dir", type=Path, default=ROOT / "site", help="where to (default: site/)")
    parser.add_argument("--lenient", action="store_true", help="warn instead of failing")
    arguments = parser.parse_args()
    started = time.perf_counter()
    try:
        build(arguments.site_dir, strict=not arguments.lenient)
    except BuildFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"built both languages into {arguments.site_dir} in {time.perf_counter() - started:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
