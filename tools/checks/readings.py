"""Keep which statements were checked against their sources, and when: docs/data/readings.yaml.

    python -m tools.checks.readings stamp KEY --statements 9 --corrected 2 [--date 2026-11-23]
    python -m tools.checks.readings stamp --from FILE    lines `KEY 9 2`; `-` is the standard input
    python -m tools.checks.readings list [--short]       what was never read, or has changed since

The reader is somebody who did not write the statements, opens each source, and stamps after correcting. A KEY
is a page, such as guides/device.md, or an entry of the data:

    error_messages/memory#out-of-memory    environment_variables#PYTORCH_MPS_FAST_MATH    faq#slow (an answer)
    wrong_results#177116 (number of the first source)    versions#2.15    published_speeds#speeds-bert
    cuda_only_packages#triton    claims/device#is-built    programs/text-to-speech#dia

A record holds the hash of the English text: of a page its Markdown without front matter (of those of
questions without their answers, which are entries), of an entry its English fields and sources. Measurements
play no part.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.checks.bilingual_texts import twins
from tools.checks.freshness import text_hash
from tools.checks.page_reader import split_front_matter
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
READINGS = "docs/data/readings.yaml"
# Their answers have one set of names.
QUESTIONS = ("facts/faq.md", "facts/models-and-libraries.md", "facts/images-and-sound.md")
_ANSWER = re.compile(r"^### [^\n]*\{ #(?P<id>[\w-]+) \}\n.*?(?=^#{1,3} |\Z)", re.M | re.S)
TABLE_MARKER = re.compile(r"^ *<!-- table: ([\w-]+) -->$", re.M)
HEAD = """\
# What was checked against its sources by somebody who did not write it, one record per page or entry.
# Written by `python -m tools.checks.readings stamp`; that file tells what a key is and what the hash covers.
"""


@dataclass(frozen=True)
class Part:
    """What is read at once: the own text of a page, or an entry; `shown` names where it is shown."""

    text: str
    shown: tuple[str, ...]
    entry: Any = None  # of a data file


def english(value: Any) -> Any:
    """Return a value of a data file without its Chinese texts, its topic and the day on which it was read."""
    if isinstance(value, dict):
        return {
            key: english(part)
            for key, part in value.items()
            if not re.search(r"(^|_)zh$", str(key)) and key != "topic"
            if key != "read" or not isinstance(part, datetime.date)
        }
    return list(map(english, value)) if isinstance(value, list) else value


def _pages(root: Path) -> Iterator[tuple[str, Part]]:
    """Yield every page, and every answer to a question."""
    for twin in twins(root):
        if twin.page and twin.english.is_file():
            text = twin.english.read_text(encoding="utf-8")
            text = "\n".join(text.split("\n")[split_front_matter(text)[1] :])
            if twin.page in QUESTIONS:
                for answer in _ANSWER.finditer(text):
                    yield f"faq#{answer['id']}", Part(answer[0], (twin.page,))
                text = _ANSWER.sub("", text)
            yield twin.page, Part(text, (twin.page,))


def _entries(root: Path) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Yield (key, entry, tables that show it) of the data files whose statements have sources."""

    def load(name: str, nothing: Any) -> Any:
        path = root / "docs/data" / f"{name}.yaml"
        return read_yaml(path) if path.is_file() else nothing

    for path in sorted((root / "docs/data/error_messages").glob("*.yaml")):
        for message in read_yaml(path)["messages"]:
            yield f"error_messages/{path.stem}#{message['id']}", message, (f"error-messages-{path.stem}",)
    for entry in load("environment_variables", []):
        yield f"environment_variables#{entry['name']}", entry, (f"variables-{entry['group']}",)
    for case in load("wrong_results", {"cases": []})["cases"]:
        yield f"wrong_results#{case['sources'][0][1]}", case, ("wrong-results",)
    versions = load("versions", {"releases": {}})
    recommended = {key: versions[key] for key in ("recommended_from",) if key in versions}
    for name, entry in (versions["releases"] | recommended).items():
        yield f"versions#{name}", entry, ("releases", "version-picker")
    for name, entry in load("published_speeds", {}).items():
        yield f"published_speeds#{name}", entry, (name,)
    for entry in load("cuda_only_packages", {"packages": []})["packages"]:
        shown = ("cuda-only-packages", "cuda-only-sources")
        yield f"cuda_only_packages#{entry['name']}", entry, shown
    for path in sorted((root / "docs/data/programs").glob("*.yaml")):
        for program in read_yaml(path):
            name = program["name"].lower().replace(" ", "-")
            yield f"programs/{path.stem}#{name}", program, (f"programs-{path.stem}",)


