"""The search of a language: what its index takes from the pages, and ours in the place of the theme's."""

import json
import logging
import os
import re
import shutil
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import error_messages
import jieba
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from origins import DATA

from tools.read_yaml import read_yaml

# Sections that hold sources and what guides say: everybody links to them, nobody searches for them.
BOOKKEEPING = re.compile(r'<h2 id="(?:evidence|claims)"')
# Pages for those who come from another guide: the system's own pages say the same in this site's words.
LEFT_OUT = re.compile(r"/source-guide/")
SEARCH_WORKER = "assets/javascripts/search-worker.js"
UNUSED = "assets/javascripts/lunr"  # the languages of the theme's search, which only its worker loaded
CHINESE = re.compile(r"[\u4e00-\u9fff]")
WORD = re.compile(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+")

# What a first search may load is held by a test. A section is found by its beginning, a message by all forms.
CHARACTERS = {"en": 575, "zh": 164}
IN_EXAMPLES = {"en": 340, "zh": 70}
# People paste what these hold.
WHOLE = (
    "facts/programs",
    *(
        f"reference/{page}/"
        for page in ("error-messages", "operators", "wrong-results", "environment-variables")
    ),
)
WORDING = re.compile(r"<li>(.*?)</li>", re.DOTALL)
NAMES = 6  # of a section's code: `torch.mps.synchronize`, in the place of the listing
CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
NAME = re.compile(r"\b(?!self\.)(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z]+_\w+)")
# Sources, for which nobody searches: of a short answer, at its end; of a wrong result, how far each was read.
SOURCES = {
    "facts/": re.compile(r" ?(?:Sources?: |来源：).*$"),
    "reference/wrong-results/": re.compile(
        r"[;；] ?(?:read up to |读到 ?)[\d-]+(?: 为止)?|(?:[\w.-]+/[\w.-]+)?#\d+[,、]? ?"
    ),
}
SHORT = 60  # words: an answer that leads to a fuller one does not stand before it
_leads: dict[str, list[str]] = {}  # section of facts/: the addresses that it links to

jieba.setLogLevel(logging.WARNING)  # the theme cuts Chinese with it, and it reports every start


@event_priority(-100)  # after the hooks that write tables and messages
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave sections of bookkeeping out of the index, and note where short answers lead."""
    if page.url.startswith("facts/"):
        _leads.update(links_of_sections(html, page.url))
    return BOOKKEEPING.sub(r"\g<0> data-search-exclude", html)


@event_priority(-500)  # after the plugin that writes the index
def on_post_build(config: MkDocsConfig) -> None:
    """Replace the search. Raises PluginError when the theme has changed."""
    locale = os.environ.get("DOCS_LOCALE", "en")
    ranking, words = (read_yaml(DATA / f"search/{name}.yaml") for name in ("ranking", "words"))
    replace_search(Path(config.site_dir), ranking, other_words(words, locale), locale)


def links_of_sections(html: str, address: str) -> dict[str, list[str]]:
    """Return the addresses of this site that each section of a page links to, by the section's address."""
    _, *parts = re.split(r'<h\d id="([^"]+)"', html)
    found = {}
    for section, text in zip(parts[::2], parts[1::2], strict=True):
        links = [urljoin(address, link) for link in re.findall(r'href="([^":]+)"', text)]
        found[f"{address}#{section}"] = [link for link in links if not link.startswith(address)]
    return found


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


def plain(marked: str) -> str:
    """Return the text of HTML on one line. Code and the full stop behind it stay together."""
    text = re.sub(r"<[^>]+>", " ", re.sub(r"</?code>|\u200b", "", marked))
    return " ".join(unescape(text).split())


def short_wordings(marked: str, heading: str) -> str:
    """Return a message; of a wording with at most two new words, such as operators, these words alone."""
    known = set(heading.split())

    def shortened(item: re.Match[str]) -> str:
        new = [word for word in plain(item[1]).split() if word not in known]
        known.update(new)
        return item[0] if len(new) > 2 else f"{escape(' '.join(new))} "

    return WORDING.sub(shortened, marked)


def searchable(section: dict[str, str], other: str | None, locale: str) -> dict[str, Any]:
    """Return what the search needs of a section of the theme's index.

    The marks between Chinese words go, which only the theme's search needs. Of listings, names stay.
    """
    address = section["location"]
    marked = CODE.sub(" ", section["text"])
    if address.startswith(error_messages.PAGES):
        marked = short_wordings(marked, plain(section["title"]))
    text = plain(marked)
    for beginning, sources in SOURCES.items():
        if address.startswith(beginning):
            text = sources.sub("", text)
    limits = IN_EXAMPLES if address.startswith("examples/") else CHARACTERS
    entry: dict[str, Any] = {"location": address, "title": plain(section["title"])}
    entry["text"] = text if address.startswith(WHOLE) else text[: limits[locale]]
    listings = " ".join(plain(listing) for listing in CODE.findall(section["text"]))
    names = [name for name in dict.fromkeys(NAME.findall(listings)) if name not in entry["text"]]
    if names:
        entry["code"] = " ".join(names[:NAMES])
    if other:
        entry["other"] = other
    if address in _leads and len(WORD.findall(text)) < SHORT:
        entry["see"] = _leads[address]
    return entry


def packed(sections: list[dict[str, Any]]) -> dict[str, Any]:
    """Return sections as the file holds them, smaller when compressed; search-worker.js unpacks them.

    Each page has rows of anchor, title and text. Other fields are apart, by the number of the section.
    """
    pages: dict[str, list[dict[str, Any]]] = {}
    for section in sections:
        pages.setdefault(section["location"].partition("#")[0], []).append(section)
    ordered = [section for of_page in pages.values() for section in of_page]
    numbers = {section["location"]: number for number, section in enumerate(ordered)}
    rows = {
        page: [
            [section["location"].partition("#")[2], section["title"], section["text"]] for section in of_page
        ]
        for page, of_page in pages.items()
    }
    see = {
        number: [numbers[address] for address in section["see"] if address in numbers]
        for number, section in enumerate(ordered)
        if "see" in section
    }
    fields = {name: [section.get(name, "") for section in ordered] for name in ("other", "code")}
    return {"docs": rows, "see": see} | fields


def replace_search(folder: Path, ranking: dict[str, Any], words: dict[str, str], locale: str) -> None:
    """Put the search of one language in the place of the theme's, and the sections into a file of their own.

    Every page loads the theme's index, which is empty now; the first search loads that file. It is UTF-8 (the
    theme writes each Chinese character as six). What only the theme's search would load is removed.
    Raises PluginError when the theme has changed.
    """
    workers = list((folder / "assets/javascripts/workers").glob("search.*.min.js"))
    if len(workers) != 1:
        raise PluginError(f"{folder}: the theme's search has changed: {len(workers)} workers instead of one")
    (folder / SEARCH_WORKER).replace(workers[0])
    shutil.rmtree(folder / UNUSED)
    index = folder / "search" / "search_index.json"
    content = json.loads(index.read_text(encoding="utf-8"))
    sections = [
        searchable(section, words.get(section["location"]), locale)
        for section in content["docs"]
        if not LEFT_OUT.search(section["location"])
    ]
    text = json.dumps(ranking | packed(sections), ensure_ascii=False, separators=(",", ":"))
    (folder / "search" / "sections.json").write_text(text, encoding="utf-8")
    index.write_text(json.dumps(content | {"docs": []}), encoding="utf-8")
