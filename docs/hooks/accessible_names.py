"""Give names to controls of the theme that have none, so that screen readers can announce them.

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


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let the links beside headings speak the language of the page."""
    name = "本节链接" if os.environ.get("DOCS_LOCALE") == "zh" else "Link to this section"
    config.mdx_configs["toc"]["permalink_title"] = name
    return config


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the controls of a page. Raises PluginError when the theme has changed."""
    return name_controls(output, page.file.src_uri)


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """Name the controls of the 404 page, which is no page to MkDocs. Raises PluginError, too."""
    return name_controls(output, template_name) if template_name == "404.html" else output


def name_controls(html: str, where: str) -> str:
    """Add an `aria-label` to each control. Raises PluginError when one is not there exactly once."""
    for pattern, english, chinese in CONTROLS:
        name = chinese if os.environ.get("DOCS_LOCALE") == "zh" else english
        html, replaced = re.subn(pattern, rf'\g<0> aria-label="{name}"', html)
        if replaced != 1:
            raise PluginError(f"{where}: found {replaced} times {pattern} in the theme's HTML, not once")
    path = "当前位置" if os.environ.get("DOCS_LOCALE") == "zh" else "Path to this page"
    return re.sub(r'(class="md-path" aria-label=")[^"]*', rf"\g<1>{path}", html)  # else named like the menu
