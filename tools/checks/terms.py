"""Check Chinese texts against docs/data/glossary.yaml.

    python -m tools.checks.terms      one line per defect; exit 1 when there is one

Three rules. Nothing in a Chinese text is a translation that the glossary forbids. A term that the glossary
keeps (`keep`, such as Adam) and that stands on an English page stands on its Chinese page in Latin letters.
When an English page uses a term marked `require`, its Chinese page uses the glossary's word at least once.
Inline code and fences are not looked at.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.checks.bilingual_texts import data_texts, twins
from tools.checks.chinese_prose import own_words
from tools.checks.page_reader import Page, read_markdown
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = "docs/data/glossary.yaml"
FIELDS = {"en", "zh", "also", "accepted", "forbidden", "unless", "keep", "require", "note_en", "note_zh"}


@dataclass(frozen=True)
class Term:
    """An entry of the glossary."""

    en: str  # singular
    zh: str  # equal to `en` when `keep` is set
    also: tuple[str, ...] = ()  # other Chinese words that are right in some sentences
    accepted: tuple[str, ...] = ()  # words of another meaning that fulfil `require`, too
    forbidden: tuple[str, ...] = ()  # wrong translations, searched as they are; Latin ones as whole words
    unless: tuple[str, ...] = ()  # longer right words that contain a forbidden one
    keep: bool = False  # the term stays in Latin letters
    require: bool = False  # an English page with the term needs the Chinese term on its Chinese page
    note_en: str = ""
    note_zh: str = ""

    @cached_property
    def forbidden_pattern(self) -> re.Pattern[str] | None:
        """Return a pattern whose group `wrong` matches a forbidden word, or None."""
        if not self.forbidden:
            return None
        words = "|".join(rf"\b{re.escape(w)}\b" if w.isascii() else re.escape(w) for w in self.forbidden)
        right = "|".join(map(re.escape, self.unless))
        return re.compile((f"{right}|" if right else "") + f"(?P<wrong>{words})", re.I)

    @cached_property
    def english_pattern(self) -> re.Pattern[str]:
        """Return a pattern for the term in English prose: singular or plural, with spaces or hyphens."""
        words = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", self.en)))
        if self.keep:
            return re.compile(rf"(?<![\w.-]){words}(?![\w-])")
        return re.compile(rf"(?<![\w-]){words}(?:e?s)?(?!\w)", re.I)


def load_glossary(root: Path = ROOT) -> list[Term]:
    """Read the glossary. Raises ValueError for an unknown field, and for a term that lacks a language.

    A kept term that differs between the languages is an error as well.
    """
    terms = []
    for entry in read_yaml(root / GLOSSARY):
        unknown = set(entry) - FIELDS
        if unknown or not {"en", "zh"} <= set(entry):
            raise ValueError(f"{GLOSSARY}: {entry.get('en')}: has {sorted(entry)}; known: {sorted(FIELDS)}")
        lists = {key: tuple(entry.get(key, ())) for key in ("also", "accepted", "forbidden", "unless")}
        term = Term(**{**entry, **lists})
        if term.keep and term.en != term.zh:
            raise ValueError(f"{GLOSSARY}: {term.en}: a kept term has the same text in both languages")
        terms.append(term)
    return terms


def forbidden_words(terms: list[Term], lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield (line, what) for every forbidden translation in Chinese prose lines."""
    text = "\n".join(lines)
    for term in terms:
        pattern = term.forbidden_pattern
        if pattern is None or not pattern.search(text):
            continue
        for number, line in enumerate(lines, 1):
            for match in pattern.finditer(line):
                if match["wrong"]:
                    advice = "keep" if term.keep else "write"
                    yield number, f"`{match['wrong']}` for “{term.en}”: {advice} {term.zh}"


def missing_terms(terms: list[Term], english: Page, chinese: Page) -> Iterator[str]:
    """Yield what the Chinese page lacks of the kept and required terms of its English page."""
    english_text = own_words("\n".join(english.prose))
    chinese_text = chinese.show("\n".join(chinese.prose)) + str(chinese.meta)
    for term in terms:
        if not (term.keep or term.require) or not term.english_pattern.search(english_text):
            continue
        if term.keep and not term.english_pattern.search(chinese_text):
            yield f"the English page names {term.en}, the Chinese page does not: the name stays as it is"
        elif term.require and not any(word in chinese_text for word in (term.zh, *term.also, *term.accepted)):
            yield f"the English page says “{term.en}”, the Chinese page never says {term.zh}"


def check(root: Path = ROOT) -> tuple[list[str], int]:
    """Check all Chinese texts below `root`; return the defects, and how many files and texts were read."""
    terms = load_glossary(root)
    defects: list[str] = []
    files = [twin for twin in twins(root) if twin.chinese.is_file()]
    for twin in files:
        name = twin.chinese.relative_to(root).as_posix()
        page = read_markdown(twin.chinese.read_text(encoding="utf-8"))
        lines = list(page.prose)
        lines[0] = str(page.meta.get("description") or lines[0])
        defects += [f"{name}:{line}: {what}" for line, what in forbidden_words(terms, lines)]
        if twin.english.is_file():
            english = read_markdown(twin.english.read_text(encoding="utf-8"))
            defects += [f"{name}: {what}" for what in missing_terms(terms, english, page)]
    texts = [(text, text.chinese) for text in data_texts(root) if text.chinese]
    for text, chinese in texts:
        lines = read_markdown(chinese).prose
        defects += [f"{text.file}: {text.path}: {what}" for _, what in forbidden_words(terms, lines)]
    return defects, len(files) + len(texts)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return the exit code."""
    argparse.ArgumentParser(prog="terms.py", description=__doc__.split("\n")[0]).parse_args(arguments)
    try:
        defects, count = check(root)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not count:
        defects.append("nothing was checked: no Chinese text found")
    print("\n".join([*defects, f"terms: {count} Chinese texts checked; {len(defects)} defects"]))
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
