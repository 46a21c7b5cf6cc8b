"""Put a line under each code block: the file that it comes from, and where the test run executed it.

A section that runs when it is pasted, alone or with what it needs of its file in front, brings that for the
copy button (tools/checks/pasted.py). Any other is a part of its file: its line says so, and it has no button.

What was executed stands in docs/data/executed.txt, written by test runs. A section whose code has another
hash than the one there gets no badge, and a page with such a section no "verified with" in its last line
(docs/hooks/page_foot.py). Shell files say in their first lines whether the tests run them; recorded outputs
carry machine, versions and date. Recipes and shell blocks also name the Macs of reports on which they ran.
"""

import os
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

import mac_marks
from bs4 import BeautifulSoup
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from rendering import TableError

from tools.checks import executed_record, pasted
from tools.checks.markdown_fences import Fence, find_fences
from tools.checks.page_code import RECORDED
from tools.checks.sections import Section, all_sections
from tools.checks.shell_snippets import run_mark
from tools.recordings import read_machines, read_recordings

OF_THE_FOLDER = re.compile(r"^make |(?:^|[\s\"'])(?:examples|snippets|tools|docs)[/.]\w", re.MULTILINE)

WORDS = {
    "en": {
        "cpu": "CPU",
        "cuda": "CUDA",
        "mps": "MPS",
        "simulated-mps": "simulated MPS",
        "part": "part of {0}",
        "folder": "in the handbook's folder",
        "system": "in the system's folder",
        "ran": "ran on {0}",
        "parts": "ran in parts on {0}",
        "and": " and ",
        "cuda-only": "CUDA only",
        "macos-only": "macOS only",
        "mps-only": "MPS only",
        "meant-to-fail": "meant to fail",
        "lines": {1: "1 line: {0}", 2: "{1} lines: {0}"},
        "run": "run by the tests",
        "macOS only": "macOS only",
        "network": "needs the network",
        "interactive": "to run by hand",
        "recorded": "output of {0}, recorded on {1}: {2}",
        "cores": "{0} CPU cores",
        ", ": ", ",
        "verified": "Verified with {0}",
    },
    "zh": {
        "cpu": " CPU ",
        "cuda": " CUDA ",
        "mps": " MPS ",
        "simulated-mps": "模拟 MPS ",
        "part": "{0} 的一部分",
        "folder": "在手册的文件夹里运行",
        "system": "在系统的文件夹里运行",
        "ran": "已在{0}上运行",
        "parts": "已分别在{0}上运行",
        "and": "和",
        "cuda-only": "仅限 CUDA",
        "macos-only": "仅限 macOS",
        "mps-only": "仅限 MPS",
        "meant-to-fail": "演示错误",
        "lines": {1: "1 行{0}", 2: "{1} 行{0}"},
        "run": "已由自动测试运行",
        "macOS only": "仅限 macOS",
        "network": "需要联网",
        "interactive": "手动运行",
        "recorded": "{0} 的输出，录于 {1}：{2}",
        "cores": "{0} 个 CPU 核心",
        ", ": "、",
        "verified": "已用 {0} 验证",
    },
}


# What Markdown would read in an attribute, and line breaks, as references.
IN_AN_ATTRIBUTE = {ord(letter): f"&#{ord(letter)};" for letter in "\n`*_[]{}\\!"}


class Facts:
    """What is known about the code of the pages."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sections: dict[str, Section] = all_sections(root)[0]
        self.executed = executed_record.read(root)
        self.recorded, self.machines = read_recordings(root), read_machines(root)
        self.on_macs = mac_marks.blocks()

    def execution(self, include: str) -> dict | None:
        """Return the record of a Python section, None when its code has changed since it ran."""
        section = self.sections.get(include)
        return self.executed.sections.get(section.identity) if section else None

    def verified(self, includes: Iterable[str], words: dict) -> str:
        """Return with which versions these sections ran, nothing when one did not or there is none."""
        ran = [self.execution(include) for include in includes]
        return (
            words["verified"].format(name_versions(self.executed.versions, words)) if ran and all(ran) else ""
        )


facts = cache(Facts)  # docs/hooks/whole_site.py empties it before each build


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert the lines under the code blocks, and note the versions for the end of the page."""
    if not page.file.src_uri.endswith(".md"):
        return markdown
    try:
        known = facts(Path(config.config_file_path).parent)
    except TableError as error:  # of a report from a Mac
        raise PluginError(f"{page.file.src_uri}: {error}") from None
    language = os.environ.get("DOCS_LOCALE", "en")
    name = page.file.src_uri.removeprefix(f"{language}/")
    source_url = config.extra.get("source_url") or ""
    folder = "system" if name.startswith("examples/") else "folder"
    python = [fence.include for fence in find_fences(markdown)[0] if ".py:" in (fence.include or "")]
    page.meta["verified"] = known.verified(filter(known.sections.get, python), WORDS[language])
    return add_badges(markdown, known, language, source_url, folder)


def add_badges(markdown: str, known: Facts, language: str, source_url: str, folder: str = "folder") -> str:
    """Return a page's Markdown with the lines put in.

    `source_url` is the address in front of file paths, empty when there is none; `folder` is the word for
    where commands run that use files of this repository.
    """
    fences, _ = find_fences(markdown)
    lines = markdown.split("\n")
    for fence in reversed(fences):
        text = origin(fence, known, language, source_url, folder)
        if text:
            lines[fence.last : fence.last] = ["", fence.prefix + text, ""]
    return "\n".join(lines)


