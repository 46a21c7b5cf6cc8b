"""Render the table of the Glossary page from docs/data/glossary.yaml."""

from html import escape

from tools.checks.terms import Term, load_glossary

HEADERS = {
    "en": ("English", "Chinese", "Note", "Do not write"),
    "zh": ("英文", "中文", "说明", "不要写成"),
}
KEPT = {"en": "Stays as it is.", "zh": "保留原文。"}


def render(language: str) -> str:
    """Return all terms as one Markdown table in `language` ("en" or "zh"), ordered by the English term."""
    header = HEADERS[language]
    rows = [header, ("---",) * len(header)]
    rows += [_row(term, language) for term in sorted(load_glossary(), key=lambda term: term.en.lower())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(term: Term, language: str) -> tuple[str, str, str, str]:
    """Return the cells of one term; words of the other language carry its code, for screen readers."""
    english = term.en if language == "en" else _foreign("en", term.en)
    chinese = "、".join((term.zh, *term.also))
    forbidden = "、".join(term.forbidden)
    if language == "en" and not term.keep:
        chinese = _foreign("zh", chinese)
    if language == "en" and forbidden:
        forbidden = _foreign("zh", forbidden)
    note = term.note_en if language == "en" else term.note_zh
    if term.keep and not note:
        note = KEPT[language]
    return english, chinese, escape(note, quote=False) or "–", forbidden or "–"


def _foreign(language: str, text: str) -> str:
    return f'<span lang="{language}">{escape(text, quote=False)}</span>'
