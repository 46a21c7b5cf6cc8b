"""Let names in tables break where a reader expects it: after `_`, `/` and `.`.

Narrow screens would break them anywhere otherwise, which makes other names of them.
"""

import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

_CELL = re.compile(r"<td[ >].*?</td>", re.S)
_NAME = re.compile(r"(?<=<code>)[^<>]{17,}(?=</code>)")
_PLACE = re.compile(r"(?<=[\w*])([_/.])(?=\w)")


@event_priority(-100)  # after what writes tables
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with places to break in the names of its tables."""
    return with_breaks(html)


def with_breaks(html: str) -> str:
    """Put `<wbr>` into the longer names that are code in table cells."""
    return _CELL.sub(lambda cell: _NAME.sub(lambda name: _PLACE.sub(r"\1<wbr>", name[0]), cell[0]), html)