def _claims(root: Path) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Yield the claims as _entries does: without page and check, with threads in the form of other data."""
    for path in sorted((root / "docs/data/claims").glob("*.yaml")):
        for claim in read_yaml(path):
            threads = [
                [kind, *(found if isinstance(found, list) else [found])]
                for source in claim["evidence"]
                for kind, found in source.items()
                if kind in ("issue", "pull")
            ]
            read = {key: part for key, part in claim.items() if key not in ("page", "check", "evidence")}
            others = [source for source in claim["evidence"] if not {"issue", "pull"} & source.keys()]
            entry = read | {"evidence": others, "sources": threads}
            yield f"claims/{path.stem}#{claim['id']}", entry, ("claims",)


def parts(root: Path = ROOT) -> dict[str, Part]:
    """Return everything that is read, by key. Raises ValueError for a key that two entries share."""
    read = list(_pages(root))
    for key, entry, shown in [*_entries(root), *_claims(root)]:
        text = json.dumps(english(entry), ensure_ascii=False, sort_keys=True, default=str)
        read.append((key, Part(text, shown, entry)))
    found: dict[str, Part] = {}
    for key, part in read:
        if key in found:
            raise ValueError(f"two entries have the key {key}: rename one, or name another source first")
        found[key] = part
    return found


def records(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Return what was read, by key."""
    path = root / READINGS
    return (read_yaml(path) if path.is_file() else None) or {}


def page_dates(root: Path = ROOT) -> dict[str, datetime.date]:
    """Return when a page was read: the oldest date of its text and of all entries that it shows.

    A page is missing if any of these was never read, or has changed since.
    """
    known, read = parts(root), records(root)
    fits = {
        key: of["date"]
        for key, of in read.items()
        if key in known and of["hash"] == text_hash(known[key].text)
    }
    by_place: dict[str, list[str]] = {}
    for key, part in known.items():
        for place in part.shown:
            by_place.setdefault(place, []).append(key)
    found = {}
    for page in (key for key in known if "#" not in key):
        keys = [
            key
            for place in (page, *TABLE_MARKER.findall(known[page].text))
            for key in by_place.get(place, [])
        ]
        if all(key in fits for key in keys):
            found[page] = min(fits[key] for key in keys)
    return found


def stamp(root: Path, readings: Iterable[tuple[str, int, int]], date: datetime.date) -> None:
    """Write records for (key, statements, corrected). For a wrong one, raises ValueError."""
    import fcntl  # here, because builds of the site import this module on every system

    known, new = parts(root), {}
    for key, statements, corrected in readings:
        if key not in known:
            raise ValueError(f"no page or entry {key}")
        if not 0 <= corrected <= statements:
            raise ValueError(f"{key}: {corrected} corrected of {statements} statements")
        new[key] = {
            "date": date, "statements": statements, "corrected": corrected, "hash": text_hash(known[key].text)
        }  # fmt: skip
    with (root / READINGS).open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # several readers may share a checkout
        lines = [
            f"{key}: {{date: {of['date']}, statements: {of['statements']}, corrected: {of['corrected']}, "
            f'hash: "{of["hash"]}"}}\n'
            for key, of in sorted((records(root) | new).items())
        ]
        file.truncate(0)
        file.write(HEAD + "".join(lines))


def kind(key: str) -> str:
    """Return what a key is about: `pages`, or the name of its data."""
    return re.split("[/#]", key)[0] if "#" in key else "pages"


def overview(root: Path, *, short: bool = False) -> list[str]:
    """Return what is to be read, a line each, and the figures by kind; `short` only counts what never was."""
    known, read = parts(root), records(root)
    lines = [f"{key}: there is no such page or entry any more" for key in sorted(read.keys() - known)]
    for key, part in known.items():
        if key not in read:
            lines += [] if short else [f"{key}: never read"]
        elif read[key]["hash"] != text_hash(part.text):
            lines.append(f"{key}: changed since it was read on {read[key]['date']}")
    totals = Counter(map(kind, known))
    sums: Counter[tuple[str, str]] = Counter()
    for key, record in read.items():
        sums.update({(kind(key), name): record[name] for name in ("statements", "corrected")})
        sums[kind(key), "read"] += key in known
    for name, number in totals.items():
        lines.append(
            f"{name}: {sums[name, 'read']} of {number} read, {sums[name, 'statements']} statements, "
            f"{sums[name, 'corrected']} corrected"
        )
    return lines


def _lines(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (key, statements, corrected) of the lines `KEY 9 2`; empty ones are skipped."""
    for line in filter(None, map(str.split, text.splitlines())):
        if len(line) != 3 or not (line[1] + line[2]).isdecimal():
            raise ValueError(f"{' '.join(line)}: write KEY, the number of statements, the number corrected")
        yield line[0], int(line[1]), int(line[2])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="readings.py", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    listed = commands.add_parser("list", help="what was never read, or has changed since")
    listed.add_argument("--short", action="store_true", help="only count what was never read")
    stamped = commands.add_parser("stamp", help="note that a page or an entry was read")
    stamped.add_argument("key", nargs="?", help="e.g. guides/device.md or faq#slow")
    stamped.add_argument("--statements", type=int)
    stamped.add_argument("--corrected", type=int)
    stamped.add_argument("--from", dest="file", help="lines `KEY 9 2`; - is the standard input")
    stamped.add_argument("--date", type=datetime.date.fromisoformat, default=datetime.date.today())
    return parser


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "list":
        print("\n".join(overview(root, short=options.short)))
        return 0
    figures = (options.statements, options.corrected)
    if bool(options.key) == bool(options.file) or (options.key and None in figures):
        parser.error("name a KEY with --statements and --corrected, or a file with --from")
    try:
        if options.key:
            readings = [(options.key, *figures)]
        else:
            file = options.file
            readings = list(
                _lines(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8"))
            )
        stamp(root, readings, options.date)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{len(readings)} stamped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
