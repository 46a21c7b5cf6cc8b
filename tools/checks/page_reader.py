"""Read a Markdown page into sections whose structure can be compared between languages.

Nothing is rendered. Code never counts as prose: fences are blanked, and every inline code span becomes one
character of a private Unicode plane, so that later searches see neither its digits nor its words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field, replace

import yaml

from tools.checks.markdown_fences import find_fences, is_include_marker, read_include
from tools.figures import FigureError, with_figures
from tools.repository_passages import PASSAGE

CODE_PLANE = 0xF0000  # chr(CODE_PLANE + n) stands for the page's n-th inline code span
EXTERNAL = (
    "\ue010",
    "\ue011",
)  # surround the text of a link to another host: titles of works stay as they are
OBJECT = "\ue012"  # stands for a formula, an icon or a bare address
BREAK = "\ue013"  # stands for an HTML tag that ends a line of text: what it separates does not touch

# Text that may run over a line end, but not over a blank line.
_ANY = r"(?:[^\n]|\n(?!\s*\n))"
_TARGET = r"""\(\s*(<[^>\n]*>|(?:[^\s()]|\([^\s()]*\))*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)"""
_CODE = re.compile(rf"(?<![`\\])(?P<mark>`+)(?!`)(?P<code>{_ANY}+?)(?<!`)(?P=mark)(?!`)")
_COMMENT = re.compile(r"<!--(?P<text>.*?)-->", re.S)
_HEADING = re.compile(r"^\s*(?P<marks>#{1,6})\s+(?P<title>.*?)\s*(?P<attrs>\{:?[^{}]*\})?\s*#*\s*$")
_HTML_HEADING = re.compile(r"<h(?P<level>[1-6])(?P<attrs>[^>]*)>(?P<title>.*?)</h(?P=level)>", re.I)
_SETEXT = re.compile(r"^(=+|-{2,})\s*$")
_ADMONITION = re.compile(
    r"""^\s*(?P<mark>!!!|\?\?\?\+?)\s+(?P<type>[\w -]*\w)(?:\s+"(?P<title>[^"]*)")?\s*$"""
)
_TAB = re.compile(r"""^\s*===[!+]*\s+"(?P<title>[^"]*)"\s*$""")
_LINK_DEFINITION = re.compile(r"^\s*\[(?P<name>[^\]\n]+)\]:[ \t]*(?P<target>\S+)[^\n]*$", re.M)
_FOOTNOTE_TEXT = re.compile(r"^(\s*)\[\^(?P<name>[^\]\n]+)\]:", re.M)
_FOOTNOTE = re.compile(r"\[\^(?P<name>[^\]\n]+)\]")
_FORMULA = re.compile(
    rf"\$\$(?P<block>{_ANY}+?)\$\$|\\\((?P<round>{_ANY}+?)\\\)|\\\[(?P<square>{_ANY}+?)\\\]"
    r"|(?<!\\)\$(?!\s)(?P<inline>(?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d)"
)
_IMAGE = re.compile(rf"!\[(?P<text>[^\]]*)\]{_TARGET}")
_LINK = re.compile(rf"\[(?P<text>(?:[^\[\]\n]|\n(?!\s*\n)|\[[^\[\]]*\])*)\]{_TARGET}")
_REFERENCE = re.compile(r"\[(?P<text>[^\[\]]+)\]\[[^\[\]]*\]")
_HTML_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_HTML_BREAK = re.compile(
    r"</?(?:br|div|p|li|ul|ol|t[dhr]|h[1-6]|d[dt]|summary|details|figcaption|button)\b", re.I
)
_HTML_TARGET = re.compile(r"""\b(?P<kind>href|src)\s*=\s*["']([^"']*)["']""")
_URL_END = r"\s<>\"'\ue010-\ue013（）。，；：、！？\u4e00-\u9fff"
_URL = re.compile(rf"<?(?P<url>https?://[^{_URL_END}]*[^{_URL_END}.,;:!?)])>?")
_ATTRIBUTES = re.compile(r"\{:?\s*[.#][^{}]*\}|\{:?[^{}\n]*=[^{}\n]*\}")
_ICON = re.compile(r":(?:material|octicons|fontawesome|simple)-[a-z0-9-]+:")
_ENTITY = re.compile(r"&#?\w+;")
_EMPHASIS = re.compile(r"(?<!\\)\*{1,3}(?=\S)|(?<=\S)(?<!\\)\*{1,3}|(?<=\S)~~|~~(?=\S)")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_CELL_END = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Item:
    """A structural element that must stand in the same place in both languages."""

    kind: str
    value: str
    line: int
    title: str | None = None


