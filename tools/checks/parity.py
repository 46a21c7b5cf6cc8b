"""Check that the English and the Chinese pages are equals, and record which Chinese pages are reviewed.

    python -m tools.checks.parity                             compare all pages; exit 1 when anything differs
    python -m tools.checks.parity stale                       list Chinese pages that are outdated; exit 0
    python -m tools.checks.parity synced start/check-setup.md after review: stamp the Chinese page

Compared are: the page lists; front matter keys; headings (level and explicit id); per section fences,
includes, table markers, passages, admonitions, content tabs, tables, links, images, formulas and footnotes;
the numbers written in digits; per page the inline code. Chinese text must be Chinese. Lists and the cut into
sentences and paragraphs are free. Of notebooks the sources are compared (docs/data/notebooks/).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.checks.bilingual_texts import Twin, data_texts, twins
from tools.checks.chinese_prose import untranslated
from tools.checks.freshness import changed_sections, page_hash, stamp
from tools.checks.page_reader import (
    Heading,
    Item,
    Page,
    Section,
    read_markdown,
    split_front_matter,
)
from tools.checks.written_numbers import compare_numbers

ROOT = Path(__file__).resolve().parents[2]
_IDENT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TITLE = re.compile(r"""(\btitle=)("[^"]*"|'[^']*')""")
_LANGUAGE_INFIX = re.compile(r"\.(?:en|zh)(?=\.\w+(?:#|$))|(?<=docs/)(?:en|zh)(?=/)")


@dataclass
class Report:
    """Defects, one line each, and how much was compared."""

    defects: list[str] = field(default_factory=list)
    pages: int = 0
    headings: int = 0
    elements: int = 0
    numbers: int = 0
    texts: int = 0

    def summary(self) -> str:
        """Return the counts as one line."""
        return (
            f"parity: {self.pages} page pairs, {self.headings} headings, {self.elements} elements, "
            f"{self.numbers} numbers, {self.texts} data texts compared; {len(self.defects)} defects"
        )


