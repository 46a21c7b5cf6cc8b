"""The README of both languages: its figures are those of the data, its commands and folders exist."""

import re
from pathlib import Path

import pytest

from examples.systems import SYSTEMS
from tests.examples.every_program import CASES
from tests.examples.system_cases import results
from tools.recordings import read_machines, read_recordings

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = {"en": "README.md", "zh": "README.zh.md"}
COUNTED = {
    "en": ("Its {} training systems", "## The {} systems"),
    "zh": ("书里的{}套训练系统", "## {}套系统"),
}
NUMBERS = {"en": {5: "five", 6: "six", 7: "seven"}, "zh": {5: "五", 6: "六", 7: "七"}}
WORDS, CHARACTERS = 350, 600


def readme(language):
    return (ROOT / LANGUAGES[language]).read_text(encoding="utf-8")


def rows(language):
    """Return the cells of the table of systems."""
    lines = [line for line in readme(language).splitlines() if line.startswith("| [")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def seconds(names):
    """Return how long recorded trainings took, as their programs print it."""
    texts = [(ROOT / f"docs/data/recorded/{name}.txt").read_text(encoding="utf-8") for name in names]
    return sum(
        float(found) for text in texts for found in re.findall(r"^done .* after ([\d.]+) s$", text, re.M)
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_system_row_has_page_and_command(language):
    default = re.search(r"^SYSTEM = (\w+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1]
    expected = [
        (
            f"(docs/{language}/{system.pages[0]})",
            "`make train`" if system.name == default else f"`make train SYSTEM={system.name}`",
        )
        for system in SYSTEMS
    ]
    assert [(re.search(r"\(.+\)", row[0])[0], row[1]) for row in rows(language)] == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_counts_the_systems(language):
    sentences = [text.format(NUMBERS[language][len(SYSTEMS)]) for text in COUNTED[language]]
    missing = [text for text in sentences if text not in readme(language)]
    assert not missing, f"{LANGUAGES[language]} counts the systems otherwise: it should say {missing}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_times_are_those_of_the_recordings(language):
    for row, cases in zip(rows(language), CASES.values(), strict=True):
        time = seconds(cases.recordings)
        assert row[2] == (f"{time:.0f} s" if time < 100 else f"{time / 60:.0f} min")
    recordings = read_recordings(ROOT)
    used = {recordings[name]["machine"] for cases in CASES.values() for name in cases.recordings}
    machines = [read_machines(ROOT)[name] for name in used]
    assert {machine["cpu_cores"] for machine in machines} == {2}
    assert {f"PyTorch {machine['versions']['torch']}" for machine in machines} <= set(
        re.findall(r"PyTorch [\d.]+\d", readme(language))
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_are_means_and_ranges_of_the_results(language):
    figures, seeds = zip(*(cases.reached() for cases in CASES.values()), strict=True)
    for row, values in zip(rows(language), figures, strict=True):
        shown = re.findall(r"\d+\.\d", row[3])
        assert shown == [f"{100 * value:.1f}" for value in values], row
    between = {"en": f"{min(seeds)} to {max(seeds)} seeds", "zh": f"{min(seeds)} 到 {max(seeds)} 个种子"}
    assert between[language] in readme(language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_it_names_exists(language):
    text = readme(language)
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"`make ([\w-]+)", text)) <= set(targets)
    folders = re.findall(r"^\| `([\w/]+)/` \|", text, re.M)
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert (len(folders), len(pictures)) == (6, 2)
    assert [name for name in (*folders, *pictures, *links) if not (ROOT / name).exists()] == []


def test_it_is_short():
    english, chinese = (
        re.sub(r"(?s)<picture>.*?</picture>|```.*?```|\]\([^)]*\)", " ", readme(language))
        for language in LANGUAGES
    )
    assert len([word for word in english.split() if re.search(r"\w", word)]) <= WORDS
    assert len(re.findall("[\u4e00-\u9fff]", chinese)) <= CHARACTERS


@pytest.mark.parametrize("language", LANGUAGES)
def test_first_network_wait_is_the_measured_one(language):
    waited = results("first_network")["make train"]
    assert f"{waited['seconds']:.0f} s" in readme(language)
    assert f"{waited['megabytes'] / 1000:.1f} GB" in readme(language)
