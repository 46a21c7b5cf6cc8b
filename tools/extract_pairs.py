"""Write the English and Chinese sections and table rows of this site as pairs, a line each.

    python -m tools.extract_pairs          writes examples/two_tower/data/pairs.tsv

The retrieval example learns from them. The file is made once and kept: editing a page changes no result.
A section is its heading and the beginning of its text; a row is its cells. Sentences have no partner.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tools.checks.bilingual_texts import twins
from tools.checks.page_reader import Page, Section, read_markdown

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "examples/two_tower/data/pairs.tsv"
LENGTHS = {"en": 120, "zh": 48}  # characters of a text: about the same content, 200 kB in all
LEAST = 4  # Chinese characters; a row with fewer is code or numbers, equal in both languages
HAN = re.compile("[\u4e00-\u9fff]")


class Pair(NamedTuple):
    """A section or table row in both languages, and the page and section that it stands in."""

    page: str
    anchor: str
    english: str
    chinese: str


def plain(page: Page, text: str, most: int) -> str:
    """Return the text on one line with its inline code, cut after a word at `most` characters."""
    text = " ".join(page.show(text).replace("`", "").split())
    if len(text) <= most:
        return text
    kept = text[:most]
    return kept.rpartition(" ")[0] if kept.isascii() else kept


def texts_of(page: Page, section: Section, language: str) -> list[str]:
    """Return the section's text, then each of its table rows; rows of equal number belong together."""
    beginning = plain(page, section.text, LENGTHS[language])
    rows = [" · ".join(filter(str.strip, row)) for table in section.tables for row in table[1:]]
    return [beginning, *(plain(page, row, LENGTHS[language]) for row in rows)]


def page_pairs(name: str, english: Page, chinese: Page) -> Iterator[Pair]:
    """Yield the pairs of one page; both have the same sections and tables (tools.checks.parity)."""
    for one, other in zip(english.sections, chinese.sections, strict=True):
        anchor = one.heading.ident if one.heading and one.heading.ident else ""
        for en, zh in zip(texts_of(english, one, "en"), texts_of(chinese, other, "zh"), strict=True):
            if len(HAN.findall(zh)) >= LEAST:
                yield Pair(name, anchor, en, zh)


def all_pairs(root: Path = ROOT) -> list[Pair]:
    """Return the pairs of all pages, in their order, each text once."""
    found: dict[tuple[str, str], Pair] = {}
    for twin in twins(root):
        if twin.page:
            pages = (read_markdown(path.read_text(encoding="utf-8")) for path in (twin.english, twin.chinese))
            for pair in page_pairs(twin.page.removesuffix(".md"), *pages):
                found.setdefault((pair.english, pair.chinese), pair)
    return list(found.values())


def main() -> int:
    """Write the file and say what is in it."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    pairs = all_pairs()
    origin = (
        f"# Texts\n\n`pairs.tsv`: English and Chinese texts of this handbook's pages, "
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit.stdout.strip()}; made by "
        "`python -m tools.extract_pairs`.\n"
    )
    FILE.with_name("README.md").write_text(origin, encoding="utf-8")
    lines = ["page\tsection\tenglish\tchinese", *("\t".join(pair) for pair in pairs)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(pairs)} pairs of {len({pair.page for pair in pairs})} pages in {FILE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
