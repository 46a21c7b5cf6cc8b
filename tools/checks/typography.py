"""Check the typography of Chinese texts: spaces around Latin words, full-width marks, unbroken lines.

    python -m tools.checks.typography           one line per defect, with the suggested text; exit 1 for one
    python -m tools.checks.typography --marks   colons and semicolons of every page, most colons first

AutoCorrect finds most; the rules below add what it leaves alone. A page may have 9 colons and 2 semicolons
for 1,000 Han of prose, and 3 and 1 however short it is. Code, front matter (except `description`),
ids, link targets, HTML and the markers that hooks replace are not looked at.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import autocorrect_py

from tools.checks.bilingual_texts import data_texts, twins
from tools.checks.chinese_prose import COLONS, SEMICOLONS, Marks, marks
from tools.checks.page_reader import BREAK, CODE_PLANE, EXTERNAL, OBJECT, Page, read_markdown

ROOT = Path(__file__).resolve().parents[2]
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
_FULL = "，。；：！？、（）“”‘’《》【】…—"
# Off are the rules that put spaces around brackets, dashes and dollar signs, and spelling, which is the
# glossary's task.
_OFF = ("space-bracket", "space-backticks", "space-dash", "space-dollar", "spellcheck")
_CONTEXT = 6  # characters shown before and after a defect
_WIDE = zip(",;:!?", "，；：！？", strict=True)
_RULES = [
    # Brackets are full-width when Chinese stands in them or directly before them; f(x) is left alone.
    (rf"(?<=[{_HAN}])[ ]?\(([^()]*)\)[ ]?|[ ]?\(([^()]*[{_HAN}{_FULL}][^()]*)\)[ ]?", r"（\1\2）"),
    (rf'(?<=[{_HAN}{_FULL}])[ ]?"([^"]+)"[ ]?|[ ]?"([^"]*[{_HAN}][^"]*)"[ ]?', r"“\1\2”"),
    *((rf"(?<=[{_HAN}”）])[ ]*[{one}][ ]*|[{one}][ ]*(?=[{_HAN}“（])", wide) for one, wide in _WIDE),
    (rf"(?<=[{_HAN}”）])\.(?=\s|$)|(?<=[A-Za-z0-9%])\.$", "。"),
    (r"(?<=[A-Za-z0-9]), ?(?=[A-Za-z])|(?<=[A-Za-z]), ?(?=\d)", "、"),
    (rf"(?<=[{_HAN}])[ \u3000]+(?=[{_HAN}])", ""),
    (rf"(?<=[{_HAN}])\.{{3,}}", "……"),
    (r"(?<=\d)[ ]+(?=%)", ""),
]
_LIST_MARK = re.compile(r"^\s*(?:>\s*)*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?|^\s*(?:>\s*)+|^\s*")
_NEW_BLOCK = re.compile(r"^\s*(?:[-*+]\s|\d+[.)]\s|>|:\s)")
_CODE_CHARACTER = re.compile(f"[{OBJECT}{chr(CODE_PLANE)}-{chr(CODE_PLANE + 0xFFFD)}]")
_EXTERNAL_TEXT = re.compile(f"{EXTERNAL[0]}([^{EXTERNAL[1]}]*){EXTERNAL[1]}")

autocorrect_py.load_config(json.dumps({"rules": dict.fromkeys(_OFF, 0)}))


def _plain(line: str) -> str:
    """Return a prose line with inline code, and the titles of works behind links, as one Latin word each."""
    line = _EXTERNAL_TEXT.sub(lambda match: match[1] if re.search(f"[{_HAN}]", match[1]) else "LINK", line)
    return _LIST_MARK.sub("", _CODE_CHARACTER.sub("CODE", line))


def corrected(text: str) -> str:
    """Return one line of Chinese prose as it should be set; a line without Han characters stays."""
    if not re.search(f"[{_HAN}]", text):
        return text
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    # Twice: full-width digits become half-width first, and then need a space beside Chinese.
    return autocorrect_py.format(autocorrect_py.format(text))


def check_text(text: str) -> Iterator[str]:
    """Yield what is wrong in one line of Chinese prose, each time with the text as it should be."""
    right = corrected(text)
    if right == text:
        return
    changes = SequenceMatcher(None, text, right, autojunk=False)
    for group in changes.get_grouped_opcodes(_CONTEXT):
        (_, start, _, right_start, _), (_, _, end, _, right_end) = group[0], group[-1]
        yield _readable(f"{text[start:end].strip()}  ->  {right[right_start:right_end].strip()}")


def _readable(text: str) -> str:
    """Write the words that stand for inline code and for titles behind links as what they are."""
    return text.replace("CODE", "`…`").replace("LINK", "[…]")


def _broken_lines(page: Page) -> Iterator[int]:
    """Yield the lines that continue a Chinese paragraph: browsers show the line break as a space."""
    for number, (line, following) in enumerate(zip(page.prose, page.prose[1:], strict=False), 2):
        inside_table = {number - 1, number} & page.table_lines
        if inside_table or not line.strip() or not following.strip() or _NEW_BLOCK.match(following):
            continue
        heading_or_title = any(h.line in (number - 1, number) for h in page.headings) or any(
            item.line in (number - 1, number) for section in page.sections for item in section.items
        )
        ends, starts = line.rstrip()[-1], following.strip()[0]
        if not heading_or_title and re.search(f"[{_HAN}{_FULL}]", ends + starts) and not line.endswith("  "):
            yield number


def lost_emphasis(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, what) where GitHub shows asterisks: `**注意。**请` is no bold text by CommonMark's rules.

    The site's own Markdown is not so strict; this is for files that people read on GitHub.
    """
    for number, line in enumerate(text.split("\n"), 1):
        for bold in re.finditer(r"(?P<before>.?)\*\*(?P<text>[^*]+)\*\*(?P<after>.?)", line):
            opens = bold["text"][0] in _FULL and bold["before"].isalnum()
            closes = bold["text"][-1] in _FULL and bold["after"].isalnum()
            if opens or closes:
                yield number, f"GitHub shows the asterisks: put the punctuation outside of **{bold['text']}**"


