"""Set the sources at the end of an answer apart from it, in small type (class `sources` in site.css)."""

import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from tools.checks.readings import QUESTIONS

_SOURCES = re.compile(r"(?:<p>|\s*)(?P<sources>(?:Source: |来源：)(?:(?!</p>).)*</p>)", re.S)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page of questions with the sources of each answer in a paragraph of their own."""
    return apart(html) if page.file.src_uri.endswith(QUESTIONS) else html


def apart(html: str) -> str:
    """Begin a paragraph at each `Source:` that does not begin one already."""

    def paragraph(found: re.Match[str]) -> str:
        end = "" if found[0].startswith("<p>") else "</p>\n"
        return f'{end}<p class="sources">{found["sources"]}'

    return _SOURCES.sub(paragraph, html)
