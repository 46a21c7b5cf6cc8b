"""Entries that people add by hand to docs/data/: each fault is a sentence that says what to do.

    python -m tools.checks.data_entries

Error messages (docs/data/error_messages/, whose keys docs/hooks/error_messages.py explains) have all their
keys, both languages, and links and code that exist. Results (docs/data/results/) say where they come from.
Claims (docs/data/claims/) are what tools/checks/claims.py explains, reports from Macs (docs/data/macs/) what
tools/checks/macs.py takes in.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from tools.checks.claims import wrong_claims
from tools.checks.macs import wrong_macs
from tools.checks.nearest import nearest
from tools.checks.sections import all_sections
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = Path("docs/data/error_messages")
RESULTS = Path("docs/data/results")
LANGUAGES = ("en", "zh")
REQUIRED = {
    "id": "the anchor, such as out-of-memory",
    "text": "the message as it is printed, in one line",
    "cause": "one or two sentences, in en and zh",
    "cure": "one line of Markdown, in en and zh",
    "sources": "such as [issue, 5, owner/name] or [text, https://…]",
    "read": "the day on which the sources were read, such as 2026-11-23",
}
OPTIONAL = ("variants", "code", "search", "releases")
ORIGIN = {
    "machine": "as docs/hooks/origins.py describes it, such as {system: Linux x86_64, cpu_cores: 2}",
    "versions": "such as {torch: 2.15.0, python: '3.11'}",
    "date": "the day of the measurement, such as 2026-11-23",
    "command": "the line that measured it",
}
COMPUTED = "recomputed_by"  # a test, in place of these keys, in a file that no machine measured
_LINK = re.compile(r"\]\((?!https:)([^)#]*)(?:#([\w-]+))?\)")
_ANCHOR = re.compile(r"\{ #([\w-]+)")


def keys(entry: dict) -> Iterator[str]:
    """Yield what is wrong with the keys of an error message."""
    questions = {key: nearest(key, {*REQUIRED, *OPTIONAL} - entry.keys()) for key in entry}
    for key in entry.keys() - {*REQUIRED, *OPTIONAL}:
        yield f"`{key}` is no key of an entry{questions[key] or '; remove it'}"
    for key, meaning in REQUIRED.items():
        if not entry.get(key) and f"; did you mean {key}?" not in questions.values():
            yield f"`{key}` is missing: add it, {meaning}"


def message(entry: dict, code: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with an error message, apart from its links."""
    yield from keys(entry)
    for key in ("cause", "cure", "releases"):
        texts = entry.get(key) or dict.fromkeys(LANGUAGES, "none")
        for language in LANGUAGES:
            if not (isinstance(texts, dict) and texts.get(language)):
                yield f"`{key}` has no `{language}`: write it in both languages"
    texts = [entry.get("text") or "", *entry.get("variants", [])]
    lines = [*texts, *languages(entry.get("cure")).values()]
    for line in lines:
        if line != line.strip() or "\n" in line:
            yield f"{line[:40]!r} has a line break or blanks at an end: put it into one line"
    for text in {text for text in texts if texts.count(text) > 1}:
        yield f"{text[:40]!r} is there twice: remove one"
    for source in entry.get("sources") or []:
        if not is_source(source):
            yield f"source {source}: write [issue, 5, owner/name], [pull, 5, owner/name] or [text, https://…]"
    if not isinstance(entry.get("read") or date.min, date):
        yield f"`read` is {entry['read']!r}: write a day, such as 2026-11-23"
    if (section := entry.get("code", "")) and section not in code:
        yield f"`code`: there is no section {section}{nearest(section, code)}"


def languages(texts: Any) -> dict[str, str]:
    """Return the texts of a bilingual value, none of a value that is something else."""
    return texts if isinstance(texts, dict) else {}


