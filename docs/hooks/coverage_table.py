"""Tables of what the source guides name and where this project has it, from docs/data/coverage.yaml."""

from pathlib import Path

import yaml
from markdown_tables import table

DATA = Path(__file__).resolve().parent.parent / "data" / "coverage.yaml"

HEADS = {
    "en": ("ID", "What the guide names", "What became of it", "Where"),
    "zh": ("编号", "指南里的内容", "处理方式", "位置"),
}
SCRIPT_HEADS = {
    "en": ("Guide", "Its program", "What became of it", "Here"),
    "zh": ("指南", "它的程序", "处理方式", "本手册"),
}
SEPARATORS = {"en": ": ", "zh": "："}
TREATMENTS = {
    "built": {"en": "built", "zh": "已实现"},
    "corrected": {"en": "built, corrected", "zh": "已实现，并更正"},
    "explained": {"en": "explained", "zh": "已说明"},
    "judged": {"en": "claim, judged", "zh": "说法，已核实"},
    "dropped": {"en": "left out", "zh": "不采用"},
    "open": {"en": "not yet", "zh": "尚未完成"},
}


def load() -> list[dict]:
    """Return the sources in order, each with its items."""
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))["sources"]


def load_scripts() -> tuple[dict, list[dict]]:
    """Return the titles of the guides, and the programs that they name."""
    data = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return data["guides"], data["scripts"]


def render_scripts(language: str) -> str:
    """Return the table of the guides' programs and ours. Raises KeyError for an unknown treatment."""
    guides, scripts = load_scripts()
    rows = []
    for script in scripts:
        name = script["name"]
        shown = name[language] if isinstance(name, dict) else f"`{name}`"
        here = "<br>".join(f"`{path}`" for path in script["here"]) or "–"
        guide = guides[script["guide"]][language]
        rows.append([guide, shown, treatment_of(script, language), here])
    return table(SCRIPT_HEADS[language], rows, right=False)


def treatment_of(entry: dict, language: str) -> str:
    """Return what became of an entry, with its note."""
    note = SEPARATORS[language] + entry["note"][language] if "note" in entry else ""
    return TREATMENTS[entry["treatment"]][language] + note


def place(entry: dict, language: str) -> str:
    """Return a link to a page (`page:`, relative to docs/<language>/) or the name of a file (`code:`)."""
    if "code" in entry:
        return f"`{entry['code']}`"
    return f"[{entry['title'][language]}](../{entry['page']})"


def render(language: str) -> str:
    """Return a heading and a table for each source. Raises KeyError for an unknown treatment."""
    parts = []
    for source in load():
        parts.append(
            f"## {source['title'][language]} {{ #source-{source['id']} }}\n\n{source['about'][language]}\n"
        )
        rows = []
        for item in source["items"]:
            where = "<br>".join(place(entry, language) for entry in item["where"]) or "–"
            number = f"<span class='item-id'>{item['id']}</span>"
            rows.append([number, item["name"][language], treatment_of(item, language), where])
        parts.append(table(HEADS[language], rows, right=False))
    return "\n".join(parts)
