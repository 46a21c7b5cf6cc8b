"""The rule behind "Which PyTorch for my Mac", its tables, and what the tool makes of pip's answers."""

import re
from html.parser import HTMLParser

import pytest

from docs.hooks import data_tables, version_picker
from tools.measuring import wheels as check_wheels
from tools.versions import CHIPS, DATA, number, pythons, recommend, releases, settings

FACTS = [  # chip, macOS, Python, release, newest with another Python
    ("arm64", "26.0", "3.12", "2.15.0", "2.15.0"),
    ("arm64", "15.0", "3.11", "2.15.0", "2.15.0"),
    ("arm64", "15.0", "3.15", "2.15.0", "2.15.0"),
    ("arm64", "15.0", "3.10", "2.14.1", "2.15.0"),  # 2.15 needs Python 3.11
    ("arm64", "15.0", "3.9", "2.8.0", "2.15.0"),  # 2.9 needs Python 3.10
    ("arm64", "14.7", "3.13", "2.14.1", "2.14.1"),  # 2.15 needs macOS 15
    ("arm64", "14.0", "3.10", "2.14.1", "2.14.1"),
    ("arm64", "14.0", "3.15", None, "2.14.1"),  # wheels for Python 3.15 begin with 2.15
    ("arm64", "13.0", "3.12", "2.8.0", "2.8.0"),  # 2.9 needs macOS 14
    ("arm64", "13.0", "3.14", None, "2.8.0"),  # wheels for Python 3.14 begin with 2.9
    ("arm64", "12.7", "3.11", "2.4.1", "2.4.1"),  # 2.5.1 refused macOS 12.7.6 (pytorch#139425)
    ("arm64", "12.3", "3.12", "2.4.1", "2.4.1"),
    ("arm64", "12.3", "3.13", None, "2.4.1"),
    ("arm64", "12.2", "3.11", None, None),  # MPS needs macOS 12.3
    ("arm64", "11.0", None, None, None),
    ("x86_64", "13.0", "3.11", "2.2.2", "2.2.2"),  # the last for Intel
    ("x86_64", "26.0", "3.8", "2.2.2", "2.2.2"),
    ("x86_64", "15.0", "3.12", "2.2.2", "2.2.2"),
    ("x86_64", "15.0", "3.13", None, "2.2.2"),
    ("arm64", "15.0", None, "2.15.0", "2.15.0"),
]


@pytest.mark.parametrize(("chip", "macos", "python", "version", "best"), FACTS)
def test_the_rule_gives_what_is_known(chip, macos, python, version, best):
    answer = recommend(chip, macos, python)
    assert (answer.release and answer.release.torch, answer.best and answer.best.torch) == (version, best)


def test_an_unknown_chip_is_an_error():
    with pytest.raises(ValueError, match="unknown chip 'M5'"):
        recommend("M5", "26.0", "3.12")


@pytest.mark.parametrize(
    ("macos", "python", "trap"),
    [
        ("14.0", "3.12", "2.15.0"),  # the wheels of 2.12 and newer are made for macOS 14
        ("14.0", "3.10", None),  # 2.15 has none for Python 3.10
        ("13.0", "3.12", "2.11.0"),  # up to 2.11 they are made for macOS 11
        ("15.0", "3.12", None),
    ],
)
def test_what_pip_would_install_without_version_numbers(macos, python, trap):
    found = recommend("arm64", macos, python).trap
    assert (found and found.torch) == trap


def test_commands():
    commands = [
        recommend(*mac, "3.12").release.command()
        for mac in (("arm64", "15.0"), ("arm64", "14.0"), ("x86_64", "14.0"))
    ]
    assert commands == [
        "pip install torch==2.15.0 torchvision==0.29.2",
        "pip install torch==2.14.1 torchvision==0.29.2",
        'pip install torch==2.2.2 torchvision==0.17.2 "numpy<2"',
    ]


def test_only_the_releases_up_to_22_have_intel_wheels():
    assert [r.minor for r in releases() if "x86_64" in r.pythons] == ["2.2", "2.1", "2.0", "1.13", "1.12"]


def test_every_release_is_described_in_both_languages_with_sources():
    assert len(releases()) == 18
    for release in releases():
        assert release.brings.keys() == {"en", "zh"} and all(release.brings.values())
        assert all(re.fullmatch(r"wheel|pytorch#\d+", source) for source in release.sources), release.sources
        assert number(release.works_from) >= number(release.macos)
        for listed in release.pythons.values():  # a range can be written "3.9 to 3.13" only without gaps
            minors = [number(python)[1] for python in listed]
            assert minors == list(range(minors[0], minors[-1] + 1))


