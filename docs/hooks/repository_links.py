"""What depends on the addresses of repository and site: links, passages and commands of pages.

MkDocs' own `repo_url` stays empty: with it the theme asks GitHub's API for stars and forks, and this
site makes no request to other hosts. An absolute `edit_uri` works without it.
"""

from functools import cache
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from tools.checks.markdown_fences import find_fences
from tools.checks.sections import Section, all_sections
from tools.repository_passages import (
    PLACE,
    SITE,
    home_address,
    passages_for,
    repository_address,
    with_addresses,
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set `edit_uri`, and in `extra` the addresses that templates and hooks link to (GitHub's layout)."""
    repository = repository_address()
    if repository:
        config.edit_uri = f"{repository}/edit/main/docs/"
        config.extra |= {"repository": repository, "source_url": f"{repository}/blob/main/"}
    return config


@event_priority(-50)  # after docs/hooks/code_badges.py, which reads the include lines
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Keep the passages for this address, and write it into them. Raises PluginError for a wrong mark."""
    if not page.file.src_uri.endswith(".md"):
        return markdown
    try:
        sections = sections_of(Path(config.config_file_path).parent)
        return written_out(markdown, sections, repository_address(), home_address(config.site_url))
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from None


@cache
def sections_of(root: Path) -> dict[str, Section]:
    """Return the sections that pages include. docs/hooks/whole_site.py forgets them before each build."""
    return all_sections(root)[0]


def written_out(markdown: str, sections: dict[str, Section], address: str, site: str) -> str:
    """Return a page's Markdown for these addresses. Sections that name one become text of their fences."""
    markdown = passages_for(markdown, address)
    lines = markdown.split("\n")
    for fence in reversed(find_fences(markdown)[0]):
        section = sections.get(fence.include)
        if section and (PLACE in section.text or SITE in section.text):
            code = with_addresses(section.text, address, site).split("\n")
            lines[fence.first : fence.last - 1] = [f"{fence.prefix}{line}" for line in code]
    return with_addresses("\n".join(lines), address, site)
