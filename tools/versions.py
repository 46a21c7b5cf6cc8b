"""Which PyTorch release suits a Mac: one rule over the release table.

The table is docs/data/versions.yaml (what is known about each release) joined with docs/data/wheels.json
(which wheels exist, asked of pip by tools/measuring/wheels.py). Pages, picker and tests use this rule.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools.read_yaml import read_yaml

DATA = Path(__file__).resolve().parent.parent / "docs" / "data"
CHIPS = ("arm64", "x86_64")
OLDEST_PYTHON = "3.9"  # the oldest that the picker offers


def number(version: str) -> tuple[int, ...]:
    """Return "12.3" as (12, 3) for comparing."""
    return tuple(int(part) for part in version.split("."))


@dataclass(frozen=True, eq=False)
class Release:
    """One minor release of PyTorch with everything known about it; each exists once, see releases()."""

    minor: str
    torch: str  # newest patch, "2.14.1"
    torchvision: str  # the newest that accepts it; "" when its metadata cannot tell
    macos: str  # oldest macOS by MPS' own error text
    works_from: str  # oldest macOS on which MPS is known to work
    pythons: dict[str, tuple[str, ...]]  # chip → Pythons with wheels of torch and torchvision
    made_for: dict[str, str]  # chip → macOS in the wheel's file name: pip installs from there on
    excluded_pythons: tuple[str, ...]  # exact Pythons that torchvision refuses, "3.14.1"
    numpy_below: str  # "" when any NumPy works
    brings: dict[str, str]  # language → text
    sources: tuple[str, ...]

    def python_range(self, chip: str) -> tuple[str, str]:
        """Return the oldest and the newest Python with wheels for this chip."""
        return self.pythons[chip][0], self.pythons[chip][-1]

    def suits(self, chip: str, macos: str) -> bool:
        """Say whether there are wheels for the chip whose MPS works on this macOS.

        On Intel the CPU is what counts, so only the wheel's own macOS matters.
        """
        floor = self.works_from if chip == "arm64" else self.made_for.get(chip, "")
        return chip in self.pythons and number(floor) <= number(macos)

    def command(self) -> str:
        """Return the line that installs torch and torchvision in these versions."""
        numpy = f' "numpy<{self.numpy_below}"' if self.numpy_below else ""
        vision = f" torchvision=={self.torchvision}" if self.torchvision else ""
        return f"pip install torch=={self.torch}{vision}{numpy}"


@dataclass(frozen=True)
class Answer:
    """What to install, or what has to change first."""

    release: Release | None  # for this Python; None when no wheel suits
    best: Release | None  # with the right Python; None when this macOS is too old for MPS
    trap: Release | None  # what pip would install instead of `release` without version numbers


@cache
def releases(folder: Path = DATA) -> tuple[Release, ...]:
    """Return all releases, newest first. Raises KeyError when the two data files name different releases."""
    known = read_yaml(folder / "versions.yaml")["releases"]
    wheels = json.loads((folder / "wheels.json").read_text(encoding="utf-8"))["releases"]
    if known.keys() != wheels.keys():
        raise KeyError(f"versions.yaml and wheels.json differ in {sorted(known.keys() ^ wheels.keys())}")
    return tuple(
        _join(minor, known[minor], wheels[minor]) for minor in sorted(known, key=number, reverse=True)
    )


def _join(minor: str, known: dict[str, Any], wheel: dict[str, Any]) -> Release:
    refused = [part[2:] for part in wheel["torchvision_requires_python"].split(",") if part.startswith("!=")]
    return Release(
        minor=minor,
        torch=wheel["torch"],
        torchvision=wheel["torchvision"],
        macos=known["macos"],
        works_from=known.get("works_from", known["macos"]),
        pythons={chip: tuple(listed) for chip, listed in wheel["pythons"].items()},
        made_for=wheel["wheel_made_for_macos"],
        excluded_pythons=tuple(refused),
        numpy_below=known.get("numpy_below", ""),
        brings=known["brings"],
        sources=tuple(known["sources"]),
    )


@cache
def settings(folder: Path = DATA) -> dict[str, Any]:
    """Return versions.yaml without the releases, plus `checked`, the date on which pip was asked."""
    content = read_yaml(folder / "versions.yaml")
    del content["releases"]
    content["checked"] = json.loads((folder / "wheels.json").read_text(encoding="utf-8"))["checked"]
    return content


def pythons() -> list[str]:
    """Return the Pythons that the picker offers, oldest first: those with any wheel, from 3.9 on."""
    every = {python for release in releases() for listed in release.pythons.values() for python in listed}
    return sorted((p for p in every if number(p) >= number(OLDEST_PYTHON)), key=number)


def recommend(chip: str, macos: str, python: str | None) -> Answer:
    """Return the newest release whose wheels exist for this chip and Python and whose MPS works here.

    chip: "arm64" or "x86_64"; macos: "14.0"; python: "3.12", or None when none is installed yet.
    Raises ValueError for an unknown chip.
    """
    if chip not in CHIPS:
        raise ValueError(f"unknown chip {chip!r}; known are {', '.join(CHIPS)}")
    suitable = [release for release in releases() if release.suits(chip, macos)]
    best = suitable[0] if suitable else None
    if python is None:
        python = best.pythons[chip][-1] if best else None
    release = next((r for r in suitable if python in r.pythons[chip]), None)
    here = [r for r in releases() if python in r.pythons.get(chip, ())]
    plain = next((r for r in here if number(r.made_for[chip]) <= number(macos)), None)
    return Answer(release, best, plain if release and plain is not release else None)