class _Pair:
    """Compares one English page with its Chinese page and writes what it finds into a report."""

    def __init__(self, name: str, english: Page, chinese: Page, report: Report, *, ids: bool) -> None:
        self.name, self.en, self.zh, self.report, self.ids = name, english, chinese, report, ids

    def defect(self, text: str, where: str = "") -> None:
        """Add one line to the report."""
        self.report.defects.append(f"{self.name}: {where}{text}")

    def compare(self) -> None:
        """Run every comparison."""
        for language, page in (("English", self.en), ("Chinese", self.zh)):
            for line, problem in page.problems:
                self.defect(f"{language} page, line {line}: {problem}")
        self.front_matter()
        self.headings()
        for where, english, chinese in self.sections():
            self.elements(where, english, chinese)
            self.numbers(where, english, chinese)
        self.inline_code()
        for where, problem in untranslated(self.en, self.zh):
            self.defect(problem, where)

    def front_matter(self) -> None:
        """Compare the keys, and the numbers in the texts, of the two front matters."""
        zh = {key: value for key, value in self.zh.meta.items() if key != "source_hash"}
        for path in sorted(set(_shape(self.en.meta)) ^ set(_shape(zh))):
            where = "English" if path in _shape(self.en.meta) else "Chinese"
            self.defect(f"front matter: `{path}` stands only on the {where} page")
        if self.ids:
            for language, meta in (("English", self.en.meta), ("Chinese", self.zh.meta)):
                if not str(meta.get("description") or "").strip():
                    self.defect(f"front matter: the {language} page has no `description`")
        english, chinese = _shape(self.en.meta), _shape(zh)
        for path in english.keys() & chinese.keys():
            self.count_numbers(f"front matter `{path}`: ", english[path], chinese[path])

    def headings(self) -> None:
        """Compare levels and ids in order; every id explicit, well-formed and unique."""
        en, zh = self.en.headings, self.zh.headings
        self.report.headings += max(len(en), len(zh))
        if self.ids:
            for language, headings in (("English", en), ("Chinese", zh)):
                self.heading_ids(language, headings)
        if [(h.level, h.ident) for h in en] == [(h.level, h.ident) for h in zh]:
            return
        only_en = Counter(h.ident for h in en) - Counter(h.ident for h in zh)
        only_zh = Counter(h.ident for h in zh) - Counter(h.ident for h in en)
        if not self.ids or not (only_en or only_zh):
            for english, chinese in zip(en, zh, strict=False):
                if (english.level, english.ident) != (chinese.level, chinese.ident):
                    self.defect(f"headings part ways: English {_shown(english)}, Chinese {_shown(chinese)}")
                    return
            self.defect(f"{len(en)} headings in English, {len(zh)} in Chinese")
            return
        for ident in only_en:
            self.defect(f"section #{ident}: heading missing on the Chinese page")
        for ident in only_zh:
            self.defect(f"section #{ident}: heading stands only on the Chinese page")

    def heading_ids(self, language: str, headings: list[Heading]) -> None:
        """Report ids that are missing, malformed or used twice."""
        seen = Counter(heading.ident for heading in headings)
        for heading in headings:
            if heading.ident is None:
                self.defect(f"{language} page, line {heading.line}: heading without an id: {heading.title}")
            elif not _IDENT.fullmatch(heading.ident):
                self.defect(
                    f"{language} page, line {heading.line}: id `{heading.ident}`: use a-z, 0-9 and hyphens"
                )
            elif seen.pop(heading.ident, 1) > 1:
                self.defect(f"{language} page: the id `{heading.ident}` is used more than once")

    def sections(self) -> Iterator[tuple[str, Section, Section]]:
        """Yield the sections that both pages have, with the words that name them in a defect."""
        en, zh = self.en.sections, self.zh.sections
        yield "before the first heading: ", en[0], zh[0]
        if self.ids:
            chinese = {section.heading.ident: section for section in zh if section.heading}
            for section in en:
                ident = section.heading and section.heading.ident
                if ident is not None and ident in chinese:
                    yield f"section #{ident}: ", section, chinese[ident]
        elif [h.level for h in self.en.headings] == [h.level for h in self.zh.headings]:
            for heading, english, other in zip(self.en.headings, en[1:], zh[1:], strict=True):
                yield f'section "{self.en.show(heading.title)}": ', english, other

    def elements(self, where: str, english: Section, chinese: Section) -> None:
        """Compare what must be the same in one section: the ordered elements, then links and the like."""
        en, zh = english.items, chinese.items
        self.report.elements += max(len(en), len(zh))
        for index in range(max(len(en), len(zh))):
            one = en[index] if index < len(en) else None
            two = zh[index] if index < len(zh) else None
            if _key(one) != _key(two):
                self.defect(f"{_named(one)} in English, {_named(two)} in Chinese", where)
                break
        for item in zh:
            if item.kind == "admonition" and item.title is None:
                self.defect(f'line {item.line}: give the admonition a Chinese title: {item.value} "…"', where)
        for kind in ("links", "images", "formulas", "footnotes"):
            en_count = Counter(_LANGUAGE_INFIX.sub("", value) for value in getattr(english, kind).elements())
            zh_count = Counter(_LANGUAGE_INFIX.sub("", value) for value in getattr(chinese, kind).elements())
            self.report.elements += max(en_count.total(), zh_count.total())
            for value in en_count - zh_count:
                self.defect(f"{kind[:-1]} missing in Chinese: {value}", where)
            for value in zh_count - en_count:
                self.defect(f"{kind[:-1]} stands only in Chinese: {value}", where)

    def numbers(self, where: str, english: Section, chinese: Section) -> None:
        """Compare the numbers of the prose as sets, those of tables cell by cell."""
        self.count_numbers(where, english.text, chinese.text)
        for number, (one, two) in enumerate(zip(english.tables, chinese.tables, strict=False), 1):
            for row, (en_cells, zh_cells) in enumerate(zip(one, two, strict=False), 1):
                for column, (en_cell, zh_cell) in enumerate(zip(en_cells, zh_cells, strict=False), 1):
                    cell = f"table {number}, row {row}, column {column}: "
                    self.count_numbers(where + cell, en_cell, zh_cell, exact=True)

    def count_numbers(self, where: str, english: str, chinese: str, *, exact: bool = False) -> None:
        """Compare the numbers of two texts."""
        compared, defects = compare_numbers(english, chinese, exact=exact)
        self.report.numbers += compared
        for defect in defects:
            self.defect(defect, where)

    def inline_code(self) -> None:
        """Compare which inline code the pages show; how often and where is free."""
        for value in dict.fromkeys(self.en.code):
            if value not in self.zh.code:
                self.defect(f"inline code missing in Chinese: `{value}`")
        for value in dict.fromkeys(self.zh.code):
            if value not in self.en.code:
                self.defect(f"inline code stands only in Chinese: `{value}`")


def _shape(value: object, path: str = "") -> dict[str, str]:
    """Return the leaves of a front matter value: path to text."""
    if isinstance(value, dict):
        return {
            k: v
            for key, part in value.items()
            for k, v in _shape(part, f"{path}.{key}" if path else str(key)).items()
        }
    if isinstance(value, list):
        return {k: v for index, part in enumerate(value) for k, v in _shape(part, f"{path}[{index}]").items()}
    return {path: str(value)} if path else {}


def _key(item: Item | None) -> tuple[str, str] | None:
    """Return what of an element must be equal: a fence's title may be in the page's own language."""
    return (item.kind, _LANGUAGE_INFIX.sub("", _TITLE.sub(r'\1""', item.value))) if item else None


