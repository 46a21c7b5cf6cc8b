"""What the search index takes from the pages: everything but sources and what guides say."""

import logging
import re

import jieba
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

# Sections that hold sources and what guides say: everybody links to them, nobody searches for them.
BOOKKEEPING = re.compile(r'<h2 id="(?:evidence|claims)"')

jieba.setLogLevel(logging.WARNING)  # the theme cuts Chinese with it, and it reports every start


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave sections of bookkeeping out of the index."""
    return BOOKKEEPING.sub(r"\g<0> data-search-exclude", html)
