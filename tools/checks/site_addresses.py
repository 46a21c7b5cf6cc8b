"""Check the addresses in the built site: none leads nowhere, none makes a browser load from another host.

MkDocs checks the links in Markdown, but neither those in notebooks nor those in the HTML of hooks and
templates, and it does not look at hosts. This reads the built HTML pages and stylesheets as a browser does.
In scripts, also inline ones, any address of another host is a defect. The theme's scripts are left out: they
hold addresses for features that this site does not use, and the browser tests watch what they really request.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

LOADING_ATTRIBUTES = {"src", "poster", "data", "background", "action", "formaction", "ping"}
FOLLOWED_BY_HAND = {"a", "area"}  # the elements whose `href` nothing loads before somebody clicks
# kinds of <link> that load nothing
DESCRIBING_LINKS = {"alternate", "author", "canonical", "license", "next", "prev"}
THEME_SCRIPTS = re.compile(r"(zh/)?assets/javascripts/(bundle\.|workers/|lunr/)")

_IN_STYLE = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
_IN_SCRIPT = re.compile(r"""(?:\b(?:https?|wss?):|(?<=["'`]))//[\w.-]+[^\s"'`]*""")
_STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class Page(HTMLParser):
    """A page's addresses: those that a browser loads, those that a reader may follow; and the page's ids."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.followed: list[str] = []
        self.ids: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.ids.add(given.get("id", ""))
        describing = tag == "link" and set(given.get("rel", "").split()) <= DESCRIBING_LINKS
        for name, value in given.items():
            if name in ("href", "xlink:href"):
                by_hand = describing or tag in FOLLOWED_BY_HAND
                (self.followed if by_hand else self.loaded).append(value)
            elif name in LOADING_ATTRIBUTES:
                self.loaded.append(value)
            elif name in ("srcset", "imagesrcset"):
                self.loaded += [candidate.split()[0] for candidate in value.split(",") if candidate.strip()]
            elif name == "style":
                self.loaded += style_addresses(value)

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            self.loaded += style_addresses(data)
        elif self.cdata_elem == "script":
            self.loaded += _IN_SCRIPT.findall(data)


def style_addresses(css: str) -> list[str]:
    """Return the addresses that a stylesheet loads."""
    return ["".join(found) for found in _IN_STYLE.findall(_STYLE_COMMENT.sub("", css))]


def addresses(folder: Path, pages: dict[str, Page]) -> Iterator[tuple[str, str, bool]]:
    """Yield (file, address, whether a browser loads it) of the pages, stylesheets and own scripts."""
    for name, page in pages.items():
        yield from ((name, text.strip(), True) for text in page.loaded)
        yield from ((name, text.strip(), False) for text in page.followed)
    for path in sorted([*folder.rglob("*.css"), *folder.rglob("*.js")]):
        name, text = path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
        if not THEME_SCRIPTS.match(name):
            found = style_addresses(text) if path.suffix == ".css" else _IN_SCRIPT.findall(text)
            yield from ((name, one, True) for one in found)


def check(folder: Path, address: str) -> list[str]:
    """Return what is wrong in the site that was built into `folder` for `address`, one line each."""
    files = sorted(folder.rglob("*.html"))
    pages = {path.relative_to(folder).as_posix(): Page(path.read_text(encoding="utf-8")) for path in files}
    if not any(page.loaded or page.followed for page in pages.values()):
        return [f"{folder}: there is no page with an address to check"]
    own = urlsplit(address)
    wrong: list[str] = []
    for file, text, loaded in addresses(folder, pages):
        target = urlsplit(urljoin(address + file, text))
        path, anchor = unquote(target.path), unquote(target.fragment)
        name = path.removeprefix(own.path) if path.startswith(own.path) else "../"
        name += "index.html" if name == "" or name.endswith("/") else ""
        if target.scheme not in ("http", "https", "ws", "wss"):
            continue  # data:, mailto:, javascript:
        if target.netloc != own.netloc:
            wrong += [f"{file}: loads from another host: {text}"] if loaded else []
        elif not (folder / name).is_file():
            wrong.append(f"{file}: leads nowhere: {text}")
        elif anchor and name in pages and anchor not in pages[name].ids:
            wrong.append(f"{file}: leads to a place that {name} does not have: {text}")
    return wrong
