"""The page of error messages, from docs/data/error_messages/: one heading per message, then cause and cure.

Each file is a topic of the page, in the order of ORDER: its title, and its messages. A message has

    id        the anchor, unique over all topics
    text      the message as it is printed, in one line; numbers and names are those of a real example
    variants  other wordings of the same message, if there are any
    cause     en and zh; one or two sentences
    cure      en and zh; one line of Markdown, with links relative to reference/
    code      a tested section that cures it, such as snippets/NAME.py:SECTION, if there is one
    search    literals that stand in PyTorch's wheels for the texts that they fit, where a text has numbers or
              names filled in; {…} for what an f-string fills in, a line break for the end
    releases  a note, en and zh, where the range that was read in the wheels is not all: see tools/ranges.py
    sources   of text, cause and cure: [issue, 5, owner/name], [pull, 5, owner/name] or [text, address]
    read      the day on which the sources were read
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from origins import DATA, load
from source_links import thread

from tools import ranges
from tools.checks.page_code import MADE_FROM_DATA

PAGE = "reference/error-messages.md"
FOLDER = DATA / "error_messages"
ORDER = (  # in which a training meets them
    *("installing", "availability", "operators", "dtypes", "autocast", "memory", "sizes", "devices", "metal"),
    *("loading", "checkpoints", "compile", "distributed", "frameworks", "libraries"),
    *("notebooks", "continuous-integration"),
)
WORDS = {
    "en": {
        "variants": "Other wordings, or lines that come with it:",
        "cure": "**Cure.** {}",
        "sources": "Sources: {}",
        "between": ", ",
        "stop": "{}. ",
        "note": "; ",
        "variant": " ({})",
        "heading": "The wording of the heading: {}",
    },
    "zh": {
        "variants": "其他写法，或一起出现的内容：",
        "cure": "**解决办法：**{}",
        "sources": "来源：{}",
        "between": "、",
        "stop": "{}。",
        "note": "；",
        "variant": "（{}）",
        "heading": "标题里的写法：{}",
    },
}


@cache
def topics() -> dict[str, dict[str, Any]]:
    """Return the topics in the order of the page; their names are the anchors."""
    return {name: load(name, FOLDER) for name in ORDER}


def code_span(text: str) -> str:
    """Return text as inline code, whatever backticks it has."""
    mark = "`"
    while mark in text:
        mark += "`"
    return f"{mark} {text} {mark}" if "`" in text else f"{mark}{text}{mark}"


def source_link(source: Sequence[Any]) -> str:
    """Return a link to a thread, to a file in a repository, or to another page by the name of its host."""
    if source[0] != "text":
        return thread(source)
    parts = source[1].removeprefix("https://").partition("#")[0].rstrip("/").split("/")
    return f"[{f'{parts[2]}: {parts[-1]}' if '/blob/' in source[1] else parts[0]}]({source[1]})"


def own(found: str, first: str, language: str) -> str:
    """Return the releases of another wording, if they are known and not those of the first."""
    if found in ("", first):
        return ""
    return f"<small data-search-exclude>{WORDS[language]['variant'].format(found)}</small>"


def entry(message: Mapping[str, Any], language: str) -> str:
    """Return one message: heading, cause, cure, code, and in small type the releases and sources."""
    words = WORDS[language]
    first, *others = [ranges.words(marks, language) for marks in ranges.marks(message)]
    blocks = [f"### {code_span(message['text'])} {{ #{message['id']} }}"]
    if others:
        pairs = zip(message["variants"], others, strict=True)
        lines = [f"- {code_span(text)}{own(found, first, language)}" for text, found in pairs]
        blocks.append("\n".join([words["variants"], "", *lines]))
    blocks += [message["cause"][language], words["cure"].format(message["cure"][language])]
    if code := message.get("code"):
        blocks.append(f'<div class="{MADE_FROM_DATA}" markdown>\n\n```python\n--8<-- "{code}"\n```\n\n</div>')
    if first and any(own(found, first, language) for found in others):
        first = words["heading"].format(first)
    releases = words["note"].join(filter(None, [first, message.get("releases", {}).get(language)]))
    last = words["stop"].format(releases) if releases else ""
    last += words["sources"].format(words["between"].join(map(source_link, message["sources"])))
    return "\n\n".join([*blocks, f'{last}\n{{ .error-sources data-search-exclude="true" }}'])


def render(language: str) -> str:
    """Return all topics with their messages as Markdown in `language` ("en" or "zh")."""
    parts = []
    for name, topic in topics().items():
        parts.append(f"## {topic['title'][language]} {{ #{name} }}")
        parts += [entry(message, language) for message in topic["messages"]]
    return "\n\n".join(parts) + "\n"


def contents(language: str) -> str:
    """Return the list of topics."""
    return "".join(f"- [{topic['title'][language]}](#{name})\n" for name, topic in topics().items())


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Keep only topics in the list beside the page; with all messages, it would be as long as the page."""
    if page.file.src_uri.endswith(PAGE):
        for title in page.toc:
            for topic in title.children:
                topic.children = []


TABLES: dict[str, Callable[[str], str]] = {"error-topics": contents, "error-messages": render}
