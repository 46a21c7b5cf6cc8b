"""Publish each page as Markdown too, for programs and for people who paste it into one.

A page's Markdown is at its address + `index.md`; `llms.txt` lists all pages and `llms-full.txt` holds them,
in the form of llmstxt.org. Each language has its own.
"""

import json
import os
import posixpath
from functools import cache
from pathlib import Path
from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from plain_markdown import plain_markdown

from tools.checks.sections import Section, all_sections

WORDS = {
    "en": {
        "about": "Each page is also Markdown, at its address + `index.md`. All pages in one file: {full}",
        "home": "Home",
        "optional": "Optional",
        "page": "Page: {0}",
    },
    "zh": {
        "about": "每个页面都有 Markdown 版本，地址是网页地址加上 `index.md`。全部页面合为一个文件：{full}",
        "home": "首页",
        "optional": "Optional",  # llmstxt.org gives the English word a meaning
        "page": "网页：{0}",
    },
}
LAST = "project/"  # what a reader of few pages can do without
_texts: dict[str, tuple[Page, str]] = {}  # pages and their Markdown, by src_uri
_navigation: list[Navigation] = []


@cache
def sections_of(root: Path) -> dict[str, Section]:
    """Return the sections that pages include. docs/hooks/whole_site.py forgets them before each build."""
    return all_sections(root)[0]


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Begin anew, with this language's pages in order."""
    _texts.clear()
    _navigation[:] = [nav]
    return nav


@event_priority(-100)  # after all that writes into a page's Markdown
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Keep the page in plain Markdown."""
    source = from_notebook(markdown) if page.file.src_uri.endswith(".ipynb") else markdown
    home = config.site_url or ""

    def address(target: str) -> str:
        path, mark, anchor = target.partition("#")
        if ":" in path:
            return target
        if path.startswith("@home/"):
            return home + target.removeprefix("@home/")
        if not path:
            return home + page.url + target
        folder = posixpath.dirname(page.file.src_uri)
        file = files.get_file_from_path(posixpath.normpath(posixpath.join(folder, path)))
        anchor = "" if anchor.startswith("only-") else mark + anchor
        return home + file.url + anchor if file else urljoin(home + page.url, target)

    root = Path(config.config_file_path).parent
    _texts[page.file.src_uri] = page, plain_markdown(source, root, sections_of(root), address)
    return markdown


def from_notebook(text: str) -> str:
    """Return the cells of a notebook as Markdown: its texts, code and printed outputs."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        printed = "".join("".join(output.get("text", [])) for output in cell["outputs"]).rstrip()
        parts += [f"```text\n{printed}\n```"] if printed else []
    return "\n\n".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the Markdown of the pages and the two files that lead to them."""
    language = os.environ.get("DOCS_LOCALE", "en")
    folder, words = Path(config.site_dir), WORDS[language]
    for page, text in _texts.values():
        (folder / markdown_path(page)).write_text(text, encoding="utf-8")
    pages = [page for page in _navigation[0].pages if page.file.src_uri in _texts]
    whole = [f"# {config.site_name}\n\n> {config.site_description}\n"]
    for page in pages:
        text = _texts[page.file.src_uri][1]
        whole.append(f"{words['page'].format(page.canonical_url)}\n\n{text}")
    (folder / "llms-full.txt").write_text("\n---\n\n".join(whole), encoding="utf-8")
    (folder / "llms.txt").write_text(overview(pages, config, words), encoding="utf-8")


def markdown_path(page: Page) -> str:
    """Return where a page's Markdown is, from the home page of its language."""
    return page.file.dest_uri.removesuffix(".html") + ".md"


def overview(pages: list[Page], config: MkDocsConfig, words: dict[str, str]) -> str:
    """Return `llms.txt`: the pages in the order of the navigation, with what each is about."""
    home = config.site_url or ""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    lines += [words["about"].format(full=f"{home}llms-full.txt")]
    groups: dict[str, list[str]] = {}
    for page in pages:
        top = page.ancestors[-1].title if page.ancestors else words["home"]
        if page.url.startswith(LAST):
            top = words["optional"]
        about = f": {page.meta['description']}" if page.meta.get("description") else ""
        groups.setdefault(top, []).append(f"- [{page.title}]({home}{markdown_path(page)}){about}")
    for name, entries in sorted(groups.items(), key=lambda group: group[0] == words["optional"]):
        lines += ["", f"## {name}", "", *entries]
    return "\n".join(lines) + "\n"
