"""Turn the Markdown that the site is built from into Markdown that anybody can read without the site.

Included code is written out, HTML of tables and lists becomes Markdown, tabs and folds become a bold title
with their text. What only works in a browser (forms, pictures for the dark scheme) is left out.
"""

import re
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path

from tools.checks.markdown_fences import Fence, find_fences, read_include
from tools.checks.sections import Section

_BOX = re.compile(r'^(?:\?\?\?\+?|!!!|===[!+]?) *[\w -]*(?:"(?P<title>[^"]*)")?\s*$')
_WIDGET = re.compile(r"<(form|script|style)\b.*?</\1>|<div[^>]* hidden>.*?</div>|<!--.*?-->", re.DOTALL)
_DARK = re.compile(r"!\[[^]]*\]\([^)]*#only-dark\)(?:\{[^}]*\})?")
_ROW = re.compile(r"<tr\b[^>]*>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<(?:td|th)\b[^>]*>(.*?)</(?:td|th)>", re.DOTALL)
_ANCHOR = re.compile(r'<a\b[^>]*?href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_CODE = re.compile(r"<code\b[^>]*>(.*?)</code>", re.DOTALL)
_TAGS = re.compile(
    r"</?(?:a|b|br|button|dd|details|div|dl|dt|em|fieldset|figcaption|figure|input|label|legend|li|ol|option|p"
    r"|pre|select|small|span|strong|sub|sup|summary|table|tbody|td|th|thead|tr|ul)\b[^>]*>"
)
_ATTRIBUTES = re.compile(r"(?<=[\s)*`\]])\{:? *[.#][^{}\n]*\}")
_LINK = re.compile(r"(?<!\\)\]\((?P<target>[^()\s]+)\)")


def plain_markdown(
    markdown: str, root: Path, sections: Mapping[str, Section], address: Callable[[str], str]
) -> str:
    """Return a page's Markdown in plain form; `address` gives the address that a link's target stands for."""
    parts, last = [], 0
    lines = _unboxed(markdown.split("\n"))
    for fence in find_fences("\n".join(lines))[0]:
        parts.append(_prose("\n".join(lines[last : fence.first - 1]), address))
        parts.append(_code_block(fence, root, sections))
        last = fence.last
    parts.append(_prose("\n".join(lines[last:]), address))
    text = "\n".join(parts)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _unboxed(lines: list[str]) -> list[str]:
    """Write tabs, folds and admonitions as a bold title and their text, without its indentation."""
    found, at = [], 0
    while at < len(lines):
        box = _BOX.match(lines[at])
        at += 1
        if not box:
            found.append(lines[at - 1])
            continue
        first = at
        while at < len(lines) and (not lines[at].strip() or lines[at].startswith("    ")):
            at += 1
        title = [f"**{box['title']}**", ""] if box["title"] else []
        found += [*title, *_unboxed([line.removeprefix("    ") for line in lines[first:at]])]
    return found


def _code_block(fence: Fence, root: Path, sections: Mapping[str, Section]) -> str:
    """Return a fenced block with what it includes; of its first line only the language stays."""
    body: list[str] = []
    for line in fence.body:
        include = read_include(line.strip())
        if include in sections:
            body += sections[include].text.split("\n")
        elif include:
            body += (root / include).read_text(encoding="utf-8").rstrip().split("\n")
        else:
            body.append(line)
    marks = "`" * max(
        [3, *(len(run) + 1 for run in re.findall(r"^ *(`{3,})", "\n".join(body), re.MULTILINE))]
    )
    return "\n".join(f"{fence.prefix}{line}".rstrip() for line in [marks + fence.language, *body, marks])


def _prose(text: str, address: Callable[[str], str]) -> str:
    """Return what stands between code blocks without HTML, classes and ids."""
    text = _DARK.sub("", _WIDGET.sub("", text))
    if "<" in text:
        text = re.sub(r"<table\b[^>]*>(.*?)</table>", lambda table: _table(table[1]), text, flags=re.DOTALL)
        text = re.sub(r"<summary>(.*?)</summary>", r"**\1**\n\n", text)
        text = re.sub(r"<li\b[^>]*>(.*?)</li>", r"- \1\n", text)
        text = _ANCHOR.sub(r"[\2](\1)", _CODE.sub(lambda code: _quoted(code[1]), text))
        text = re.sub(r"<br */?>", " ", text)
        text = _TAGS.sub("", text)
    text = unescape(_ATTRIBUTES.sub("", text))
    text = _LINK.sub(lambda link: f"]({address(link['target'])})", text)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _table(html: str) -> str:
    """Return the rows of an HTML table as a table of Markdown."""
    rows = [
        [" ".join(cell.split()).replace("|", r"\|") for cell in _CELL.findall(row)]
        for row in _ROW.findall(html)
    ]
    written = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["", *written[:1], "|---" * len(rows[0]) + "|", *written[1:], ""]) if rows else ""


def _quoted(code: str) -> str:
    """Return text as inline code."""
    return f"`` {code} ``" if "`" in code else f"`{code}`"