def check_page(page: Page) -> Iterator[tuple[int, str]]:
    """Yield (line, what) for the defects of a Chinese page."""
    for what in check_text(str(page.meta.get("description") or "")):
        yield 1, f"front matter `description`: {what}"
    for number, line in enumerate(page.prose, 1):
        parts = re.split(rf"(?<!\\)\||{BREAK}" if number in page.table_lines else BREAK, line)
        for part in parts:
            for what in check_text(_plain(part).strip()):
                yield number, what
    for number in _broken_lines(page):
        yield number, "line break inside a Chinese paragraph shows as a space: join it with the line before"


def marks_of_pages(root: Path = ROOT) -> dict[str, Marks]:
    """Return the marks of every Chinese page."""
    pages = [twin.chinese for twin in twins(root) if twin.page and twin.chinese.is_file()]
    return {page.relative_to(root).as_posix(): marks(page.read_text(encoding="utf-8")) for page in pages}


def check(root: Path = ROOT) -> tuple[list[str], int]:
    """Check all Chinese texts below `root`; return the defects, and how many files and texts were read."""
    defects: list[str] = []
    files = [twin for twin in twins(root) if twin.chinese.is_file()]
    for twin in files:
        name = twin.chinese.relative_to(root).as_posix()
        text = twin.chinese.read_text(encoding="utf-8")
        found = sorted(check_page(read_markdown(text)))
        if not twin.page:
            found += lost_emphasis(text)
        elif (counted := marks(text)).too_many():
            most = f"at most {COLONS} and {SEMICOLONS}: join sentences with 因为, 所以, 如果, 不过"
            defects.append(f"{name}: {counted}; {most}")
        defects += [f"{name}:{line}: {what}" for line, what in found]
    texts = [(found, found.chinese) for found in data_texts(root) if found.chinese]
    for place, chinese in texts:
        where = f"{place.file}: {place.path}: "
        lines = read_markdown(chinese).prose
        defects += [where + what for line in lines for what in check_text(_plain(line))]
    return defects, len(files) + len(texts)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="typography.py", description=__doc__.split("\n")[0])
    parser.add_argument("--marks", action="store_true", help="print colons and semicolons of every page")
    if parser.parse_args(arguments).marks:
        found = sorted(marks_of_pages(root).items(), key=lambda item: -item[1].colons / max(item[1].han, 1))
        print("\n".join(f"{name}: {counted}" for name, counted in found))
        return 0
    defects, count = check(root)
    if not count:
        defects.append("nothing was checked: no Chinese text found")
    print("\n".join([*defects, f"typography: {count} Chinese texts checked; {len(defects)} defects"]))
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
