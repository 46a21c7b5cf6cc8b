"""The table of the Glossary page, from docs/data/glossary.yaml."""

from collections.abc import Callable
from html import escape

from markdown_tables import table

from tools.checks.terms import Term, load_glossary

HEADERS = {
    "en": ("English", "Chinese", "Note", "Do not write"),
    "zh": ("英文", "中文", "说明", "不要写成"),
}
KEPT = {"en": "Stays as it is.", "zh": "保留原文。"}


def render(language: str) -> str:
    """Return all terms as one Markdown table in `language` ("en" or "zh"), ordered by the English term."""
    terms = sorted(load_glossary(), key=lambda term: term.en.lower())
    return table(HEADERS[language], [_row(term, language) for term in terms], right=False)


def _row(term: Term, language: str) -> tuple[str, str, str, str]:
    """Return the cells of one term; words of the other language carry its code, for screen readers."""
    english, chinese, forbidden = term.en, "、".join((term.zh, *term.also)), "、".join(term.forbidden)
    if language == "zh":
        english = _foreign("en", english)
    else:
        chinese = chinese if term.keep else _foreign("zh", chinese)
        forbidden = forbidden and _foreign("zh", forbidden)
    note = (term.note_en if language == "en" else term.note_zh) or (KEPT[language] if term.keep else "")
    return english, chinese, escape(note, quote=False) or "–", forbidden or "–"


def _foreign(language: str, text: str) -> str:
    return f'<span lang="{language}">{escape(text, quote=False)}</span>'


TABLES: dict[str, Callable[[str], str]] = {"glossary": render}
