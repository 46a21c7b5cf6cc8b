"""One sentence for each operator: since which release MPS has it, or what to use instead.

From the marks of docs/data/operators.json, which docs/hooks/operator_tables.py explains, from the families of
missing operators, and from the notes in docs/data/operator_notes.yaml. `@home/` in a sentence stands for the
home page of a language; docs/hooks/operator_finder.py puts the way there in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any

from operator_tables import family, plainness, stem
from origins import DATA, load

GUIDE = "@home/guides/missing-operators/"
PAGE = "@home/reference/operators/"
CPU = "<code>y = f(x.cpu()).to(x.device)</code>"
NAMED = re.compile(r"\.(dimname|names)", re.IGNORECASE)  # overloads for dimensions with names, which are gone
RELEVANT = "2.9"  # what came before this release, every release that the tables show has
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "since": "MPS kernel since {since}.",
        "was_composed": " Before that, it was composed of other operators.",
        "also": " It also had one in {runs}, but not in between.",
        "composed": f'Composed of other operators: it works if <a href="{GUIDE}#find">its parts</a> do.',
        "composed_since": "Composed of other operators since {since}: it works if "
        f'<a href="{GUIDE}#find">its parts</a> do.',
        "had": " It had an MPS kernel in {runs}.",
        "never": "No MPS kernel in any release up to {last}: {cure}.",
        "belongs": "No MPS kernel in any release up to {last}. What it belongs to: {cure}.",
        "special": "No MPS kernel in any release up to {last}. What it belongs to: {cure}. "
        f'If your code calls it, <a href="{GUIDE}#replacements">use dense tensors, or the CPU for this part'
        "</a>.",
        "cpu": f'<a href="{GUIDE}#error">compute this call on the CPU</a>, {CPU}',
        "elsewhere": "No MPS kernel for ordinary tensors up to {last}, and none of CUDA: "
        f'<a href="{PAGE}#elsewhere">for the CPU or special tensors</a>.',
        "gone": "No longer an operator of PyTorch since {since}.",
        "short": "none up to {last}: ",
        "to": " to ",
        "joint": ", ",
        "space": " ",
    },
    "zh": {
        "since": "从 {since} 起有 MPS 核函数。",
        "was_composed": "在此之前由其他算子组成。",
        "also": "{runs} 里也有，中间的版本没有。",
        "composed": f'由其他算子组成，<a href="{GUIDE}#find">那些算子</a>都能用就能用。',
        "composed_since": f'从 {{since}} 起由其他算子组成，<a href="{GUIDE}#find">那些算子</a>都能用就能用。',
        "had": "在 {runs} 里有过 MPS 核函数。",
        "never": "到 {last} 为止的各个版本都没有 MPS 核函数，{cure}。",
        "belongs": "到 {last} 为止的各个版本都没有 MPS 核函数。属于：{cure}。",
        "special": "到 {last} 为止的各个版本都没有 MPS 核函数。属于：{cure}。"
        f'如果代码调用了它，请<a href="{GUIDE}#replacements">改用稠密张量，或者把这一部分放到 CPU 上</a>。',
        "cpu": f'请<a href="{GUIDE}#error">把这一次调用放到 CPU 上</a>，写成 {CPU}',
        "elsewhere": "到 {last} 为止，MPS 和 CUDA 都没有处理普通张量的核函数，它"
        f'<a href="{PAGE}#elsewhere">用于 CPU 或特殊张量</a>。',
        "gone": "从 {since} 起，PyTorch 里不再有这个算子。",
        "short": "到 {last} 为止没有，",
        "to": " 到 ",
        "joint": "、",
        "space": "",
    },
}


@cache
def releases() -> list[str]:
    """Return the releases of a series of marks."""
    return list(_data()["releases"])


@cache
def series() -> dict[str, str]:
    """Return the marks of each entry, one for each release; without what only named dimensions need."""
    return {
        name: marks
        for marks, names in _data()["marks"].items()
        for name in names.split()
        if not NAMED.search(name)
    }


@cache
def _data() -> dict[str, Any]:
    return json.loads((DATA / "operators.json").read_text(encoding="utf-8"))


@cache
def calls() -> dict[str, list[str]]:
    """Return the operators that modules and functions call, by the names as Python writes them."""
    found = json.loads((DATA / "operator_calls.json").read_text(encoding="utf-8"))
    return {name: used.split() for name, used in found.items()}


def start(marks: str) -> int:
    """Return the place from which on a series is as it is in the end."""
    return len(marks.rstrip(marks[-1]))


def since(marks: str) -> str | None:
    """Return the release since which there is a kernel, None where the newest has none."""
    return releases()[start(marks)] if marks[-1] == "x" else None


def with_kernel(marks: str, language: str) -> str:
    """Return the releases with a kernel, "2.9 to 2.13"."""
    words, known = WORDS[language], releases()
    runs = [(known[run.start()], known[run.end() - 1]) for run in re.finditer("x+", marks)]
    return words["joint"].join(one if one == end else f"{one}{words['to']}{end}" for one, end in runs)


def sentence(name: str, marks: str, language: str) -> str:
    """Return what is true of an entry in all releases, as HTML."""
    words, first = WORDS[language], start(marks)
    before = marks[:first]
    facts = {"since": releases()[first], "last": releases()[-1], "runs": with_kernel(before, language)}
    parts = {
        "x": lambda: [words["since"], words["was_composed"] * before.endswith("c"), words["also"]],
        "c": lambda: [words["composed_since" if before.strip(".") else "composed"], words["had"]],
        "-": lambda: [_missing(name, language)],
        "o": lambda: [words["elsewhere"]],
        ".": lambda: [words["gone"], words["had"]],
    }[marks[-1]]()
    text = "".join(part for part in parts if "x" in before or "{runs}" not in part).format(**facts)
    note = notes().get(name.partition(".")[0])
    return f"{text}{words['space']}{code(note[language])}" if note else text


@cache
def notes() -> dict[str, dict[str, str]]:
    """Return what the marks do not say, by the name without overload."""
    return load("operator_notes", DATA)


def code(text: str) -> str:
    """Return a text with its code as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def _missing(name: str, language: str) -> str:
    words, entry = WORDS[language], family(name)[1]
    if entry is None:
        return words["never"].replace("{cure}", words["cpu"])
    cure = code(entry[language])
    if "link" in entry:
        cure = f'<a href="{GUIDE}#{entry["link"]}">{cure}</a>'
    kind = "never" if entry.get("use") else "special" if entry.get("cpu") else "belongs"
    return words[kind].replace("{cure}", cure)


