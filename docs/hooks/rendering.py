"""What those share that render data as Markdown."""

MISSING = "–"  # in a cell for which there is no value


class TableError(ValueError):
    """A table cannot be made; the message names its file, what is wrong in it, and why."""


def code_span(text: str) -> str:
    """Return text as inline code, whatever backticks it has."""
    mark = "`"
    while mark in text:
        mark += "`"
    return f"{mark} {text} {mark}" if "`" in text else f"{mark}{text}{mark}"
