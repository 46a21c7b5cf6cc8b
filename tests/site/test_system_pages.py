"""The four pages of each training system: their lengths, what comes first, what does not stand on them."""

import re
from pathlib import Path

import pytest

import examples.systems
from tools.checks.markdown_fences import find_fences
from tools.checks.sections import all_sections
from tools.downloads import project_files, system_files

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = {Path(system.pages[0]).parent.name: system.name for system in examples.systems.SYSTEMS}
STEPS = ["check", "own-data", "real-size", "watch", "resume", "evaluate", "use", "elsewhere"]
MOST = {"index": 1800, "how-it-works": 3000}  # words without code; what is folded counts half
HAN_PER_WORD = 1.6  # of the same text
WORD = {"en": re.compile(r"[\w'’%-]*\w"), "zh": re.compile(r"[\u3400-\u9fff]")}
OF_ANOTHER = re.compile(  # a reader of these pages has not seen the guide that a system was made after
    r"\bthe (?:source )?guide(?:'s)?\b|\bcorrected\b|原指南|订正|原项目", re.IGNORECASE
)
PAGES = [(language, system) for language in ("en", "zh") for system in SYSTEMS]
IDS = [f"{system}-{language}" for language, system in PAGES]


def read(language, system, page):
    """Return a page's Markdown without its front matter."""
    path = ROOT / "docs" / language / "examples" / system / f"{page}.md"
    return path.read_text(encoding="utf-8").partition("\n---\n")[2]


def without_code(markdown):
    """Return what is open and what is folded, without fences, comments, marks and addresses of links."""
    lines = markdown.split("\n")
    for fence in reversed(find_fences(markdown)[0]):
        lines[fence.first - 1 : fence.last] = []
    text = re.sub(r"<!--.*?-->|\{[^{}\n]*[#=.][^{}\n]*\}|!?\[|\]\([^)]*\)", " ", "\n".join(lines))
    folded = re.compile(r"^\?\?\?[^\n]*(?:\n(?: {4}[^\n]*|[ \t]*))*", re.MULTILINE)
    return folded.sub("", text), "\n".join(folded.findall(text))


def length(language, markdown):
    """Return the words or Han characters of a page, those that are folded by half."""
    shown, folded = (len(WORD[language].findall(part)) for part in without_code(markdown))
    return shown + folded / 2


@pytest.mark.parametrize(("language", "system"), PAGES, ids=IDS)
@pytest.mark.parametrize("page", MOST)
def test_page_is_short(language, system, page):
    most = MOST[page] * (HAN_PER_WORD if language == "zh" else 1)
    assert 0.2 * most < length(language, read(language, system, page)) <= most


@pytest.mark.parametrize(("language", "system"), PAGES, ids=IDS)
def test_first_block_gets_installs_and_trains(language, system):
    text = read(language, system, "index")
    before = text[: text.index("```")]
    assert re.search(r"^# .* \{ #train \}$", before, re.MULTILINE)
    prose = re.sub(r"^(#|===).*$", "", before, flags=re.MULTILINE)
    assert length(language, prose) <= 60 * (HAN_PER_WORD if language == "zh" else 1)
    tabs = re.findall(r'^=== "(\w+)"\n\n    ```bash\n    --8<-- "([^"]+)"$', text, re.MULTILINE)
    assert tabs[:2] == [(tool, f"snippets/shell/start_{SYSTEMS[system]}.sh:{tool}") for tool in ("uv", "pip")]


@pytest.mark.parametrize(("language", "system"), PAGES, ids=IDS)
def test_steps_are_numbered_in_the_same_order(language, system):
    steps = re.findall(r"^### (\d)\. .* \{ #([\w-]+) \}$", read(language, system, "index"), re.MULTILINE)
    assert steps == [(str(number), name) for number, name in enumerate(STEPS, start=1)]


@pytest.mark.parametrize(("language", "system"), PAGES, ids=IDS)
def test_settings_are_at_most_ten(language, system):
    section = re.split(r"\{ #settings \}", read(language, system, "index"))[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert 3 <= len(rows) <= 10


@pytest.mark.parametrize(("language", "system"), PAGES, ids=IDS)
@pytest.mark.parametrize("page", ["index", "how-it-works", "results"])
def test_pages_argue_with_nobody(language, system, page):
    text = " ".join(without_code(read(language, system, page)))
    assert len(OF_ANOTHER.findall(text)) <= (page == "index"), OF_ANOTHER.findall(text)


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("page", ["index", "data"])
def test_commands_run_in_the_unpacked_zip(system, page):
    (entry,) = (entry for entry in examples.systems.SYSTEMS if entry.name == SYSTEMS[system])
    files = system_files(entry, "", project_files(ROOT), ROOT)
    sections, _ = all_sections(ROOT)
    includes = [fence.include for fence in find_fences(read("en", system, page))[0]]
    shown = [sections[name].text for name in includes if name and name.startswith("snippets/shell/")]
    named = set(re.findall(r"(?:examples|snippets)/[\w/]+\.(?:py|sh)", "\n".join(shown)))
    assert len(named) > 2
    assert named - files.keys() == set()
