"""Fold up what stands at the end of a page for those who check it: the claims of others, and the evidence.

The headings stay, with their addresses; docs/assets/javascripts/site.js opens a section that a link leads to.
"""

import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

FOLDED = "claims", "evidence"  # ids of sections
_LINK = re.compile(r'<a class="headerlink".*?</a>', re.S)  # what opens by a click cannot hold a link as well
_SECTION = re.compile(r'(<h2 id="([\w-]+)".*?</h2>)(.*?)(?=<h2 |<div class="footnote"|\Z)', re.S)


@event_priority(-100)  # after what writes tables
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with these sections folded."""
    return folded(html) if page.file.src_uri.endswith(".md") else html


def folded(html: str) -> str:
    """Put the sections with the ids of FOLDED into `details`."""

    def fold(section: re.Match[str]) -> str:
        if section[2] not in FOLDED:
            return section[0]
        heading = _LINK.sub("", section[1])
        return f'<details class="folded-section"><summary>{heading}</summary>{section[3]}</details>\n'

    return _SECTION.sub(fold, html)
