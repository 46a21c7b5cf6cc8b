"""The pages that the browser tests visit: derived from the sources, because the site is built later."""

from pathlib import Path

from tools.page_code import built_page, pages


def page_files(root: Path) -> list[str]:
    """Return the HTML files that the sources of the project at `root` should give, relative to the site."""
    return sorted(["404.html", *(built_page(page, root, Path()).as_posix() for page in pages(root))])


def unvisited(root: Path, site: Path) -> list[str]:
    """Compare the pages that are visited with the HTML files of the built site; return the differences."""
    visited = set(page_files(root))
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    return [
        *(f"{file}: no browser test visits this page" for file in sorted(built - visited)),
        *(
            f"{file}: the browser tests visit this page, but it was not built"
            for file in sorted(visited - built)
        ),
    ]
