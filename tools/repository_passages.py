"""Addresses on pages: the repository's (environment variable REPO_URL), with or without it, and the site's.

A passage for one of the two cases stands between comments, each alone on its line; either may be left out:

    <!-- with repository -->
    <!-- without repository -->
    <!-- end repository -->

In what is shown with the address, in text and in included commands, `$REPO_URL` stands for it, and
`$REPO_PATH` for what follows its host, such as `you/handbook`. `$SITE_URL` stands for the address of the
English home page, with a slash at its end, which is always known.
"""

import os
import re
from urllib.parse import urlsplit

PLACE = "$REPO_URL"
PATH = "$REPO_PATH"
SITE = "$SITE_URL"
PASSAGE = re.compile(r"<!-- (?P<name>(?:with|without|end) repository) -->")
_AFTER = {  # what may follow each mark
    "end repository": {"with repository", "without repository"},
    "with repository": {"without repository", "end repository"},
    "without repository": {"end repository"},
}


def repository_address() -> str:
    """Return the address of the repository, without a slash at its end; empty when it is not known."""
    return os.environ.get("REPO_URL", "").rstrip("/")


def site_address() -> str:
    """Return the address of the English home page, as mkdocs.yml reads it."""
    return os.environ.get("SITE_URL", "http://127.0.0.1:8000/")


def home_address(site_url: str) -> str:
    """Return the address of the English home page, given that of the language that is being built."""
    return site_url.removesuffix("zh/") if os.environ.get("DOCS_LOCALE") == "zh" else site_url


def passages_for(markdown: str, address: str) -> str:
    """Return a page's Markdown with the passages for this address. Raises ValueError for a wrong mark."""
    kept, mark = [], "end repository"
    for number, line in enumerate(markdown.split("\n"), start=1):
        found = PASSAGE.fullmatch(line.strip())
        if found and found["name"] not in _AFTER[mark]:
            raise ValueError(f"line {number}: {line.strip()!r} cannot follow <!-- {mark} -->")
        if found:
            mark = found["name"]
        elif mark == "end repository" or (mark == "with repository") == bool(address):
            kept.append(line)
    if mark != "end repository":
        raise ValueError(f"<!-- {mark} --> needs <!-- end repository -->")
    return "\n".join(kept)


def with_addresses(text: str, address: str, site: str) -> str:
    """Return text or code with the addresses in the places of `$REPO_URL`, `$REPO_PATH` and `$SITE_URL`.

    Raises ValueError when the repository's is needed and empty.
    """
    for place in (PLACE, PATH):
        if place in text and not address:
            raise ValueError(
                f"{place} is shown also when it is not known: put it behind <!-- with repository -->"
            )
    for place, known in ((PLACE, address), (PATH, urlsplit(address).path.strip("/")), (SITE, site)):
        text = text.replace(f'"{place}"', known).replace(place, known)
    return text
