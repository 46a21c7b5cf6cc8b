"""Build the site in both languages: English into the folder, Chinese into its `zh/`.

    python -m tools.build_site [--site-dir site] [--lenient]

The environment gives the public addresses: SITE_URL (where the site will stand, also under a sub-path)
and REPO_URL (turns on the edit and source links). Both may be missing.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tools.checks import parity, site_addresses

ROOT = Path(__file__).resolve().parent.parent
LOCAL_ADDRESS = "http://127.0.0.1:8000/"
LANGUAGES = {"en": "", "zh": "zh/"}  # locale: folder. English first: its build empties the folder

# How much more a word counts in a heading than in the text. The theme's 1000 let any heading with one common
# word of a question ("Mac", "memory") stand before the page that answers it.
TITLE_BOOST = 6

# The theme's search, lunr, merges equal branches of its tree of words and compares them written out: each
# letter and the number of what follows it. With words of digits, two different branches can be written alike.
# Then queries for words that begin so end with an error and no result. A mark behind each number prevents it.
WRITTEN_ALIKE, WRITTEN_APART = "e=e+s+o.id}", 'e=e+s+o.id+"|"}'


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
    """Keep one bilingual 404 page and one robots.txt, at the root, where servers look for them.

    The search index is written again as UTF-8, for the theme writes each Chinese character as six, and with
    another weight of headings.
    """
    (site_dir / "zh" / "404.html").unlink()
    for folder in (site_dir, site_dir / "zh"):
        (folder / "sitemap.xml.gz").unlink()  # carries the time of the build: no two builds would be equal
        index = folder / "search" / "search_index.json"
        content = json.loads(index.read_text(encoding="utf-8"))
        content["config"]["fields"]["title"]["boost"] = TITLE_BOOST
        index.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
        repair_search(folder)
    sitemaps = "".join(f"Sitemap: {address}{folder}sitemap.xml\n" for folder in LANGUAGES.values())
    (site_dir / "robots.txt").write_text(f"User-agent: *\nAllow: /\n\n{sitemaps}", encoding="utf-8")


def repair_search(folder: Path) -> None:
    """Let the search of one language find words of digits. Raises BuildFailed when it is another search."""
    (worker,) = (folder / "assets/javascripts/workers").glob("search.*.min.js")
    code = worker.read_text(encoding="utf-8")
    if code.count(WRITTEN_ALIKE) != 1:
        raise BuildFailed(
            f"{worker.name}: the theme's search has changed; does it still need {WRITTEN_APART}?"
        )
    worker.write_text(code.replace(WRITTEN_ALIKE, WRITTEN_APART), encoding="utf-8")


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
