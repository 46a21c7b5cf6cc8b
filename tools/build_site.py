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

from tools import parity

ROOT = Path(__file__).resolve().parent.parent
LOCAL_ADDRESS = "http://127.0.0.1:8000/"
LANGUAGES = {"en": "", "zh": "zh/"}  # locale: folder. English first: its build empties the folder


class BuildFailed(RuntimeError):
    """A language did not build; MkDocs has printed why."""


def build(site_dir: Path, strict: bool = True, site_url: str | None = None, quiet: bool = True) -> None:
    """Build both languages into `site_dir` and tidy what only one of the two builds may own.

    `strict` turns every warning of MkDocs, and every difference between the languages, into a failure.
    Raises BuildFailed.
    """
    differences = parity.check(ROOT).defects
    for difference in differences:
        print(f"{'error' if strict else 'warning'}: {difference}", file=sys.stderr)
    if strict and differences:
        raise BuildFailed("the two languages differ; see the messages above")
    site_dir = site_dir.resolve()
    address = (site_url or os.environ.get("SITE_URL") or LOCAL_ADDRESS).rstrip("/") + "/"
    for locale, folder in LANGUAGES.items():
        options = ["--strict"] if strict else []
        options += ["--quiet"] if quiet else []
        environment = os.environ | {
            "DOCS_LOCALE": locale,
            "DOCS_SITE_URL": address + folder,
            "NO_MKDOCS_2_WARNING": "1",  # silences the theme's banner about MkDocs 2
        }
        command = [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            *options,
            "--site-dir",
            str(site_dir / folder),
        ]
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            raise BuildFailed(f"the {locale} site did not build; see the messages above")
    finish(site_dir, address)


def finish(site_dir: Path, address: str) -> None:
    """Keep one bilingual 404 page and one robots.txt, at the root, where servers look for them.

    The search index is written again as UTF-8: the theme writes each Chinese character as six.
    """
    (site_dir / "zh" / "404.html").unlink()
    for folder in (site_dir, site_dir / "zh"):
        (folder / "sitemap.xml.gz").unlink()  # carries the time of the build: no two builds would be equal
        index = folder / "search" / "search_index.json"
        content = json.loads(index.read_text(encoding="utf-8"))
        index.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    sitemaps = "".join(f"Sitemap: {address}{folder}sitemap.xml\n" for folder in LANGUAGES.values())
    (site_dir / "robots.txt").write_text(f"User-agent: *\nAllow: /\n\n{sitemaps}", encoding="utf-8")


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
