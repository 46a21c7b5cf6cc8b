"""What a training system consists of besides its folder, and the lists that have to name it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from examples.systems import System
from tests.examples.every_program import CASES

ROOT = Path(__file__).resolve().parents[2]
READMES = {"en": "README.md", "zh": "README.zh.md"}
PAGES = ("index.md", "start/first-run.md", "project/changes.md")
# What names every system and is written by hand.
LISTS = ("mkdocs.yml", *READMES.values(), *(f"docs/{code}/{page}" for code in READMES for page in PAGES))
FILES = {  # {}: the name of the system
    "examples/{}/README.md": "it says what the system is and how it is started",
    "examples/{}/README.zh.md": "it says so in Chinese",
    "examples/{}/single_file.py": "it is the training on one page, of nothing but PyTorch",
    "tests/examples/{}/cases.py": "it tells the tests of all systems what they have to know of this one",
    "tests/examples/{}/data_files.py": "its FILES are what `--data` reads, to be damaged",
}


def navigation() -> list[Any]:
    """Return the navigation of mkdocs.yml."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text[text.index("\nnav:") :])["nav"]


def nav_pages(entries: Any) -> list[str]:
    """Return the pages of a part of the navigation."""
    if isinstance(entries, str):
        return [entries]
    parts = entries.values() if isinstance(entries, dict) else entries
    return [page for part in parts for page in nav_pages(part)]


def missing_files(system: System) -> Iterator[str]:
    """Yield a sentence for each file that the system lacks."""
    files = {file.format(system.name): why for file, why in FILES.items()}
    pages = {
        f"docs/{language}/{page}": "a page of the system" for language in READMES for page in system.pages
    }
    for file, why in (files | pages).items():
        if not (ROOT / file).is_file():
            yield f"{file} is missing: {why}"


def links_to(system: System) -> dict[str, list[str]]:
    """Return, by page, how the lists of systems link to this one."""
    guide, archive = f"(../{system.pages[0]})", f"{system.name}.zip"
    links = (
        [f"({system.pages[0]})"],
        [guide, f'(../downloads/{archive}){{ download="{archive}" }}'],
        [guide],
    )
    return dict(zip(PAGES, links, strict=True))


def missing_mentions(system: System) -> Iterator[str]:
    """Yield a sentence for each list that does not name the system."""
    in_navigation = nav_pages(navigation())
    for page in system.pages:
        if page not in in_navigation and not page.endswith("/source-guide.md"):
            yield f"mkdocs.yml has no entry for {page} under `nav`"
    for language, readme in READMES.items():
        row = rf"^\| \[.+\]\(docs/{language}/{re.escape(system.pages[0])}\) \| `make train\b.+\|$"
        if not re.search(row, (ROOT / readme).read_text(encoding="utf-8"), re.MULTILINE):
            yield f"{readme} has no row for {system.name} in its table of systems"
        for page, links in links_to(system).items():
            text = (ROOT / "docs" / language / page).read_text(encoding="utf-8")
            yield from (f"docs/{language}/{page} has no link to {link}" for link in links if link not in text)


def missing_commands(system: System) -> Iterator[str]:
    """Yield a sentence for each script that no test of all programs starts."""
    cases = CASES.get(system.name)
    known = {f"{program.name}.py" for program in system.programs}
    if cases is not None:
        known |= {command.script.rpartition("/")[2] for command in cases.commands} | {*cases.no_commands}
    for path in sorted((ROOT / "examples" / system.name).glob("*.py")):
        if path.name not in known and re.search(r"^def main\(", path.read_text(encoding="utf-8"), re.M):
            yield (
                f"{path.relative_to(ROOT)} is a program without a command: add one to `commands` in "
                f"tests/examples/{system.name}/cases.py, or its name and the reason to `no_commands`"
            )


def missing_pieces(system: System) -> list[str]:
    """Return a sentence for each piece that a system lacks: what it is, and where it goes."""
    return [*missing_files(system), *missing_mentions(system), *missing_commands(system)]
