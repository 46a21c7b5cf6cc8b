"""The pages of error messages, from docs/data/error_messages/: one heading per message, then cure and cause.

Each file is a topic with a page of its own, in the order of ORDER: its title, and its messages. The page
reference/error-messages/ lists all of them below a field that finds one
(docs/assets/javascripts/error-filter.js). A message has

    id        the anchor, unique over all topics
    text      the message as it is printed, in one line; numbers and names are those of a real example
    variants  other wordings of the same message, if there are any
    cause     en and zh; one or two sentences
    cure      en and zh; one line of Markdown, with links relative to reference/, and #id to another message
              or topic
    code      a tested section that cures it, such as snippets/NAME.py:SECTION, if there is one
    search    literals that stand in PyTorch's wheels for the texts that they fit, where a text has numbers or
              names filled in; {…} for what an f-string fills in, a line break for the end
    releases  a note, en and zh, where the range that was read in the wheels is not all: see tools/ranges.py
    sources   of text, cause and cure: [issue, 5, owner/name], [pull, 5, owner/name], [text, address], or
              [program, examples/…] for what a program of this project prints
    read      the day on which the sources were read
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from html import escape
from typing import Any

import mac_marks
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from origins import DATA, load
from rendering import code_span
from source_links import thread

from tools import ranges
from tools.checks.page_code import MADE_FROM_DATA

PAGES = "reference/error-messages/"
INDEX = f"{PAGES}index.md"
FOLDER = DATA / "error_messages"
ORDER = (  # in which a training meets them
    *("installing", "availability", "operators", "dtypes", "autocast", "memory", "sizes", "devices", "metal"),
    *("loading", "checkpoints", "compile", "distributed", "frameworks", "libraries"),
    *("compiled-libraries", "notebooks", "continuous-integration", "training-systems"),
)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)")
CLASS = re.compile(r"^(?:[\w.]+(?:Error|Warning|Exception)|error|ERROR): ")
SHORT = 60  # characters of a message in the list beside a page
WORDS = {
    "en": {
        "more": "Other wordings, releases, sources",
        "less": "Releases, sources",
        "cure": "**Cure.** {}",
        "cause": "**Cause.** {}",
        "sources": "Sources: {}",
        "between": ", ",
        "stop": "{}. ",
        "note": "; ",
        "variant": " ({})",
        "heading": "The wording of the heading: {}",
        "label": "Find your error message",
        "hint": "Paste the error, or type a few of its words",
        "find": "Find",
        "found": "{found} of {total} messages are like yours, the nearest first:",
        "nothing": "No message on these pages is like yours.",
        "search": "Search the whole site",
        "ask": "Ask, with what others need to know",
    },
    "zh": {
        "more": "其他写法、版本、来源",
        "less": "版本、来源",
        "cure": "**解决办法：**{}",
        "cause": "**原因：**{}",
        "sources": "来源：{}",
        "between": "、",
        "stop": "{}。",
        "note": "；",
        "variant": "（{}）",
        "heading": "标题里的写法：{}",
        "label": "查找你的报错",
        "hint": "粘贴报错，或者输入其中几个词",
        "find": "查找",
        "found": "{total} 条报错里有 {found} 条与你的相近，最接近的在前：",
        "nothing": "这些页面里没有与你的报错相近的。",
        "search": "搜索全站",
        "ask": "求助时要写清楚哪些信息",
    },
}
FILTER = """\
<form class="error-filter" action="{action}" data-error-filter data-found="{found}" hidden>
<label for="error-message">{label}</label>
<div><input type="search" id="error-message" name="message" placeholder="{hint}"\
 autocomplete="off" spellcheck="false">\
<button type="submit">{find}</button></div>
<p role="status"></p>
<ol hidden></ol>
<p data-else hidden><span>{nothing}</span> <a href="?q=">{search}</a> · \
<a href="{start}start/check-setup/#ask">{ask}</a></p>
</form>
"""


@cache
def topics() -> dict[str, dict[str, Any]]:
    """Return the topics in their order; the names are those of the pages."""
    return {name: load(name, FOLDER) for name in ORDER}


def source_link(source: Sequence[Any]) -> str:
    """Return a link to a thread, a file in a repository, or a page by the name of its host; or a program."""
    if source[0] == "program":
        return f"`{source[1]}`"
    if source[0] != "text":
        return thread(source)
    parts = source[1].removeprefix("https://").partition("#")[0].rstrip("/").split("/")
    return f"[{f'{parts[2]}: {parts[-1]}' if '/blob/' in source[1] else parts[0]}]({source[1]})"


def own(found: str, first: str, language: str) -> str:
    """Return the releases of another wording, if they are known and not those of the first."""
    if found in ("", first):
        return ""
    return f"<small data-search-exclude>{WORDS[language]['variant'].format(found)}</small>"


@cache
def places() -> dict[str, str]:
    """Return the topic of each message."""
    return {message["id"]: name for name, topic in topics().items() for message in topic["messages"]}


def from_topic(markdown: str, topic: str) -> str:
    """Return Markdown of the data, whose links are relative to reference/, with links from a topic's page."""

    def lead(link: re.Match[str]) -> str:
        path, anchor = link[1], link[2] or ""
        if path:
            return f"](../{path}{anchor})"
        if anchor[1:] in topics():
            return f"]({anchor[1:]}.md)"
        other = places()[anchor[1:]]
        return f"]({'' if other == topic else f'{other}.md'}{anchor})"

    return LINK.sub(lead, markdown)