@dataclass(frozen=True)
class Heading:
    """A heading: `ident` is its explicit id, None where it has none."""

    level: int
    ident: str | None
    title: str
    line: int


@dataclass
class Section:
    """What stands between a heading and the next one; `heading` is None before the first."""

    heading: Heading | None
    items: list[Item] = field(default_factory=list)
    links: Counter[str] = field(default_factory=Counter)
    images: Counter[str] = field(default_factory=Counter)
    formulas: Counter[str] = field(default_factory=Counter)
    footnotes: Counter[str] = field(default_factory=Counter)
    tables: list[list[list[str]]] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    first_line: int = 1

    @property
    def text(self) -> str:
        """The prose outside tables, with inline code as private characters."""
        return "\n".join(self.prose)


@dataclass
class Page:
    """A page as sections; `prose` holds one entry per source line ('' where the line is no prose)."""

    meta: dict
    sections: list[Section]
    code: list[str]
    prose: list[str]
    table_lines: set[int]
    problems: list[tuple[int, str]]

    @property
    def headings(self) -> list[Heading]:
        """The headings in order."""
        return [section.heading for section in self.sections if section.heading]

    def show(self, text: str) -> str:
        """Return `text` with its inline code written out again."""
        return re.sub(
            f"[{chr(CODE_PLANE)}-{chr(CODE_PLANE + 0xFFFD)}]",
            lambda match: f"`{self.code[ord(match[0]) - CODE_PLANE]}`",
            text.translate({ord(mark): None for mark in (*EXTERNAL, OBJECT, BREAK)}),
        )