def test_the_data_files_must_name_the_same_releases(tmp_path):
    (tmp_path / "versions.yaml").write_text("releases: {'2.16': {}}\n")
    (tmp_path / "wheels.json").write_text('{"releases": {"2.15": {}}}')
    with pytest.raises(KeyError, match=r"2\.15.*2\.16"):
        releases(tmp_path)


class Cells(HTMLParser):
    """Collects the rows of the picker's table and the values of its selects."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.options, self.select = [], {}, ""

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "tr" and "data-chip" in found:
            self.rows.append({"cells": [], **found})
        elif tag == "td":
            self.rows[-1]["cells"].append("")
        elif tag == "select":
            self.select = found["name"]
        elif tag == "option":
            self.options.setdefault(self.select, []).append(found["value"])

    def handle_data(self, data):
        if self.rows and self.rows[-1]["cells"]:
            self.rows[-1]["cells"][-1] += data


def parsed(language: str) -> Cells:
    cells = Cells()
    cells.feed(version_picker.render(language))
    return cells


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_choice_has_one_row_with_right_answer(language):
    page = parsed(language)
    floors = {entry["id"]: entry["at_least"] for entry in settings()["macos"]}
    assert page.options["chip"] == list(CHIPS) and page.options["macos"] == list(floors)
    assert page.options["python"] == ["none", *reversed(pythons())]
    for chip in page.options["chip"]:
        for macos in page.options["macos"]:
            for python in page.options["python"]:
                matching = [
                    r
                    for r in page.rows
                    if r["data-chip"] == chip
                    and macos in r["data-macos"].split()
                    and python in r["data-python"].split()
                ]
                assert len(matching) == 1, (chip, macos, python)
                answer = recommend(chip, floors[macos], None if python == "none" else python)
                shown = answer.release or answer.best
                assert matching[0]["cells"][3].strip() == (shown.command() if shown else "–")


def test_a_row_covers_a_range_of_pythons_without_gaps():
    for row in version_picker.rows():
        minors = sorted(number(python)[1] for python in row.pythons if python)
        assert minors == list(range(minors[0], minors[-1] + 1))


def what(chip: str, macos: str, python: str) -> str:
    row = next(
        r
        for r in parsed("en").rows
        if r["data-chip"] == chip and macos in r["data-macos"].split() and python in r["data-python"].split()
    )
    return row["cells"][4]


def test_the_notes_say_what_to_know():
    assert "With Python 3.11 to 3.15 you get 2.15.0" in what("arm64", "15", "3.10")
    assert "Install Python 3.10 to 3.14 first" in what("arm64", "14", "3.15")
    assert "pip installs 2.15.0, whose MPS needs macOS 15" in what("arm64", "14", "3.12")
    assert "A newer macOS brings a newer release" in what("arm64", "13", "3.12")
    assert "MPS needs macOS 12.3" in what("arm64", "older", "3.12")
    assert "cannot use NumPy 2" in what("x86_64", "14", "3.12")
    assert "3.14.1" in what("arm64", "26", "3.14") and "3.14.1" not in what("arm64", "26", "3.10")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_of_releases(language):
    lines = [line for line in data_tables.render("releases", language).splitlines() if line[:1] == "|"]
    assert len(lines) == 2 + len(releases())
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2].startswith("| 2.15.0 | 15 | 3.11 ")
    assert "(https://github.com/pytorch/pytorch/issues/139425)" in "".join(lines)


def test_nothing_names_a_package_registry():
    files = [(DATA / name).read_text(encoding="utf-8") for name in ("versions.yaml", "wheels.json")]
    for text in (version_picker.render("en"), data_tables.render("releases", "zh"), *files):
        assert "pypi" not in text.lower() and "index-url" not in text


def test_a_survey_joins_torch_with_its_torchvision(monkeypatch):
    wheels = {
        ("torch", "arm64"): {"3.12": ["2.9.1", "2.9.0", "1.11.0"], "3.13": ["2.9.1"]},
        ("torchvision", "arm64"): {"3.12": ["0.25.0", "0.24.1"]},
    }
    needs = {"0.25.0": "==2.9.0", "0.24.1": ">=2.9.0"}
    monkeypatch.setattr(
        check_wheels,
        "versions",
        lambda package, chip, python: wheels.get((package, chip), {}).get(python, []),
    )
    monkeypatch.setattr(
        check_wheels,
        "metadata",
        lambda package, version, chip, python: {
            "requires_python": ">=3.10",
            "macos": "11.0",
            "requires_torch": needs.get(version, ""),
        },
    )
    assert check_wheels.survey() == {
        "2.9": {
            "torch": "2.9.1",
            "torchvision": "0.24.1",
            "torchvision_requires": "torch>=2.9.0",
            "torch_requires_python": ">=3.10",
            "torchvision_requires_python": ">=3.10",
            "wheel_made_for_macos": {"arm64": "11.0"},
            "pythons": {"arm64": ["3.12"]},
        }
    }
