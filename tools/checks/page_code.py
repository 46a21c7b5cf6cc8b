"""The code on Markdown pages: every fence is one include, and the rendered page shows nothing else.

Pages hold no typed-in code. A fence contains a single line that includes a section of a tested file,

    --8<-- "snippets/device.py:pick_device"

or a whole recorded output, `docs/data/recorded/NAME.txt`. The only fence with text of its own is of the kind
`tree`, a directory tree. Banned: line ranges (they drift), several files in one fence, addresses, includes
outside of fences, raw HTML code blocks.

Every scanner of Markdown skips the blocks that it does not understand. So a second check compares what the
scanner found with the HTML: the code blocks that a built page shows are exactly the expected texts, in order.
Indented code, a fence that the renderer reads differently and a raw `<pre>` all show there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from bs4 import BeautifulSoup

from tools.checks.markdown_fences import Fence, find_fences, is_include_marker
from tools.checks.sections import SUFFIXES, Section
from tools.read_yaml import read_yaml
from tools.repository_passages import passages_for, repository_address, site_address, with_addresses

LANGUAGES = ("en", "zh")
RECORDED = "docs/data/recorded/"
ERROR_MESSAGES = "docs/data/error_messages"
TREE = "tree"  # the one kind of fence with typed-in text
MADE_FROM_DATA = "from-data"  # class of elements whose code blocks a build hook renders from docs/data/

# What a fence may call its content, by the suffix of the included file.
HIGHLIGHTING = {
    ".py": {"python", "py"},
    ".sh": {"bash", "sh", "shell"},
    ".yml": {"yaml"},
    ".json": {"json"},
    ".plist": {"xml"},
    ".txt": {"text"},
}

_LINE_RANGE = re.compile(r'"[^"]*:-?\d*(:-?\d*)?(,[-\d:]+)*"$')
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_RAW_CODE = re.compile(r"</?(pre|code|textarea|samp|xmp|listing|plaintext)\b", re.IGNORECASE)
_TREE_LINE = re.compile(r"^[│├└─ ]*[├└]── \S|^[│ ]+$")


def check_markdown(
    name: str, markdown: str, root: Path, sections: dict[str, Section]
) -> tuple[list[str], list[str]]:
    """Check one page's Markdown: the includes that it uses, and defects as `page:line: what is wrong`."""
    fences, unclosed = find_fences(markdown)
    defects = [f"{name}:{unclosed}: this fence is never closed"] if unclosed else []
    used = []
    for fence in fences:
        wrong = check_fence(fence, root, sections)
        if wrong:
            defects.append(f"{name}:{fence.first}: {wrong}")
        elif fence.include:
            used.append(fence.include)
    defects += [f"{name}:{defect}" for defect in _check_outside(markdown, fences)]
    return used, defects


def check_fence(fence: Fence, root: Path, sections: dict[str, Section]) -> str | None:
    """Return what is wrong with a fence, None when nothing is."""
    if fence.language == TREE:
        return (
            None
            if is_tree(fence.body)
            else "a fence of the kind `tree` holds something else than a directory tree"
        )
    if any(_LINE_RANGE.search(line) for line in fence.body if is_include_marker(line)):
        return "line ranges are banned, include a named section"
    if fence.include is None:
        shown = fence.text.strip().splitlines()[0] if fence.text.strip() else ""
        return f'typed-in code {shown!r}: a fence holds exactly one line --8<-- "path:section"'
    return check_include(fence.include, fence.language, root, sections)


def check_include(include: str, language: str, root: Path, sections: dict[str, Section]) -> str | None:
    """Return what is wrong with an include, None when it names a section or a recorded output."""
    path, _, section = include.partition(":")
    suffix = Path(path).suffix
    recorded = path.startswith(RECORDED) and suffix == ".txt" and not section
    if (
        path.startswith("/")
        or ".." in Path(path).parts
        or not (recorded or path.startswith(("snippets/", "examples/")))
    ):
        return f"{include}: includes come from snippets/, examples/ and {RECORDED}*.txt"
    if not (root / path).is_file():
        return f"{include}: there is no such file"
    if not recorded:
        if suffix not in SUFFIXES:
            return f"{include}: sections are kept in {', '.join(SUFFIXES)} files"
        if not section:
            return f"{include}: name a section, whole files are for recorded output"
        if include not in sections:
            return f"{include}: the file has no such section"
    if language not in HIGHLIGHTING[suffix]:
        return f"{include}: shown as {language!r}, expected {' or '.join(sorted(HIGHLIGHTING[suffix]))}"
    return None


def is_tree(body: tuple[str, ...]) -> bool:
    """Whether lines are a directory tree: a folder's name, then branches drawn with box characters."""
    lines = [line for line in body if line.strip()]
    return (
        len(lines) > 1 and bool(re.match(r"^\S+/(\s|$)", lines[0])) and all(map(_TREE_LINE.match, lines[1:]))
    )


