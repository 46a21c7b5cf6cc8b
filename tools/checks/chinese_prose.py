"""Find what reads like a translation on a Chinese page.

That is what was left in English: sentences, headings, titles, table cells. And it is more colons and
semicolons than Chinese authors write, who join what belongs together with 因为, 所以, 如果 and 不过.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.checks.page_reader import EXTERNAL, Page, Section, read_markdown

LONGEST_RUN = 6  # Latin words in a row that make an English sentence

COLONS, SEMICOLONS = 9, 2  # per 1,000 Han at most
FEWEST_COLONS, FEWEST_SEMICOLONS = 3, 1  # that every text may have, however short it is

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]+")
# Inline code (of a private plane) and line ends are inside a sentence; Chinese characters, table cells, empty
# lines and the marks of list items are not.
_BETWEEN = r"(?:[^A-Za-z\u2e80-\uffff|\n]|\n(?!\s*\n|\s*(?:[-*+]|\d+\.)\s))+"
_RUN = re.compile(rf"[A-Za-z][A-Za-z'’-]*(?:{_BETWEEN}[A-Za-z][A-Za-z'’-]*)+")
_LOWER_WORD = re.compile(r"(?<![\w.])[a-z]{3,}(?!\.?\w)")  # not the parts of dotted names
_EXTERNAL_TEXT = re.compile(f"{EXTERNAL[0]}[^{EXTERNAL[1]}]*{EXTERNAL[1]}")


_COLON = re.compile("(?<!来源)：")  # the label of sources joins no sentences: every answer may end with it
_IMAGE = re.compile(r"!\[[^]]*\]\([^)]*\)")  # its text stands there twice, for light and for dark


@dataclass(frozen=True)
class Marks:
    """How many Han, colons and semicolons the prose of a page has: no code, table, picture or comment."""

    han: int
    colons: int
    semicolons: int

    def __str__(self) -> str:
        """Return the figures as one line."""
        shares = (f"{1000 * count / max(self.han, 1):.1f}" for count in (self.colons, self.semicolons))
        return ("{} colons and {} semicolons in {} Han: {} and {} per 1,000").format(
            self.colons, self.semicolons, self.han, *shares
        )

    def too_many(self) -> bool:
        """Return whether there are more than Chinese authors write."""
        colons = max(FEWEST_COLONS, COLONS * self.han / 1000)
        return self.colons > colons or self.semicolons > max(FEWEST_SEMICOLONS, SEMICOLONS * self.han / 1000)


def marks(text: str) -> Marks:
    """Count the marks of a Markdown page."""
    page = read_markdown(_IMAGE.sub("", text))
    lines = [line for number, line in enumerate(page.prose, 1) if number not in page.table_lines]
    prose = "\n".join(lines)
    return Marks(len(HAN.findall(prose)), len(_COLON.findall(prose)), prose.count("；"))


def own_words(text: str) -> str:
    """Return `text` without the text of links to other hosts, which may be a title in another language."""
    return _EXTERNAL_TEXT.sub(" ", text)


def _left_in_english(english: str, chinese: str, words: int) -> bool:
    """Return whether the two texts are equal and hold at least `words` ordinary English words."""
    return english == chinese and len(_LOWER_WORD.findall(own_words(chinese))) >= words


def _section_name(section: Section) -> str:
    heading = section.heading
    if heading is None:
        return "before the first heading: "
    return f"section #{heading.ident}: " if heading.ident else f'section "{heading.title}": '


def untranslated(english: Page, chinese: Page) -> Iterator[tuple[str, str]]:
    """Yield (where, what) for every sign of English left on a Chinese page."""
    description = str(chinese.meta.get("description") or "")
    if description and not HAN.search(description):
        yield "front matter: ", "the Chinese `description` is not Chinese"
    for section in chinese.sections:
        where = _section_name(section)
        cells = [cell for table in section.tables for row in table for cell in row]
        for text in (section.text, *cells):
            for run in _RUN.finditer(own_words(text)):
                if len(_LATIN_WORD.findall(run[0])) >= LONGEST_RUN:
                    start = chinese.show(run[0])[:60].strip()
                    yield where, f"English sentence on the Chinese page: {start} …"
    yield from _equal_parts(english, chinese)


def _equal_parts(english: Page, chinese: Page) -> Iterator[tuple[str, str]]:
    """Yield headings, titles and table cells that are word for word the English ones."""
    for one, two in zip(english.sections, chinese.sections, strict=False):
        where = _section_name(two)
        if one.heading and two.heading and _left_in_english(one.heading.title, two.heading.title, 1):
            yield where, f"heading left in English: {chinese.show(two.heading.title)}"
        for en_item, zh_item in zip(one.items, two.items, strict=False):
            if _left_in_english(en_item.title or "", zh_item.title or "", 2):
                yield where, f"{zh_item.kind} title left in English: {zh_item.title}"
        en_cells = [cell for table in one.tables for row in table for cell in row]
        zh_cells = [cell for table in two.tables for row in table for cell in row]
        for en_cell, zh_cell in zip(en_cells, zh_cells, strict=False):
            if _left_in_english(en_cell, zh_cell, 2):
                yield where, f"table cell left in English: {chinese.show(zh_cell)}"
