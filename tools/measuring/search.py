"""How often the search finds the right section first: queries as people type them, in a real browser.

    python -m tools.measuring.search tuning            those that the search and the pages are tuned with
    python -m tools.measuring.search held_out          others, for the result: never tuned on
    python -m tools.measuring.search tuning --misses   names the queries whose section is not the first

docs/data/search/<set>.yaml holds, by language, each query, what its writer wanted to find, and what answers
it: a section (`guides/memory.md#limits`; `#top` is a page's beginning), or a page whose every section does.
The writers had not read the pages. Queries that nothing answers are counted, but are no part of the shares.
The search of site/ is asked; build it before. The result goes to docs/data/results/search.yaml.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tools.measuring.result_entries import RESULTS, origin, store
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
SETS = ("tuning", "held_out")
FOLDERS = {"en": "", "zh": "zh/"}
SHOWN = 3  # results that a reader looks at before typing something else
DATA = RESULTS / "search.yaml"
HEADER = "# Measured by tools/measuring/search.py: right sections first, and among the first 3.\n"
PASTED = "error"  # the kind of queries that are pasted; the others are typed


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that prints nothing."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Yield the address under which a folder is served on this machine."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def ask(page: Any, query: str) -> list[str]:
    """Return the addresses of the results for a query, the best first."""
    field = page.locator(".md-search__input")
    answered = "/[0-9]|No |没有/.test(document.querySelector('.md-search-result__meta').textContent)"
    field.fill("")
    page.wait_for_function(f"() => !({answered})")  # what the query before found is gone
    field.fill(query)
    page.wait_for_function(f"() => {answered}")
    page.wait_for_timeout(150)
    return page.locator(".md-search-result__item > a").evaluate_all("links => links.map(link => link.href)")


def address(link: str, base: str) -> tuple[str, str]:
    """Return page and section of a link, `guides/memory/` and `limits`; what marks words is left out."""
    path, _, section = link.removeprefix(base).partition("#")
    return path.partition("?")[0], section


def published(name: str) -> tuple[str, str | None]:
    """Return address and section of what answers, of `guides/memory.md#limits` `guides/memory/` and `limits`.

    The section is "" for the page's beginning, and None where any will do.
    """
    file, mark, section = name.partition("#")
    path = PurePosixPath(file).with_suffix("")
    if path.name == "index":
        path = path.parent
    address = "" if path == PurePosixPath() else f"{path}/"
    return address, (section if section != "top" else "") if mark else None


def place(found: Iterable[str], wanted: Iterable[str], base: str) -> int | None:
    """Return the place (1, 2, …) of the first result that answers, or None."""
    answers = {published(name) for name in wanted}
    for number, link in enumerate(found, 1):
        page, section = address(link, base)
        if {(page, section), (page, None)} & answers:
            return number
    return None


def shares(places: Sequence[int | None]) -> dict[str, float]:
    """Return the shares of queries whose section was the first, and among those that are looked at."""
    first = sum(found == 1 for found in places)
    near = sum(found is not None and found <= SHOWN for found in places)
    return {
        "queries": len(places),
        "first": round(first / (len(places) or 1), 4),
        f"first_{SHOWN}": round(near / (len(places) or 1), 4),
    }


def measure(browser: Any, url: str, queries: dict[str, list[dict[str, Any]]]) -> dict[str, list[int | None]]:
    """Return the place of the right section for each query, by language."""
    found = {}
    for language, entries in queries.items():
        page = browser.new_page()
        base = url + FOLDERS[language]
        page.goto(base, wait_until="load")
        page.locator(".md-search__input").click()
        found[language] = [place(ask(page, entry["query"]), entry["pages"], base) for entry in entries]
        page.close()
    return found


def by_kind(entries: list[dict[str, Any]], places: list[int | None]) -> dict[str, Any]:
    """Return the shares of the queries that have an answer, all and by kind, and how many have none."""
    answered = [(entry["kind"], at) for entry, at in zip(entries, places, strict=True) if entry["pages"]]
    kinds = sorted({kind for kind, _ in answered})
    return shares([at for _, at in answered]) | {
        "without_answer": len(entries) - len(answered),
        "typed": shares([at for kind, at in answered if kind != PASTED]),
        "kinds": {kind: shares([at for of_kind, at in answered if of_kind == kind]) for kind in kinds},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Ask all queries of a set, print the shares, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--site", type=Path, default=ROOT / "site")
    parser.add_argument("--misses", action="store_true", help="list the queries with another section first")
    parser.add_argument("--file", type=Path, default=DATA)
    options = parser.parse_args(argv)
    queries = read_yaml(ROOT / "docs" / "data" / "search" / f"{options.set}.yaml")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, served(options.site) as url:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        places = measure(browser, url, queries)
        browser.close()
    command = f"python -m tools.measuring.search {options.set}"
    result = {"set": options.set} | origin(command, ("mkdocs-material",))
    for language, found in places.items():
        result[language] = by_kind(queries[language], found)
        print(language, result[language])
        for entry, at in zip(queries[language], found, strict=True) if options.misses else ():
            if at != 1 and entry["pages"]:
                print(f"{at or '-':>3} {entry['query']}  ->  {', '.join(entry['pages'])}")
    store(result, options.file, HEADER, same=("set",))
    return 0


if __name__ == "__main__":
    sys.exit(main())