def entry(
    message: Mapping[str, Any], language: str, topic: str, on_macs: Iterable[tuple[str, str]] = ()
) -> str:
    """Return one message: heading, cure, code, cause; folded the other wordings, releases and sources.

    `on_macs` are other texts that Macs printed, each with its line; not shown if it has been added since.
    """
    words = WORDS[language]
    first, *others = [ranges.words(marks, language) for marks in ranges.marks(message)]
    blocks = [f"## {code_span(message['text'])} {{ #{message['id']} .error }}"]
    blocks.append(words["cure"].format(from_topic(message["cure"][language], topic)))
    if code := message.get("code"):
        blocks.append(f'<div class="{MADE_FROM_DATA}" markdown>\n\n```python\n--8<-- "{code}"\n```\n\n</div>')
    blocks.append(words["cause"].format(from_topic(message["cause"][language], topic)))
    known = {message["text"], *message.get("variants", ())}
    blocks += [line for text, line in on_macs if text not in known]
    summary = words["more" if others else "less"]
    blocks.append(f'<details class="error-more" markdown>\n<summary data-search-exclude>{summary}</summary>')
    if others:
        pairs = zip(message["variants"], others, strict=True)
        blocks.append("\n".join(f"- {code_span(text)}{own(found, first, language)}" for text, found in pairs))
    if first and any(own(found, first, language) for found in others):
        first = words["heading"].format(first)
    releases = words["note"].join(filter(None, [first, message.get("releases", {}).get(language)]))
    last = words["stop"].format(releases) if releases else ""
    last += words["sources"].format(words["between"].join(map(source_link, message["sources"])))
    return "\n\n".join([*blocks, f'{last}\n{{ data-search-exclude="true" }}', "</details>"])


def render(topic: str, language: str) -> str:
    """Return the messages of a topic as Markdown in `language` ("en" or "zh")."""
    on_macs, found = mac_marks.messages(language), topics()[topic]["messages"]
    return "\n\n".join(entry(one, language, topic, on_macs.get(one["id"], ())) for one in found) + "\n"


def field(language: str, action: str = "../") -> str:
    """Return the field that finds a message; on a topic's page it leads to the list of all."""
    words = WORDS[language] | {"found": WORDS[language]["found"].replace("{total}", str(len(places())))}
    return FILTER.format(action=action, start="../../" if action == "" else "../../../", **words)


def contents(language: str) -> str:
    """Return the field and all messages by topic, each a link that carries its other wordings."""
    parts = [field(language, action="")]
    for name, topic in topics().items():
        parts.append(f"## {topic['title'][language]} {{ #{name} }}\n")
        lines = []
        for message in topic["messages"]:
            also = "&#10;".join(map(escape, message.get("variants", ())))
            also = f' data-also="{also}"' if also else ""
            lines.append(f'<li><a href="{name}/#{message["id"]}"{also}>{escape(message["text"])}</a></li>')
        parts.append('<ul class="error-list" data-search-exclude>\n' + "\n".join(lines) + "\n</ul>\n")
    return "\n".join(parts)


def moved() -> dict[str, str]:
    """Return where the messages are that had their places on the page of all of them, by anchor."""
    return {ident: f"{PAGES}{topic}.md#{ident}" for ident, topic in places().items()}


def shortened(text: str) -> str:
    """Return the beginning of a message, without the class of the error."""
    text = CLASS.sub("", text)
    return text if len(text) <= SHORT else text[: SHORT - 1].rstrip() + "…"


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Shorten the messages in the list beside the page of a topic."""
    if PAGES in page.file.src_uri and not page.file.src_uri.endswith(INDEX):
        for title in page.toc:
            for message in title.children:
                message.title = shortened(message.title)


TABLES: dict[str, Callable[[str], str]] = {
    "error-filter": field,
    "error-index": contents,
    **{f"error-messages-{name}": partial(render, name) for name in ORDER},
}
