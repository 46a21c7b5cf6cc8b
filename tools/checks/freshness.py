"""Record against which English page a Chinese page was last reviewed.

`source_hash` in the Chinese front matter is the first 16 hexadecimal digits of the SHA-256 of the English
file, front matter included, read as UTF-8, with LF line ends, without white space at line ends and without
blank lines at both ends of the file. Times and commits play no part: touching a file changes nothing.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

from tools.checks.page_reader import read_markdown, split_front_matter


def text_hash(text: str) -> str:
    """Return the hash of an English page's text."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    return hashlib.sha256("\n".join(lines).strip("\n").encode()).hexdigest()[:16]


def page_hash(path: Path) -> str:
    """Return the hash of an English page."""
    return text_hash(path.read_text(encoding="utf-8"))


def stamp(path: Path, value: str) -> None:
    """Write `source_hash: value` into the front matter of a Chinese page. Raises ValueError without one."""
    text = path.read_text(encoding="utf-8")
    _, count, wrong = split_front_matter(text)
    if not count or wrong:
        raise ValueError(f"{path}: {wrong or 'no front matter'}")
    lines = text.split("\n")
    entry = f'source_hash: "{value}"'  # quoted: digits with one e would be read as a number
    for index in range(1, count - 1):
        if re.match(r"source_hash\s*:", lines[index]):
            lines[index] = entry
            break
    else:
        lines.insert(count - 1, entry)
    path.write_text("\n".join(lines), encoding="utf-8")


def _git(root: Path, *arguments: str) -> str | None:
    """Return the output of a git command, or None when git is missing or refuses."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode("utf-8", errors="replace")


def _text_with_hash(root: Path, page: Path, value: str) -> tuple[str, str] | None:
    """Return (commit, text) of the committed English page that has the hash `value`."""
    name = page.relative_to(root).as_posix()
    commits = (_git(root, "log", "--format=%h", "--", name) or "").split()
    for commit in commits:
        text = _git(root, "show", f"{commit}:./{name}")
        if text is not None and text_hash(text) == value:
            return commit, text
    return None


def _sections(text: str) -> dict[str, str]:
    """Return the source text of a page by section: `#id`, 'front matter' or 'before the first heading'."""
    page = read_markdown(text)
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    front = split_front_matter(text)[1]
    starts = [(h.line - 1, f"#{h.ident}" if h.ident else h.title) for h in page.headings]
    bounds = [(0, "front matter"), (front, "before the first heading"), *starts]
    ends = [start for start, _ in bounds[1:]] + [len(lines)]
    return {
        name: "\n".join(lines[start:end]).strip() for (start, name), end in zip(bounds, ends, strict=True)
    }


def changed_sections(root: Path, page: Path, stamped: object) -> list[str]:
    """Return in words which sections of the English page changed since the Chinese page was stamped."""
    if not stamped:
        return ["never reviewed: it has no source_hash"]
    old = _text_with_hash(root, page, str(stamped))
    if old is None:
        return ["the English text that it was reviewed against is in no commit; compare the whole page"]
    commit, text = old
    before, after = _sections(text), _sections(page.read_text(encoding="utf-8"))
    lines = [f"{name}: new" for name in after.keys() - before.keys()]
    lines += [f"{name}: removed" for name in before.keys() - after.keys()]
    lines += [f"{name}: changed" for name in after if name in before and before[name] != after[name]]
    order = {name: place for place, name in enumerate(dict.fromkeys([*after, *before]))}
    lines.sort(key=lambda line: order[line.rsplit(": ", 1)[0]])
    return [f"since {commit}: {line}" for line in lines] or [f"since {commit}: sections changed their order"]
