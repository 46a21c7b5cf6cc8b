"""Give names to four controls of the theme that have none, so that screen readers can announce them.

The theme's templates are not copied for this: a replacement that no longer matches ends the build, which
is how we notice that a new version of the theme changed (or mended) the place.
"""

import os
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page

# pattern in the theme's HTML, text inserted after it, name per language
CONTROLS = (
    (r'role="dialog"', "Search", "搜索"),
    (r'data-md-toggle="drawer"', "Open the navigation", "打开导航"),
    (r'data-md-toggle="search"', "Open the search", "打开搜索"),
)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Add an `aria-label` to each control. Raises PluginError when the theme has changed."""
    for pattern, english, chinese in CONTROLS:
        name = chinese if os.environ.get("DOCS_LOCALE") == "zh" else english
        output, replaced = re.subn(pattern, rf'\g<0> aria-label="{name}"', output)
        if replaced != 1:
            raise PluginError(
                f"{page.file.src_uri}: found {replaced} times {pattern} in the theme's HTML, not once"
            )
    return output
