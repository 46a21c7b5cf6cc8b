"""Parts of a Markdown page that tests compare with programs and data: a section, a table's cells."""

import re


def below(page: str, ident: str) -> str:
    """Return what stands below the heading with an id, up to the next heading of its level or above."""
    (found,) = re.findall(rf"^(#+) .*\{{ #{ident} \}}$", page, flags=re.MULTILINE)
    text = page[page.index(f"{{ #{ident} }}") :]
    return re.split(rf"^#{{1,{len(found)}}} ", text, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of the Markdown tables in a text, without their heads."""
    tables = re.findall(r"^\|.*(?:\n\|.*)*", text, re.MULTILINE)
    lines = [line for table in tables for line in table.splitlines()[2:]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
