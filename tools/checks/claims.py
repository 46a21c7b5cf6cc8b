"""Claims that people meet in guides, each checked: docs/data/claims/TOPIC.yaml, a list of entries.

Order in a file: what costs a reader most first. An entry has

    id        the permanent link, in lower case with hyphens; unique over all files
    claim     en and zh; what is said, in other words than those of a guide
    verdict   holds, conditions, depends (on the machine), outdated, unsupported, or wrong (not accurate)
    versions  releases for which the truth holds, where it is not all: one text, or en and zh
    truth     en and zh; what is right, and what to do
    evidence  what the truth stands on, at least one of
                {issue: 5} or {pull: 5} of PyTorch, {issue: [5, owner/name]} of others
                {url: "https://…", name: "…"}
                {read: {en, zh}}, which file of which release; {ran: {en, zh}}, on what
    page      the section of ours that treats it, such as guides/precision.md#formats
    check     what shows it: {test: tests/….py::name}; {command: …, expect: regular expression of the output},
              with `mac: true` if only a Mac can tell; or {none: {en, zh}}, why there is no check

docs/hooks/claims.py renders them, examples/check_claims.py runs the checks. `wrong_claims` returns each fault
as a sentence in one line; the build of the site fails with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tools.checks.nearest import nearest
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = Path("docs/data/claims")
PAGE = "facts/claims.md"  # its own headings are no ids of claims
LANGUAGES = ("en", "zh")
TOPICS = {  # in the order of the page
    "device": {"en": "Choosing the device", "zh": "选择设备"},
    "versions": {"en": "Versions and installing", "zh": "版本与安装"},
    "memory": {"en": "Memory", "zh": "内存"},
    "precision": {"en": "Precision", "zh": "精度"},
    "speed": {"en": "Speed", "zh": "速度"},
    "loading": {"en": "Loading data", "zh": "数据加载"},
    "compile": {"en": "Compiling", "zh": "编译"},
    "fallback": {"en": "Missing operators", "zh": "缺失的算子"},
    "variables": {"en": "Environment variables", "zh": "环境变量"},
    "training": {"en": "Training", "zh": "训练"},
    "frameworks": {"en": "Frameworks and packages", "zh": "框架与软件包"},
    "monitoring": {"en": "Monitoring", "zh": "监控"},
    "cost": {"en": "Cost", "zh": "成本"},
}
VERDICTS = ("holds", "conditions", "depends", "outdated", "unsupported", "wrong")
REQUIRED = ("id", "claim", "verdict", "truth", "evidence", "page", "check")
OPTIONAL = ("versions",)
MOST = {"claim": {"en": 25, "zh": 60}, "truth": {"en": 55, "zh": 150}}  # words; in Chinese also characters
CHECKS = ("test", "command", "none")
EVIDENCE = "write issue: 5, pull: [5, owner/name], url: https://… with name, read: {en, zh}, or ran: {en, zh}"
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_WORD = {
    "en": re.compile(r"\S+"),
    "zh": re.compile(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff，。；：！？、（）“”]+"),
}
_ANCHOR = re.compile(r"\{ #([\w-]+)")
_TABLE = re.compile(r"<!-- table: ([\w-]+) -->")


def is_both(value: Any) -> bool:
    """Say whether a value is a text in both languages and nothing else."""
    return (
        isinstance(value, dict)
        and value.keys() == {*LANGUAGES}
        and all(isinstance(text, str) and text.strip() for text in value.values())
    )


def is_text(value: Any) -> bool:
    """Say whether a value is a text: one for both languages, or one in each."""
    return is_both(value) or (isinstance(value, str) and bool(value.strip()))


def in_language(value: Any, language: str) -> str:
    """Return a text in a language, and one for both languages as it is."""
    return value[language] if isinstance(value, dict) else value


def words(text: str, language: str) -> int:
    """Return how long a text is: its words, in Chinese its characters and Latin words."""
    return len(_WORD[language].findall(text))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the places of a page that links can name, with those that its tables bring."""
    text = page.read_text(encoding="utf-8")
    found = {*_ANCHOR.findall(text)}
    data = page.parents[[part.name for part in page.parents].index("docs")] / "data"
    for table in _TABLE.findall(text):
        if table == "wrong-results":
            found |= read_yaml(data / "wrong_results.yaml")["topics"].keys()
        topic = data / "error_messages" / f"{table.removeprefix('error-messages-')}.yaml"
        if table.startswith("error-messages-") and topic.is_file():
            found |= {message["id"] for message in read_yaml(topic)["messages"]}
    return frozenset(found)


