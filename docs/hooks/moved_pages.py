"""Lead readers from former addresses of pages and sections to the present ones (docs/data/moved.yaml).

A page that is gone leaves a small one at its address, which knows where each of its sections is. A page that
only some sections have left carries their new places, and docs/assets/javascripts/site.js goes there. The
error messages, which were one page, have their new places from their data.
"""

import json
import os
from collections.abc import Mapping
from html import escape
from pathlib import Path

import error_messages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from tools.read_yaml import read_yaml

WORDS = {"en": "This page has moved", "zh": "页面已移动"}
GONE = """\
<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="1; url={page}">
<title>{words}</title>
<link rel="canonical" href="{page}">
<script>
const moved = {moved}
location.replace(moved[location.hash.slice(1)] ?? {page_text} + location.hash)
</script>
<p><a href="{page}">{words}</a></p>
{links}
"""
_moved: dict[str, dict[str, str]] = {}  # page: {section or "": address relative to the page}


def read_moved(root: Path) -> dict[str, dict[str, str]]:
    """Return the new places of sections by page and section, and of pages that are gone at the section ""."""
    found: dict[str, dict[str, str]] = {error_messages.INDEX: error_messages.moved()}
    path = root / "docs/data/moved.yaml"
    for old, new in (read_yaml(path) if path.exists() else {}).items():
        page, _, section = old.partition("#")
        found.setdefault(page, {})[section] = new
    return found


def relative(places: Mapping[str, str], page: File, config: MkDocsConfig) -> dict[str, str]:
    """Return new places as addresses relative to a page."""
    addresses = {}
    for section, place in places.items():
        target, mark, anchor = place.partition("#")
        addresses[section] = get_relative_url(file_of(target, config).url, page.url) + mark + anchor
    return addresses


def file_of(page: str, config: MkDocsConfig) -> File:
    """Return a page as MkDocs sees it, whether there is one or not."""
    return File(page, config.docs_dir, config.site_dir, config.use_directory_urls)


@event_priority(-200)  # after static-i18n, which runs at -100 and would make files of docs/ of them
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put a small page to each address that a page has left."""
    language = os.environ.get("DOCS_LOCALE", "en")
    _moved.clear()
    for page, places in read_moved(Path(config.config_file_path).parent).items():
        file = file_of(page, config)
        addresses = relative(places, file, config)
        if "" not in places:
            _moved[file.url] = addresses
            continue
        whole = addresses.pop("")
        links = "\n".join(f'<a href="{escape(link)}">{name}</a>' for name, link in addresses.items())
        html = GONE.format(
            language=language,
            words=WORDS[language],
            page=escape(whole),
            page_text=json.dumps(whole),
            moved=json.dumps(addresses),
            links=links,
        )
        files.append(File.generated(config, file.dest_uri, content=html))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give a page the new places of its sections that have left it."""
    if addresses := _moved.get(page.url):
        html += f'<script type="application/json" id="moved-sections">{json.dumps(addresses)}</script>'
    return html
