"""The search of a language: what its index takes from the pages, and ours in the place of the theme's."""

import json
import logging
import os
import re
import shutil
from pathlib import Path
from typing import Any

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
SEARCH_WORKER = "assets/javascripts/search-worker.js"
UNUSED = "assets/javascripts/lunr"  # the languages of the theme's search, which only its worker loaded
CHINESE = re.compile(r"[\u4e00-\u9fff]")

jieba.setLogLevel(logging.WARNING)  # the theme cuts Chinese with it, and it reports every start


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave sections of bookkeeping out of the index."""
    return BOOKKEEPING.sub(r"\g<0> data-search-exclude", html)


@event_priority(-500)  # after the plugin that writes the index
def on_post_build(config: MkDocsConfig) -> None:
    """Replace the search. Raises PluginError when the theme has changed."""
    ranking, words = (read_yaml(DATA / f"search/{name}.yaml") for name in ("ranking", "words"))
    replace_search(Path(config.site_dir), ranking, other_words(words, os.environ.get("DOCS_LOCALE", "en")))


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


def replace_search(folder: Path, ranking: dict[str, Any], words: dict[str, str]) -> None:
    """Put the search of one language in the place of the theme's, and the sections into a file of their own.

    Every page loads the theme's index, which is empty now; the first search loads that file. It is UTF-8 (the
    theme writes each Chinese character as six) and without the marks between Chinese words, which only the
    theme's search needs. Each section has its other words, by its address. What only the theme's search would
    load is removed. Raises PluginError when the theme has changed.
    """
    workers = list((folder / "assets/javascripts/workers").glob("search.*.min.js"))
    if len(workers) != 1:
        raise PluginError(f"{folder}: the theme's search has changed: {len(workers)} workers instead of one")
    (folder / SEARCH_WORKER).replace(workers[0])
    shutil.rmtree(folder / UNUSED)
    index = folder / "search" / "search_index.json"
    content = json.loads(index.read_text(encoding="utf-8"))
    for section in content["docs"]:
        if section["location"] in words:
            section["other"] = words[section["location"]]
    sections = json.dumps(ranking | {"docs": content["docs"]}, ensure_ascii=False, separators=(",", ":"))
    (folder / "search" / "sections.json").write_text(sections.replace("\u200b", ""), encoding="utf-8")
    index.write_text(json.dumps(content | {"docs": []}), encoding="utf-8")
