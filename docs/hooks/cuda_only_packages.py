"""The tables of packages that need CUDA, from docs/data/cuda_only_packages.yaml: what to use, and sources."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from markdown_tables import Column, table_of
from origins import DATA, load
from wrong_results import JOINTS, link

PACKAGES = (
    Column("Package", "软件包", ("name", "purpose"), form="**{}**<br>{}"),
    Column("On a Mac", "在 Mac 上", "found"),
    Column("Use instead", "替代办法", "instead"),
)
SOURCES = (
    Column("Package", "软件包", ("name", "release"), form="**{}** {}"),
    Column("Sources", "来源", "links"),
    Column("Read up to", "讨论读到", "newest", str),
)
STATES = {
    "none": {"en": "**No.** ", "zh": "**不能。**"},
    "partial": {"en": "**In part.** ", "zh": "**部分可以。**"},
}


def packages() -> list[dict[str, Any]]:
    """Return the packages in order."""
    return load("cuda_only_packages", DATA)["packages"]


def in_words(package: dict[str, Any], language: str) -> dict[str, Any]:
    """Return a package with its state and its sources as the tables show them."""
    note = package["note"][language]
    found = STATES[package["state"]][language] + note[0].upper() + note[1:]
    return package | {"found": found, "links": JOINTS[language][1].join(map(address, package["sources"]))}


def address(source: Sequence[Any]) -> str:
    """Return a link to a thread, or to a text that is named by its host and last part."""
    if source[0] != "text":
        return link(source)
    parts = source[1].removeprefix("https://").rstrip("/").split("/")
    return f"[{'/'.join(parts[1:3]) if parts[0] == 'github.com' else parts[0]}]({source[1]})"


def render(columns: Sequence[Column], language: str) -> str:
    """Return a table of all packages as Markdown in `language` ("en" or "zh")."""
    return table_of(columns, [in_words(package, language) for package in packages()], language, right=False)


TABLES: dict[str, Callable[[str], str]] = {
    "cuda-only-packages": partial(render, PACKAGES),
    "cuda-only-sources": partial(render, SOURCES),
}