def _named(item: Item | None) -> str:
    return f"{item.kind} {item.value}".strip() + f" (line {item.line})" if item else "nothing"


def _shown(heading: Heading) -> str:
    return f"h{heading.level} #{heading.ident} (line {heading.line})"


def compare_twin(root: Path, twin: Twin, report: Report) -> None:
    """Compare one text with its twin, except for its hash."""
    first, second = (path.relative_to(root).as_posix() for path in (twin.english, twin.chinese))
    for path, name, other in ((twin.english, first, second), (twin.chinese, second, first)):
        if not path.is_file():
            report.defects.append(f"{name}: missing; {other} is there")
            return
    english, chinese = (
        read_markdown(path.read_text(encoding="utf-8")) for path in (twin.english, twin.chinese)
    )
    report.pages += 1
    _Pair(second, english, chinese, report, ids=bool(twin.page)).compare()


def stale_twins(root: Path) -> list[Twin]:
    """Return the pages whose Chinese `source_hash` is not the hash of the English text."""
    found = []
    for twin in twins(root):
        if twin.page and twin.english.is_file() and twin.chinese.is_file():
            meta, _, _ = split_front_matter(twin.chinese.read_text(encoding="utf-8"))
            if str(meta.get("source_hash")) != page_hash(twin.english):
                found.append(twin)
    return found


def check(root: Path = ROOT) -> Report:
    """Compare everything below `root`: pages with their hashes, other twins, texts in data."""
    report = Report()
    pairs = twins(root)
    for twin in pairs:
        compare_twin(root, twin, report)
    if not any(twin.page for twin in pairs) or not report.headings:
        report.defects.append("nothing was compared: no page with headings in docs/en and docs/zh")
    for twin in stale_twins(root):
        report.defects.append(
            f"{twin.chinese.relative_to(root).as_posix()}: stale: the English page changed since this page "
            f"was reviewed; compare them, then run `make synced PAGE={twin.page}`"
        )
    for text in data_texts(root):
        report.texts += 1
        where = f"{text.file}: {text.path}: "
        english, chinese = text.english or "", text.chinese or ""
        if not english.strip() or not chinese.strip():
            report.defects.append(f"{where}text in one language only")
            continue
        compared, defects = compare_numbers(english, chinese)
        report.numbers += compared
        report.defects += [where + defect for defect in defects]
    return report


def _stale(root: Path) -> int:
    """Print the stale pages with the English sections that changed; a plain list, so exit code 0."""
    found = stale_twins(root)
    for twin in found:
        print(f"{twin.chinese.relative_to(root).as_posix()}  (PAGE={twin.page})")
        stamped = split_front_matter(twin.chinese.read_text(encoding="utf-8"))[0].get("source_hash")
        for line in changed_sections(root, twin.english, stamped):
            print(f"    {line}")
    pages = sum(bool(twin.page) for twin in twins(root))
    print(f"{len(found)} of {pages} Chinese pages are stale" if pages else "there is no page")
    return 0 if pages else 1


def _synced(root: Path, names: list[str]) -> int:
    """Stamp reviewed Chinese pages; a page that differs from the English one is not stamped."""
    pages = {twin.page: twin for twin in twins(root) if twin.page}
    wanted = [re.sub(r"^(?:\./)?(?:docs/)?(?:en/|zh/)?", "", name) for name in names]
    for name in wanted:
        if name not in pages or not pages[name].english.is_file():
            print(f"error: no page {name}; name one like start/check-setup.md", file=sys.stderr)
            return 2
    failed = 0
    for twin in (pages[name] for name in wanted):
        report, name = Report(), twin.chinese.relative_to(root).as_posix()
        compare_twin(root, twin, report)
        if report.defects:
            print("\n".join([*report.defects, f"{name}: not stamped: {len(report.defects)} defects"]))
            failed = 1
        else:
            stamp(twin.chinese, page_hash(twin.english))
            print(f"{name}: source_hash {page_hash(twin.english)}")
    return failed


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="parity.py", description=__doc__.split("\n")[0], allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="{stale,synced}")
    commands.add_parser("stale", help="list Chinese pages whose English page changed since the last review")
    synced = commands.add_parser("synced", help="stamp Chinese pages after review")
    synced.add_argument("pages", nargs="+", metavar="PAGE", help="e.g. start/check-setup.md")
    options = parser.parse_args(arguments)
    if options.command == "stale":
        return _stale(root)
    if options.command == "synced":
        return _synced(root, options.pages)
    report = check(root)
    print("\n".join([*report.defects, report.summary()]))
    return 1 if report.defects else 0


if __name__ == "__main__":
    sys.exit(main())
