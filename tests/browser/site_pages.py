"""Which pages the browser tests visit: the sources say it, because tests are collected before the build."""

from collections.abc import Iterable
from pathlib import Path

from docs.hooks.moved_pages import read_moved
from tools.checks.page_code import LANGUAGES, built_page, pages

ROOT = Path(__file__).resolve().parents[2]


def page_files(root: Path) -> list[str]:
    """Return the HTML files, relative to the site, that the sources of the project at `root` should give."""
    return sorted(["404.html", *(built_page(page, root, Path()).as_posix() for page in pages(root))])


def address(file: str) -> str:
    """Return the address of an HTML file as links write it, relative to the site."""
    return file.removesuffix("index.html")


def unvisited(visited: Iterable[str], site: Path) -> list[str]:
    """Compare the visited HTML files with those of the built site; return the differences."""
    gone = [page for page, places in read_moved(ROOT).items() if "" in places]  # these lead to others
    moved = {
        built_page(ROOT / "docs" / language / page, ROOT, Path()).as_posix()
        for page in gone
        for language in LANGUAGES
    }
    visited = set(visited)
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - moved
    return [
        *(f"{file}: no browser test visits this page" for file in sorted(built - visited)),
        *(
            f"{file}: the browser tests visit this page, but it was not built"
            for file in sorted(visited - built)
        ),
    ]