def split_front_matter(text: str) -> tuple[dict, int, str | None]:
    """Return the front matter, the number of lines that it takes, and what is wrong with it or None."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, 0, None
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            try:
                meta = yaml.safe_load("\n".join(lines[1:number])) or {}
            except yaml.YAMLError as error:
                return {}, number + 1, f"front matter is not YAML: {str(error).splitlines()[0]}"
            wrong = None if isinstance(meta, dict) else "front matter is not a mapping"
            return (meta if isinstance(meta, dict) else {}), number + 1, wrong
    return {}, 0, "front matter is never closed"


def _blank(match: re.Match[str], keep: str = "") -> str:
    """Replace a match by `keep` and as many line ends as the match has more than `keep`."""
    return keep + "\n" * (match[0].count("\n") - keep.count("\n"))


class _Reader:
    """Turns the text of one page into a `Page`, step by step; every step keeps the number of lines."""

    def __init__(self, text: str) -> None:
        text = text.replace("\r\n", "\n")
        self.meta, skipped, wrong = split_front_matter(text)
        self.lines = text.split("\n")
        self.lines[:skipped] = [""] * skipped
        self.problems: list[tuple[int, str]] = [(1, wrong)] if wrong else []
        try:
            self.lines = with_figures("\n".join(self.lines)).split("\n")
        except FigureError as error:
            self.problems.append((1, str(error)))
        self.items: list[Item] = []
        self.found: list[tuple[str, str, int]] = []  # unordered elements: kind, value, line
        self.headings: list[Heading] = []
        self.code: list[str] = []
        self.text = ""

    def take_fences(self) -> None:
        """Record fences and their includes, and blank their lines."""
        fences, unclosed = find_fences("\n".join(self.lines))
        for fence in fences:
            self.items.append(Item("fence", f"{fence.info} ({len(fence.body)} lines)", fence.first))
            for number, line in enumerate(fence.body, start=fence.first + 1):
                if include := read_include(line.strip()):
                    self.items.append(Item("include", include, number))
            self.lines[fence.first - 1 : fence.last] = [""] * (len(fence.body) + 2)
        if unclosed:
            self.problems.append((unclosed, "this fence is never closed"))
            self.lines[unclosed - 1 :] = [""] * (len(self.lines) - unclosed + 1)
        for index, line in enumerate(self.lines):
            if is_include_marker(line):
                self.problems.append(
                    (index + 1, 'write an include as the one line of a fence: --8<-- "file:section"')
                )
                self.lines[index] = ""
        self.text = "\n".join(self.lines)

    def line_at(self, position: int) -> int:
        """Return the 1-based line of a position in `self.text`."""
        return self.text.count("\n", 0, position) + 1

    def take_code_and_comments(self) -> None:
        """Mask inline code, record the comments that a build hook acts on, drop all comments."""

        def mask(match: re.Match[str]) -> str:
            self.code.append(re.sub(r"\s+", " ", match["code"]).strip())
            return _blank(match, chr(CODE_PLANE + len(self.code) - 1))

        self.text = _CODE.sub(mask, self.text)
        for match in _COMMENT.finditer(self.text):
            if match["text"].strip().startswith("table:"):
                value = re.sub(r"\s+", " ", match["text"].strip())
                self.items.append(Item("table marker", value, self.line_at(match.start())))
            elif mark := PASSAGE.fullmatch(match[0]):
                self.items.append(Item("passage", mark["name"], self.line_at(match.start())))
        self.text = _COMMENT.sub(_blank, self.text)

    def take_block_lines(self) -> None:
        """Record headings, admonitions and tabs; of each line only its title stays."""
        lines = self.text.split("\n")
        for index, line in enumerate(lines):
            number = index + 1
            if html := _HTML_HEADING.search(line):
                ident = re.search(r"""\bid\s*=\s*["']([^"']+)["']""", html["attrs"])
                title = _HTML_TAG.sub("", html["title"]).strip()
                self.headings.append(Heading(int(html["level"]), ident and ident[1], title, number))
            elif heading := _HEADING.match(line):
                ident = re.search(r"#([^\s}]+)", heading["attrs"] or "")
                self.headings.append(
                    Heading(len(heading["marks"]), ident and ident[1], heading["title"], number)
                )
                lines[index] = heading["title"]
            elif _SETEXT.match(line) and index and lines[index - 1].strip() and "|" not in lines[index - 1]:
                self.problems.append((number, "underlined heading: write `## Text { #id }`"))
            elif admonition := _ADMONITION.match(line):
                value = f"{admonition['mark']} {admonition['type']}"
                self.items.append(Item("admonition", value, number, admonition["title"]))
                lines[index] = admonition["title"] or ""
            elif tab := _TAB.match(line):
                self.items.append(Item("content tab", "", number, tab["title"]))
                lines[index] = tab["title"]
        self.text = "\n".join(lines)

    def take(self, pattern: re.Pattern[str], kind: str, group: str | int, keep: str | int) -> None:
        """Record the `group` of every match as `kind`; the text of the group `keep` stays."""

        def record(match: re.Match[str]) -> str:
            value = match[group].strip("<>")
            self.found.append((kind, value, self.line_at(match.start())))
            kept = match[keep] if keep not in ("", OBJECT) else keep
            if kind == "link" and re.match(r"https?:", value) and kept not in ("", OBJECT):
                kept = EXTERNAL[0] + kept + EXTERNAL[1]
            return _blank(match, kept)

        self.text = pattern.sub(record, self.text)

    def take_inline(self) -> None:
        """Record formulas, images, links and footnotes; drop what readers do not see."""

        def formula(match: re.Match[str]) -> str:
            value = re.sub(r"\\text\{[^}]*\}", r"\\text{}", next(part for part in match.groups() if part))
            self.found.append(("formula", re.sub(r"\s+", " ", value).strip(), self.line_at(match.start())))
            return _blank(match, OBJECT)

        def tag(match: re.Match[str]) -> str:
            for kind, value in _HTML_TARGET.findall(match[0]):
                name = "image" if kind == "src" else "link"
                self.found.append((name, value, self.line_at(match.start())))
            return _blank(match, BREAK if _HTML_BREAK.match(match[0]) else "")

        self.text = _FORMULA.sub(formula, self.text)
        self.take(_FOOTNOTE_TEXT, "footnote", "name", 1)
        self.take(_FOOTNOTE, "footnote", "name", "")
        self.take(_LINK_DEFINITION, "link", "target", "")
        self.take(_IMAGE, "image", 2, "text")
        self.take(_LINK, "link", 2, "text")
        self.text = _REFERENCE.sub(lambda match: match["text"], self.text)
        self.take(_URL, "link", "url", OBJECT)
        self.text = _HTML_TAG.sub(tag, self.text)
        for pattern in (_ATTRIBUTES, _EMPHASIS):
            self.text = pattern.sub(_blank, self.text)
        self.text = _ICON.sub(OBJECT, self.text)
        self.text = _ENTITY.sub(" ", self.text)

    def tables(self) -> dict[int, list[list[str]]]:
        """Return the tables, keyed by their first line (1-based): rows of cells, the header row first."""
        lines = self.text.split("\n")
        found: dict[int, list[list[str]]] = {}
        index = 1
        while index < len(lines):
            if "|" in lines[index] and "|" in lines[index - 1] and _TABLE_RULE.match(lines[index]):
                start, end = index - 1, index + 1
                while end < len(lines) and lines[end].strip():
                    end += 1
                rows = [lines[start], *lines[index + 1 : end]]
                found[start + 1] = [_cells(row) for row in rows]
                index = end
            index += 1
        return found

    def read(self) -> Page:
        """Run all steps and deal the elements out to sections."""
        self.take_fences()
        self.take_code_and_comments()
        self.take_block_lines()
        self.take_inline()
        tables = self.tables()
        prose = self.text.split("\n")
        titled = [replace(h, title=prose[h.line - 1].strip(f" {BREAK}")) for h in self.headings]
        sections = [Section(None), *(Section(heading, first_line=heading.line) for heading in titled)]
        starts = [heading.line for heading in self.headings]

        def at(line: int) -> Section:
            return sections[bisect_right(starts, line)]

        table_lines: set[int] = set()
        for line, table in tables.items():
            at(line).tables.append(table)
            widths = ", ".join(str(width) for width in sorted({len(row) for row in table}))
            self.items.append(Item("table", f"{len(table)} rows x {widths} columns", line))
            table_lines.update(range(line, line + len(table) + 1))
        for item in sorted(self.items, key=lambda item: item.line):
            at(item.line).items.append(item)
        for kind, value, line in self.found:
            getattr(at(line), kind + "s")[value] += 1
        for line, text in enumerate(prose, 1):
            if line not in table_lines:
                at(line).prose.append(text)
        return Page(self.meta, sections, self.code, prose, table_lines, self.problems)


def _cells(row: str) -> list[str]:
    """Split a table row into its cells; an escaped bar does not split."""
    row = row.strip().removeprefix("|")
    if row.endswith("|") and not row.endswith("\\|"):
        row = row[:-1]
    return [cell.strip() for cell in _CELL_END.split(row)]


def read_markdown(text: str) -> Page:
    """Read the text of a Markdown page."""
    return _Reader(text).read()
