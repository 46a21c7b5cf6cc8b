"""Find every text of the project that exists in both languages.

These are the pages; the sources of notebooks (`docs/data/notebooks/NAME.en.md` and `NAME.zh.md`); Markdown
files outside the site that have a twin (`README.md` and `README.zh.md`); and texts in data files: a mapping
`{en: …, zh: …}`, or sibling keys such as `note_en` and `note_zh`. An expression in such a text is an X.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.checks.page_reader import split_front_matter
from tools.read_yaml import read_yaml

# Folders outside the site whose Markdown files may have a twin NAME.zh.md; "" is the root's top level.
TWIN_FOLDERS = ("", ".github", "examples", "snippets", "tests", "requirements")
MUST_HAVE_TWIN = ("README.md", ".github/CONTRIBUTING.md")
NOTEBOOK_SOURCES = "docs/data/notebooks"
EXPRESSION = re.compile(r"(?:\s*\{\{-|\{\{).*?\}\}", re.DOTALL)  # of Jinja
STATEMENT = re.compile(r"(?:\s*\{%-|\{%).*?(?:-%\}\s*|%\})", re.DOTALL)


@dataclass(frozen=True)
class Twin:
    """A Markdown text in two files, of which one may be missing.

    `page` is the name that `make synced` takes, such as start/check-setup.md; it is empty for files outside
    the site, which carry neither ids nor a hash.
    """

    english: Path
    chinese: Path
    page: str = ""


@dataclass(frozen=True)
class DataText:
    """One text of a data file in both languages; None where a language is missing."""

    file: str
    path: str
    english: str | None
    chinese: str | None


def twins(root: Path) -> list[Twin]:
    """Return all Markdown twins below `root`."""
    return [*_page_twins(root), *_notebook_twins(root), *_other_twins(root)]


def _page_twins(root: Path) -> Iterator[Twin]:
    english, chinese = root / "docs/en", root / "docs/zh"
    names = {p.relative_to(folder).as_posix() for folder in (english, chinese) for p in folder.rglob("*.md")}
    for name in sorted(names):
        yield Twin(english / name, chinese / name, name)


def _notebook_twins(root: Path) -> Iterator[Twin]:
    """Yield the sources of notebooks, under the name of the page that is generated from them."""
    folder = root / NOTEBOOK_SOURCES
    for stem in sorted({path.name.removesuffix(".md")[:-3] for path in folder.glob("*.??.md")}):
        english, chinese = (folder / f"{stem}.{language}.md" for language in ("en", "zh"))
        source = english if english.is_file() else chinese
        meta, _, _ = split_front_matter(source.read_text(encoding="utf-8"))
        yield Twin(english, chinese, str(meta.get("page") or source.name))


def _other_twins(root: Path) -> Iterator[Twin]:
    found = {
        path.with_name(path.name.replace(".zh.md", ".md"))
        for name in TWIN_FOLDERS
        for path in ((root / name).rglob("*.zh.md") if name else root.glob("*.zh.md"))
    }
    found |= {root / name for name in MUST_HAVE_TWIN if (root / name).is_file()}
    for english in sorted(found):
        yield Twin(english, english.with_name(english.name.replace(".md", ".zh.md")))


def data_texts(root: Path) -> Iterator[DataText]:
    """Yield the bilingual texts of docs/data/**/*.yaml."""
    for file in sorted((root / "docs/data").rglob("*.yaml")):
        content = read_yaml(file)
        yield from _texts(content, file.relative_to(root).as_posix(), "")


def _texts(value: object, file: str, path: str) -> Iterator[DataText]:
    """Yield the bilingual texts in a value of a data file."""
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from _texts(part, file, f"{path}[{_label(part, index)}]")
    if not isinstance(value, dict):
        return
    for key, part in value.items():
        inner = f"{path}.{key}" if path else str(key)
        if str(key) in ("en", "zh") or str(key).endswith(("_en", "_zh")):
            stem = str(key)[:-2]
            if str(key).endswith("zh") and stem + "en" in value:
                continue  # reported with its English sibling
            english, chinese = value.get(stem + "en"), value.get(stem + "zh")
            if isinstance(english, str | None) and isinstance(chinese, str | None):
                place = (f"{path}.{stem}" if path else stem).rstrip("._") or "top level"
                yield DataText(file, place, _prose(english), _prose(chinese))
                continue
        yield from _texts(part, file, inner)


def _prose(text: str | None) -> str | None:
    """Return a text of tables without the code in it."""
    return text and EXPRESSION.sub("X", STATEMENT.sub("", text))


def _label(entry: object, index: int) -> str:
    """Return what names an entry of a list best: its id, name or English text, else its number."""
    found = [entry.get(key) for key in ("id", "name", "en")] if isinstance(entry, dict) else []
    return next((name for name in found if isinstance(name, str)), str(index))
