"""What the search index takes from the pages: Chinese words as the glossary has them, and no evidence."""

import logging
import re

import jieba
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from tools.checks.terms import load_glossary

# Sections that hold sources and what guides say: everybody links to them, nobody searches for them.
BOOKKEEPING = re.compile(r'<h2 id="(?:evidence|claims)"')

jieba.setLogLevel(logging.WARNING)  # it reports every start
for term in load_glossary():
    for word in (term.zh, *term.also):
        if re.fullmatch("[\u4e00-\u9fff]{3,}", word):  # two characters are cut well enough
            jieba.add_word(word)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave sections of bookkeeping out of the index."""
    return BOOKKEEPING.sub(r"\g<0> data-search-exclude", html)
