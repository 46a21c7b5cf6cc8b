"""Put figures from docs/data into the text of pages, where `{{ group.name }}` stands (tools/figures.py)."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from tools.figures import FigureError, with_figures


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page's Markdown with its figures. Raises PluginError for one that is unknown."""
    try:
        return with_figures(markdown)
    except FigureError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error
