"""Make notebooks ordinary pages of a site that static-i18n and mkdocs-jupyter build together.

Three things go wrong without this hook.

* static-i18n copies every file object and so drops mkdocs-jupyter's mark "this is a page": the notebook is
  published as raw JSON, and the strict build stays green (ultrabug/mkdocs-static-i18n#198).
* mkdocs-jupyter inlines 574 kB of JupyterLab's CSS in every notebook page. Here each cell becomes the code
  block of the theme, with its copy button; the few rules that are left stand in the shared site.css.
* Headings get ids from their text, which differ between languages. Here a heading's id is the id of its cell,
  which tools/build_notebooks.py sets.
"""

import json
from types import MethodType

from bs4 import BeautifulSoup, Tag
from markdown.extensions.toc import nest_toc_tokens
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc

HEADINGS = ("h1", "h2", "h3")


@event_priority(-200)  # after static-i18n, which runs at -100
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Mark each notebook as a documentation page again."""
    for file in files:
        if file.src_uri.endswith(".ipynb"):
            file.is_documentation_page = MethodType(lambda self: True, file)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Take a notebook page's description, and the texts for its figures, from the notebook's metadata."""
    if page.file.src_uri.endswith(".ipynb"):
        metadata = json.loads(markdown)["metadata"]
        page.meta |= {"description": metadata["description"], "figures": metadata["figures"]}
    return markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite a notebook page's HTML into the theme's own markup and its table of contents."""
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    soup = BeautifulSoup(html, "html.parser")
    content = soup.new_tag("div", attrs={"class": "notebook"})
    tokens = []
    for cell in soup.select(".jp-MarkdownCell, .jp-Cell[id].jp-CodeCell"):
        if "jp-MarkdownCell" in cell["class"]:
            tokens += set_heading_ids(cell, soup)
            content.extend(list(cell.select_one(".jp-RenderedMarkdown").contents))
        else:
            content.append(code_block(cell.select_one(".highlight-ipynb pre"), "python", soup))
            content.extend(output_block(output, soup) for output in cell.select(".jp-OutputArea-output"))
    for image, text in zip(content.find_all("img"), page.meta["figures"], strict=True):
        image["alt"] = text
    page.toc = get_toc(nest_toc_tokens(tokens))
    return str(content)


def set_heading_ids(cell: Tag, soup: BeautifulSoup) -> list[dict]:
    """Name the cell's heading after the cell and return its entry for the table of contents."""
    tokens = []
    for heading in cell.find_all(HEADINGS):
        name = cell["id"].removeprefix("cell-id=")
        link = heading.find("a", class_="anchor-link")
        link.extract()
        heading["id"] = name
        tokens.append({"level": int(heading.name[1]), "id": name, "name": heading.get_text()})
        if heading.name != "h1":
            heading.append(soup.new_tag("a", attrs={"class": "headerlink", "href": f"#{name}"}, string="¶"))
    return tokens


def code_block(source: Tag, language: str, soup: BeautifulSoup) -> Tag:
    """Return the theme's code block around the highlighted lines of `source`."""
    block = soup.new_tag("div", attrs={"class": f"language-{language} highlight"})
    pre, code = soup.new_tag("pre"), soup.new_tag("code")
    code.extend(list(source.contents))
    pre.append(code)
    block.append(pre)
    return block


def output_block(output: Tag, soup: BeautifulSoup) -> Tag:
    """Return a printed text as a plain code block, anything else (a figure) as it is."""
    block = soup.new_tag("div", attrs={"class": "notebook-output"})
    printed = output.find("pre")
    block.append(code_block(printed, "text", soup) if printed else output.extract())
    return block