def _check_outside(markdown: str, fences: list[Fence]) -> list[str]:
    """Find includes and raw code blocks outside of fences."""
    lines = markdown.split("\n")
    for fence in fences:
        lines[fence.first - 1 : fence.last] = [""] * (fence.last - fence.first + 1)
    prose = _CODE_SPAN.sub(lambda span: re.sub(r"[^\n]", " ", span[0]), "\n".join(lines))
    defects = []
    for number, line in enumerate(lines, start=1):
        if is_include_marker(line):  # the renderer expands it wherever it stands alone on a line
            defects.append(f"{number}: an include outside of a fence")
    for number, line in enumerate(prose.splitlines(), start=1):
        if tag := _RAW_CODE.search(line):
            defects.append(
                f"{number}: raw HTML <{tag[1].lower()}>; use a fence, or `backticks` within a sentence"
            )
        if MADE_FROM_DATA in line:
            defects.append(f"{number}: the class {MADE_FROM_DATA!r} is reserved for what build hooks render")
    return defects


def check_notebook(name: str, text: str, sections: dict[str, Section]) -> tuple[list[str], list[str]]:
    """Check one notebook: each code cell is the text of a section; returns includes and defects."""
    by_text = {section.text: section.key for section in sections.values()}
    used, defects = [], []
    for number, cell in enumerate(notebook_code(text), start=1):
        if cell in by_text:
            used.append(by_text[cell])
        else:
            defects.append(
                f"{name}: code cell {number} is not the text of any section: {cell.splitlines()[:1]}"
            )
    return used, defects


def notebook_code(text: str) -> list[str]:
    """Return the code cells of a notebook."""
    cells = json.loads(text)["cells"]
    return ["".join(cell["source"]).strip("\n").rstrip() for cell in cells if cell["cell_type"] == "code"]


def pages(root: Path) -> list[Path]:
    """List the pages of both languages, Markdown and notebooks, sorted."""
    found = (path for language in LANGUAGES for path in (root / "docs" / language).rglob("*"))
    return sorted(path for path in found if path.suffix in (".md", ".ipynb"))


def check_pages(root: Path, sections: dict[str, Section]) -> tuple[dict[str, set[str]], list[str]]:
    """Check every page: the pages that use each include, and all defects."""
    users: dict[str, set[str]] = {}
    defects: list[str] = []
    for path in pages(root):
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        if path.suffix == ".md":
            used, wrong = check_markdown(name, text, root, sections)
        else:
            used, wrong = check_notebook(name, text, sections)
        for include in used:
            users.setdefault(include, set()).add(name)
        defects += wrong
    for name, include in code_in_data(root):
        users.setdefault(include, set()).add(name)
        if defect := check_include(include, "python", root, sections):
            defects.append(f"{name}: {defect}")
    return users, defects


def code_in_data(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (file, include) for the sections that a build hook shows with error messages."""
    for path in sorted((root / ERROR_MESSAGES).glob("*.yaml")):
        for message in read_yaml(path)["messages"]:
            if "code" in message:
                yield path.relative_to(root).as_posix(), message["code"]


def unused(root: Path, sections: dict[str, Section], users: dict[str, set[str]]) -> list[str]:
    """Name the sections and recorded outputs that no page shows."""
    recorded = [path.relative_to(root).as_posix() for path in sorted((root / RECORDED).glob("*.txt"))]
    places = {
        key: f"{section.path}:{section.first - 1}: section {section.name!r}"
        for key, section in sections.items()
    }
    places |= {path: path for path in recorded}
    return [f"{place} is shown on no page" for key, place in places.items() if key not in users]


def expected_blocks(path: Path, root: Path, sections: dict[str, Section]) -> list[str]:
    """Return the texts of the code blocks that a page's source promises, in order.

    They depend on whether REPO_URL gives the repository's address, as in the build.
    """
    text, address = path.read_text(encoding="utf-8"), repository_address()
    if path.suffix == ".ipynb":
        return notebook_code(text)
    blocks = []
    for fence in find_fences(passages_for(text, address))[0]:
        if fence.include is None:
            blocks.append(fence.text)
        elif fence.include in sections:
            blocks.append(with_addresses(sections[fence.include].text, address, site_address()))
        else:
            blocks.append((root / fence.include).read_text(encoding="utf-8").rstrip())
    return blocks


def built_page(path: Path, root: Path, site: Path) -> Path:
    """Return where a page's HTML lies in the built site: English at the root, Chinese in `zh/`."""
    language, *parts = path.relative_to(root / "docs").with_suffix("").parts
    folder = site.joinpath(*([] if language == "en" else [language]), *parts)
    return folder.parent / "index.html" if parts[-1] == "index" else folder / "index.html"


def compare_rendered(expected: list[str], html: str) -> list[str]:
    """Compare a page's expected code blocks with those its HTML shows; return the first difference."""
    blocks = zip_longest(map(_comparable, expected), map(_comparable, rendered_blocks(html)))
    for number, (want, have) in enumerate(blocks, start=1):
        if want is None:  # an indented block ends here with its own text
            return [f"code block {number} was not expected: {have[:80]!r}"]
        if have is None:
            return [f"code block {number} is missing: {want[:80]!r}"]
        if want != have:
            lines = zip_longest(want.splitlines(), have.splitlines())
            expected_line, shown = next(pair for pair in lines if pair[0] != pair[1])
            return [f"code block {number} shows the line {shown!r}, expected {expected_line!r}"]
    return []


def _comparable(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).rstrip()


def rendered_blocks(html: str) -> list[str]:
    """Return the text of each `<pre>` of a page, without those rendered from data and notebook outputs."""
    blocks = BeautifulSoup(html, "html.parser").find_all("pre")
    return [
        block.get_text()
        for block in blocks
        if block.find_parent(class_=[MADE_FROM_DATA, "notebook-output"]) is None
    ]