def wrong_keys(entry: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the keys of a claim, its id and its verdict."""
    for key in entry.keys() - {*REQUIRED, *OPTIONAL}:
        yield f"`{key}` is no key of a claim{nearest(str(key), {*REQUIRED, *OPTIONAL} - entry.keys())}"
    for key in REQUIRED:
        if not entry.get(key):
            yield f"`{key}` is missing: tools/checks/claims.py says what it is"
    ident, verdict = entry.get("id"), entry.get("verdict")
    if ident and not (isinstance(ident, str) and _ID.fullmatch(ident)):
        yield "`id`: write lower case, digits and hyphens, such as bf16-speed"
    if verdict and verdict not in VERDICTS:
        yield f"`verdict`: {verdict} is none of {', '.join(VERDICTS)}{nearest(str(verdict), VERDICTS)}"


def wrong_texts(entry: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the texts of a claim: a language is missing, too long, or not proven."""
    for key, most in MOST.items():
        texts = entry.get(key)
        if not texts:
            continue
        if not is_both(texts):
            yield f"`{key}`: write it in en and zh"
            continue
        for language, text in texts.items():
            if (length := words(text, language)) > most[language]:
                yield f"`{key}` in {language} has {length} words: at most {most[language]}"
            if "[?]" in text:
                yield f"`{key}` in {language} has a [?]: what is not proven is left out"
    if "versions" in entry and not is_text(entry["versions"]):
        yield "`versions`: write one text, or en and zh"


def is_evidence(source: Any) -> bool:
    """Say whether an entry of `evidence` has one of its forms."""
    match source:
        case {"url": str(address), "name": name, **rest}:
            return not rest and re.fullmatch(r"https://\S+", address) is not None and is_text(name)
        case {"read": text, **rest} | {"ran": text, **rest}:
            return not rest and is_both(text)
        case {"issue": thread, **rest} | {"pull": thread, **rest}:
            number, name = thread if isinstance(thread, list) and len(thread) == 2 else (thread, "a/b")
            known = isinstance(number, int) and number > 0
            return not rest and known and re.fullmatch(r"[\w.-]+/[\w.-]+", str(name)) is not None
    return False


def wrong_evidence(entry: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the evidence of a claim that has some."""
    sources = entry.get("evidence") or []
    for source in sources if isinstance(sources, list) else [sources]:
        if not is_evidence(source):
            yield f"`evidence` {source}: {EVIDENCE}"


def wrong_page(root: Path, page: Any) -> Iterator[str]:
    """Yield where the page of a claim, or the section of it, does not exist."""
    path, _, anchor = str(page or "").partition("#")
    for language in LANGUAGES if path else ():
        file = root / "docs" / language / path
        if not file.is_file():
            yield f"`page`: there is no docs/{language}/{path}"
        elif anchor and anchor not in anchors(file):
            yield f"`page`: docs/{language}/{path} has no {{ #{anchor} }}{nearest(anchor, anchors(file))}"


def wrong_check(root: Path, check: Any) -> Iterator[str]:
    """Yield what is wrong with the check of a claim that has one."""
    if not check:
        return
    kinds = [key for key in CHECKS if key in check] if isinstance(check, dict) else []
    if len(kinds) != 1:
        yield f"`check`: write one of {', '.join(CHECKS)}"
        return
    allowed = {"command", "expect", "mac"} if kinds == ["command"] else {*kinds}
    for key in check.keys() - allowed:
        yield f"`check`: {key} is no key beside {kinds[0]}"
    value = check[kinds[0]]
    if kinds == ["none"] and not is_both(value):
        yield "`check`: say in en and zh why there is none"
    if kinds == ["test"]:
        yield from wrong_test(root, str(value))
    if kinds == ["command"]:
        yield from wrong_command(check)


def wrong_test(root: Path, test: str) -> Iterator[str]:
    """Yield that a test does not exist."""
    path, *names = test.partition("[")[0].split("::")
    if not (root / path).is_file() or not path.startswith("tests/"):
        yield f"`check`: there is no test file {path}"
        return
    text = (root / path).read_text(encoding="utf-8")
    known = re.findall(r"^\s*(?:def|class) (\w+)", text, re.MULTILINE)
    for name in names or [""]:
        if name not in known:
            yield f"`check`: {path} has no test {name}{nearest(name, known)}"


def wrong_command(check: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a command and with what it should print."""
    if not isinstance(check["command"], str) or not check["command"].strip():
        yield "`check`: write the command as a text"
    try:
        re.compile(check["expect"])
    except (KeyError, TypeError, re.error) as error:
        yield f"`check`: `expect` is no regular expression of the output: {error}"
    if not isinstance(check.get("mac", True), bool):
        yield "`check`: write mac: true, or leave it out"


def wrong_entry(root: Path, entry: dict[str, Any]) -> list[str]:
    """Return what is wrong with one claim."""
    wrong = [*wrong_keys(entry), *wrong_texts(entry), *wrong_evidence(entry)]
    return [*wrong, *wrong_page(root, entry.get("page")), *wrong_check(root, entry.get("check"))]


def wrong_claims(root: Path = ROOT) -> list[str]:
    """Return what is wrong with the claims, as `file: id: sentence`."""
    anchors.cache_clear()  # pages change while `make serve` runs
    found: list[str] = []
    page = root / "docs" / "en" / PAGE
    headings = anchors(page) if page.is_file() else ()
    places = dict.fromkeys([*TOPICS, *headings], "the page of the claims")
    for path in sorted((root / CLAIMS).glob("*.yaml")):
        name = path.relative_to(root).as_posix()
        try:
            entries = read_yaml(path)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            found.append(f"{name}: line {line}: no YAML: {error.problem}")
            continue
        if path.stem not in TOPICS:
            found.append(f"{name}: tools/checks/claims.py has no such topic{nearest(path.stem, TOPICS)}")
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            found.append(f"{name}: write a list of entries, each with `- id:`")
            continue
        for number, entry in enumerate(entries, start=1):
            ident = str(entry.get("id") or f"claim {number}")
            wrong = [f"{places[ident]} has this `id` too: take another"] if ident in places else []
            places.setdefault(ident, name)
            found += [f"{name}: {ident}: {sentence}" for sentence in [*wrong, *wrong_entry(root, entry)]]
    return found


def read_claims(root: Path = ROOT) -> dict[str, list[dict[str, Any]]]:
    """Return the claims by topic, in the order of the page. Raises ValueError with a line per fault."""
    if found := wrong_claims(root):
        raise ValueError("\n".join(found))
    files = {topic: root / CLAIMS / f"{topic}.yaml" for topic in TOPICS}
    return {topic: read_yaml(file) for topic, file in files.items() if file.is_file()}
