"""Keep pages light: coloured code without the elements that a reader misses least.

Pygments puts names, numbers, punctuation and operators into an element each, and a string into three. On a
page that explains a whole program these were three quarters of all elements, which phones pay for.
"""

import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

_PLAIN = re.compile(r'<span class="(?:n|p|o|w|bp|mi|mf|nb)">([^<]*)</span>')
_TWINS = re.compile(r'(<span class="(\w{1,2})">[^<]*)</span><span class="\2">')


@event_priority(-100)  # after what looks at the blocks
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with fewer elements and the same text."""
    return lighter(html)


def lighter(html: str) -> str:
    """Return HTML with code's text and colours, in as few elements as they need."""
    html, joined = _PLAIN.sub(r"\1", html), 1
    while joined:
        html, joined = _TWINS.subn(r"\1", html)
    return html
