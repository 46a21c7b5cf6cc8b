"""Tables of what the source guides name and where this project has it, from docs/data/coverage.yaml."""

from collections.abc import Callable

from markdown_tables import MISSING, Column, table_of
from origins import DATA, load

ITEMS = (
    Column("ID", "编号", "id", form="<span class='item-id'>{}</span>"),
    Column("What the guide names", "指南里的内容", "name"),
    Column("What became of it", "处理方式", "treatment"),
    Column("Where", "位置", "where"),
)
SCRIPTS = (
    Column("Guide", "指南", "guide"),
    Column("Its program", "它的程序", "name"),
    Column("What became of it", "处理方式", "treatment"),
    Column("Here", "本手册", "here"),
)
SEPARATORS = {"en": ": ", "zh": "："}
TREATMENTS = {
    "built": {"en": "built", "zh": "已实现"},
    "corrected": {"en": "built, corrected", "zh": "已实现，并更正"},
    "explained": {"en": "explained", "zh": "已说明"},
    "judged": {"en": "claim, judged", "zh": "说法，已核实"},
    "dropped": {"en": "left out", "zh": "不采用"},
    "open": {"en": "not yet", "zh": "尚未完成"},
}


def treatment_of(entry: dict, language: str) -> str:
    """Return what became of an entry, with its note. Raises KeyError for an unknown treatment."""
    note = SEPARATORS[language] + entry["note"][language] if "note" in entry else ""
    return TREATMENTS[entry["treatment"]][language] + note


def place(entry: dict, language: str) -> str:
    """Return a link to a page (`page:`, relative to docs/<language>/) or the name of a file (`code:`)."""
    if "code" in entry:
        return f"`{entry['code']}`"
    return f"[{entry['title'][language]}](../{entry['page']})"


def render(language: str) -> str:
    """Return a heading and a table for each source."""
    parts = []
    for source in load("coverage", DATA)["sources"]:
        heading = f"## {source['title'][language]} {{ #source-{source['id']} }}"
        rows = [
            item
            | {"treatment": treatment_of(item, language)}
            | {"where": "<br>".join(place(entry, language) for entry in item["where"]) or MISSING}
            for item in source["items"]
        ]
        parts += [heading, "", source["about"][language], "", table_of(ITEMS, rows, language, right=False)]
    return "\n".join(parts)


def render_scripts(language: str) -> str:
    """Return the table of the guides' programs and ours."""
    data = load("coverage", DATA)
    rows = [
        {
            "guide": data["guides"][script["guide"]],
            "name": script["name"] if isinstance(script["name"], dict) else f"`{script['name']}`",
            "treatment": treatment_of(script, language),
            "here": "<br>".join(f"`{path}`" for path in script["here"]) or MISSING,
        }
        for script in data["scripts"]
    ]
    return table_of(SCRIPTS, rows, language, right=False)


TABLES: dict[str, Callable[[str], str]] = {"coverage": render, "coverage-scripts": render_scripts}