def is_source(source: Any) -> bool:
    """Say whether a source is a thread, an address, or a program of this project."""
    match source:
        case ["program", str(path)]:
            return path.startswith("examples/") and (ROOT / path).is_file()
        case ["text", str(address)]:
            return re.fullmatch(r"https://\S+", address) is not None
        case ["issue" | "pull", int(number), str(repository)]:
            return number > 0 and re.fullmatch(r"[\w.-]+/[\w.-]+", repository) is not None
    return False


def links(root: Path, entry: dict, own: set[str]) -> Iterator[str]:
    """Yield the links of an error message that lead nowhere; `own` are the anchors of its own page."""
    for key in ("cause", "cure"):
        for language in LANGUAGES:
            for path, anchor in _LINK.findall(languages(entry.get(key)).get(language, "")):
                page = root / "docs" / language / "reference" / path
                where = f"`{key}` in {language}: the link ({path}{'#' * bool(anchor)}{anchor})"
                if path and not page.is_file():
                    pages = sorted(page.parent.glob("*.md")) if page.parent.is_dir() else []
                    yield f"{where}: there is no such page{nearest(page.name, (one.name for one in pages))}"
                    continue
                known = _ANCHOR.findall(page.read_text(encoding="utf-8")) if path else own
                if anchor and anchor not in known:
                    yield f"{where}: that page has no heading {{ #{anchor} }}{nearest(anchor, known)}"


def wrong_messages(root: Path) -> list[str]:
    """Return what is wrong with the error messages, as `file: entry: sentence`."""
    found: list[str] = []
    places: dict[str, Path] = {}
    topics = {path: read_yaml(path) for path in sorted((root / MESSAGES).glob("*.yaml"))}
    entries = [
        (path.relative_to(root), entry.get("id") or f"message {number}", entry)
        for path, topic in topics.items()
        for number, entry in enumerate(topic["messages"], start=1)
    ]
    own = {*(path.stem for path in topics), *(ident for _, ident, _ in entries)}
    code = all_sections(root)[0].keys()
    for path, ident, entry in entries:
        first = places.setdefault(ident, path)
        twice = [f"{first} has this `id` too: take another"] if first is not path else []
        wrong = [*twice, *message(entry, code), *links(root, entry, own)]
        found += [f"{path}: {ident}: {sentence}" for sentence in wrong]
    for path, topic in topics.items():
        for language in LANGUAGES:
            if not languages(topic.get("title")).get(language):
                found.append(f"{path.relative_to(root)}: `title` has no `{language}`: write it")
    return found


def origin(value: Any, where: str) -> Iterator[str]:
    """Yield which parts of a result do not say where they come from; keys of a part hold for all in it."""
    parts: dict[str, Any] = {}
    if isinstance(value, list):
        parts = {f"entry {number}": part for number, part in enumerate(value, start=1)}
    elif isinstance(value, dict) and not ORIGIN.keys() & value.keys():
        parts = {str(key): part for key, part in value.items()}
    if parts and all(isinstance(part, dict | list) for part in parts.values()):
        for name, part in parts.items():
            yield from origin(part, f"{where} {name}:")
    elif missing := [key for key in ORIGIN if not (isinstance(value, dict) and value.get(key))]:
        names = ", ".join(f"`{key}`" for key in missing)
        yield f"{where} no {names}: add {'; '.join(f'{key}, {ORIGIN[key]}' for key in missing)}"


def wrong_results(root: Path) -> list[str]:
    """Return which results lack machine, versions, date or command, as `file: entry: sentence`."""
    found: list[str] = []
    for path in sorted((root / RESULTS).glob("*.yaml")):
        name, result = path.relative_to(root), read_yaml(path)
        test = result.get(COMPUTED) if isinstance(result, dict) else None
        if test is None:
            found += origin(result, f"{name}:")
        elif not (root / test).is_file():
            found.append(f"{name}: `{COMPUTED}` names {test}: there is no such test; correct the path")
    return found


def main() -> int:
    """Print every fault; return the exit code."""
    found = [*wrong_messages(ROOT), *wrong_results(ROOT), *wrong_claims(ROOT), *wrong_macs()]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