def states(language: str) -> dict[str, Any]:
    """Return the different sentences, and the number of the sentence of each entry.

    Entries are grouped by stem and by name without overload, whose value is a number, or numbers by overload.
    """
    numbers: dict[str, int] = {}
    stems: dict[str, dict[str, Any]] = {}
    for name, marks in sorted(series().items(), key=lambda entry: plainness(entry[0])):
        base, _, overload = name.partition(".")
        number = numbers.setdefault(sentence(name, marks, language), len(numbers))
        stems.setdefault(stem(name), {}).setdefault(base, {})[overload] = number
    for bases in stems.values():
        for base, overloads in bases.items():
            if len(set(overloads.values())) == 1:
                bases[base] = next(iter(overloads.values()))
    return {"sentences": list(numbers), "stems": stems, "calls": telling_calls()}


def telling_calls() -> dict[str, str]:
    """Return the operators to name for each module and function: without those that MPS always had."""
    return {name: " ".join(telling(used)) for name, used in calls().items() if used}


def telling(used: list[str]) -> list[str]:
    """Leave out what has had a kernel from the first release on, unless nothing is left then."""
    always = "x" * len(releases())
    return [name for name in used if series()[name] != always] or used


def replacements(language: str) -> list[Mapping[str, Any]]:
    """Return the operators that a training can miss, together where their sentence is the same.

    First those that no release has and that have a replacement, then those that came in the releases that the
    tables show, the newest first.
    """
    called = {name for used in calls().values() for name in used}
    never, came = [], []
    for name, marks in series().items():
        if "." in name and name.partition(".")[0] in series():
            continue
        if marks[-1] == "-" and "link" in (family(name)[1] or {}):
            never.append(name)
        elif name in called and start(marks) >= releases().index(RELEVANT) and marks[-1] == "x":
            came.append(name)
    came.sort(key=lambda name: -start(series()[name]))
    rows: dict[str, list[str]] = {}
    for name in [*never, *came]:
        rows.setdefault(sentence(name, series()[name], language), []).append(name.partition(".")[0])
    words = WORDS[language]
    long, short = (
        words[key].partition("{cure}")[0].format(last=releases()[-1]) for key in ("never", "short")
    )
    return [
        {"sentence": text.replace(long, short), "names": plainest(names), "callers": callers(names)}
        for text, names in rows.items()
    ]


def callers(names: list[str]) -> list[str]:
    """Return what calls one of these operators: modules rather than functions, three for each at most."""
    found: list[str] = []
    for name in names:
        here = [caller for caller, used in calls().items() if name in used]
        found += [caller for caller in here if not caller.startswith("F.")][:3] or here[:3]
    return list(dict.fromkeys(found))


def plainest(names: list[str]) -> list[str]:
    """Return names that stand for the others, sorted: none that another one is a part of."""
    found: list[str] = []
    for name in sorted(names, key=plainness):
        if not any(stem(other) in name for other in found):
            found.append(name)
    return sorted(found, key=lambda name: name.strip("_"))