@event_priority(-100)  # after docs/hooks/notebook_pages.py has made the page's HTML
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Do the same for a notebook page, whose code cells are the texts of sections."""
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    known = facts(Path(config.config_file_path).parent)
    words = WORDS[os.environ.get("DOCS_LOCALE", "en")]
    html, page.meta["verified"] = add_badges_to_notebook(
        html, known, words, config.extra.get("source_url") or ""
    )
    return html


def add_badges_to_notebook(html: str, known: Facts, words: dict, source_url: str) -> tuple[str, str]:
    """Return a notebook page's HTML with the lines put in, and with which versions all of its code ran."""
    soup = BeautifulSoup(html, "html.parser")
    by_text = {section.text: section for section in known.sections.values()}
    blocks = [
        block for block in soup.select(".highlight") if block.find_parent(class_="notebook-output") is None
    ]
    found = [by_text.get(block.get_text().strip("\n").rstrip()) for block in blocks]
    for block, section in zip(blocks, found, strict=True):
        if section:
            badges = python_badges(known.execution(section.key), words)
            line = _line(file_link(section.path, source_url), badges)
            block.insert_after(BeautifulSoup(f"<p>{line}</p>", "html.parser"))
    return str(soup), known.verified((section.key if section else "" for section in found), words)


def origin(fence: Fence, known: Facts, language: str, source_url: str, folder: str) -> str | None:
    """Return the line for one fence, None for a fence that includes nothing (or a file that is missing)."""
    words, include = WORDS[language], fence.include or ""
    path = include.partition(":")[0]
    if not path or not (known.root / path).is_file():
        return None
    recorded = known.recorded.get(Path(path).stem) if path.startswith(RECORDED) else None
    if recorded:
        return _line(recording(recorded, known.machines[recorded["machine"]], words), [])
    if path.endswith(".sh"):
        section = known.sections.get(include)
        here = section and "curl" not in section.text and OF_THE_FOLDER.search(section.text)
        badges = [("folder", words[folder])] if here else []
        badges.append(shell_badge(known.root / path, words))
        return _line(file_link(path, source_url), badges + mac_badges(section, known, language))
    link = file_link(path, source_url)
    section = known.sections.get(include)
    if section is None or not path.endswith(".py"):  # a whole file, or settings
        return _line(link, [])
    text = pasted.whole(section, known.root)
    if text is None:
        return _line(words["part"].format(link), [], part=True)
    alone = text == f"{section.text}\n"
    badges = python_badges(known.execution(include), words) + mac_badges(section, known, language)
    return _line(link, badges, copy=None if alone else text)


def file_link(path: str, source_url: str) -> str:
    """Return a file's path as code, linked when the repository's address is known."""
    return f'<a href="{source_url}{path}">{_code(path)}</a>' if source_url else _code(path)


def python_badges(record: dict | None, words: dict) -> list[tuple[str, str]]:
    """Return (style, text) for a section: where it ran, and its excepted lines by kind."""
    if record is None:
        return []
    badges = [("ran", words["ran"].format(words[context])) for context in record["contexts"]]
    if record.get("parts"):
        names = words["and"].join(words[context] for context in record["parts"])
        badges.append(("ran", words["parts"].format(names)))
    rest_ran = bool(badges)
    for kind, number in record.get("exceptions", {}).items():
        if rest_ran:
            badges.append(("not-run", words["lines"][min(number, 2)].format(words[kind], number)))
        else:
            badges.append(("not-run", words[kind]))
    return badges


def mac_badges(section: Section | None, known: Facts, language: str) -> list[tuple[str, str]]:
    """Return (style, text) for the Macs on which a section ran or failed; a recipe goes by its file."""
    if section is None:
        return []
    runs = [*known.on_macs.get(section.path, ()), *known.on_macs.get(section.key, ())]
    return mac_marks.badges(runs, section.hash, language)


def shell_badge(path: Path, words: dict) -> tuple[str, str]:
    """Return (style, text) for a shell file, from its mark. Raises PluginError when it has none."""
    try:
        mark = run_mark(path)
    except ValueError as error:
        raise PluginError(str(error)) from None
    return ("ran" if mark.kind == "run" else "not-run"), words[mark.kind]


def recording(entry: dict, machine: dict, words: dict) -> str:
    """Describe a recorded output: command, date, machine and versions."""
    cores = words["cores"].format(machine["cpu_cores"])
    gpu = [machine["gpu"]] if "gpu" in machine else []
    facts = [machine["system"], cores, *gpu, name_versions(machine["versions"], words)]
    return words["recorded"].format(_code(entry["command"]), entry["date"], words[", "].join(facts))


def name_versions(versions: dict[str, str], words: dict) -> str:
    """Write versions out: Python 3.11, PyTorch 2.15.0, ..."""
    names = {"python": "Python", "torch": "PyTorch"}
    return words[", "].join(f"{names.get(name, name)} {version}" for name, version in versions.items())


def _line(text: str, badges: list[tuple[str, str]], copy: str | None = None, part: bool = False) -> str:
    """Return one line of inline HTML: the only kind that works inside tabs, lists and admonitions alike.

    `copy` is what the copy button brings in place of the block (docs/assets/javascripts/site.js).
    """
    # Each mark is left out of the search by itself: the plugin takes the end of one for that of the line.
    style_and_name = '<span class="code-badge code-badge--{}" data-search-exclude>{}</span>'
    marks = [style_and_name.format(style, name) for style, name in badges]
    more = " code-origin--part" * part
    whole = f' data-copy="{escape(copy).translate(IN_AN_ATTRIBUTE)}"' if copy else ""
    return f'<span class="code-origin{more}"{whole} data-search-exclude>{" ".join([text, *marks])}</span>'


def _code(text: str) -> str:
    """Return text as inline code whose underscores mean nothing to Markdown."""
    return f"<code>{escape(text).replace('_', '&#95;')}</code>"
