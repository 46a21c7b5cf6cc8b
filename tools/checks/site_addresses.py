"""Check the addresses in the built site: none leads nowhere, none makes a browser load from another host.

MkDocs checks the links in Markdown, but neither those in notebooks nor those in the HTML of hooks and
templates, and it does not look at hosts. This reads the built HTML pages and stylesheets as a browser does.
In scripts, also inline ones, any address of another host is a defect. The theme's scripts are left out: they
hold addresses for features that this site does not use, and the browser tests watch what they really request.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Address:
    """An address as it is written; `loaded` says whether a browser follows it without being told to."""

    line: int
    where: str  # the element, in words
    text: str
    loaded: bool = True


@dataclass
class Page:
    """The addresses of an HTML page, and the ids that links to it may name."""

    addresses: list[Address] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    """Reads the page's elements one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.page.ids.add(given.get("id", ""))
        for name, value in given.items():
            if name in LOADING_ATTRIBUTES:
                self.add(tag, value)
            elif name in ("srcset", "imagesrcset"):
                for candidate in filter(None, map(str.strip, value.split(","))):
                    self.add(tag, candidate.split()[0])
            elif name in ("href", "xlink:href"):
                describing = tag == "link" and set(given.get("rel", "").split()) <= DESCRIBING_LINKS
                self.add(tag, value, loaded=not (describing or tag in FOLLOWED_BY_HAND))
            elif name == "style":
                for text in style_addresses(value):
                    self.add(f"{tag} style", text)

    def handle_data(self, data: str) -> None:
        tag = self.cdata_elem or ""
        find = {"style": style_addresses, "script": script_addresses}.get(tag)
        for text in find(data) if find else ():
            self.add(tag, text)

    def add(self, tag: str, text: str, loaded: bool = True) -> None:
        self.page.addresses.append(Address(self.getpos()[0], f"<{tag}>", text.strip(), loaded))


def read_page(html: str) -> Page:
    """Return the addresses and ids of a page."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.page


def style_addresses(css: str) -> Iterator[str]:
    """Yield the addresses that a stylesheet loads."""
    for match in _IN_STYLE.finditer(_STYLE_COMMENT.sub("", css)):
        yield match[1] or match[2]


def script_addresses(javascript: str) -> Iterator[str]:
    """Yield the addresses with a host that stand in a script."""
    for match in _IN_SCRIPT.finditer(javascript):
        yield match[0]


class _Site:
    """The built site, which stands at `address`."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        self.pages = {
            path.relative_to(folder).as_posix(): read_page(path.read_text(encoding="utf-8"))
            for path in sorted(folder.rglob("*.html"))
        }

    def wrong(self, file: str, found: Address) -> str | None:
        """Say what is wrong with an address in `file`, None where nothing is."""
        own, target = urlsplit(self.address), urlsplit(urljoin(self.address + file, found.text))
        if target.scheme not in ("http", "https", "ws", "wss"):
            return None  # data:, mailto:, javascript:
        if target.netloc != own.netloc:
            return f"loads from another host: {found.text}" if found.loaded else None
        name = unquote(target.path).removeprefix(own.path) if target.path.startswith(own.path) else "../"
        name += "index.html" if name == "" or name.endswith("/") else ""
        if not (self.folder / name).is_file():
            return f"leads nowhere: {found.text}"
        if target.fragment and name in self.pages and unquote(target.fragment) not in self.pages[name].ids:
            return f"leads to a place that {name} does not have: {found.text}"
        return None

    def other_files(self) -> Iterator[tuple[str, Address]]:
        """Yield what the stylesheets and the site's own scripts load."""
        for path in sorted(self.folder.rglob("*.css")):
            for text in style_addresses(path.read_text(encoding="utf-8")):
                yield path.relative_to(self.folder).as_posix(), Address(1, "the stylesheet", text)
        for path in sorted(self.folder.rglob("*.js")):
            name = path.relative_to(self.folder).as_posix()
            for text in () if THEME_SCRIPTS.match(name) else script_addresses(path.read_text("utf-8")):
                yield name, Address(1, "the script", text)


def check(folder: Path, address: str) -> list[str]:
    """Return what is wrong in the site that was built into `folder` for `address`, one line each."""
    site = _Site(folder, address)
    found = [(name, one) for name, page in site.pages.items() for one in page.addresses]
    if not found:
        return [f"{folder}: there is no page with an address to check"]
    return [
        f"{name}:{one.line}: {one.where} {wrong}"
        for name, one in [*found, *site.other_files()]
        if (wrong := site.wrong(name, one))
    ]
