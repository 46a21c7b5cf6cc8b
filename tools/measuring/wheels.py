"""Ask pip which PyTorch wheels exist for macOS and write the answer to docs/data/wheels.json.

Nothing big is downloaded: `pip index versions` reads one small page per question, and
`pip install --dry-run --report` reads a wheel's metadata without the wheel.

    python -m tools.measuring.wheels
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from typing import Any

from tools.versions import CHIPS, DATA, number

OUTPUT = DATA / "wheels.json"
PYTHONS = ("3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15")
NEWEST_MACOS = "26_0"  # pip accepts every wheel that is made for this macOS or an older one
OLDEST = (1, 12)  # the first release with MPS

Wheels = dict[tuple[str, str], list[str]]  # (chip, Python) → versions, newest first


def pip(*arguments: str, chip: str, python: str) -> subprocess.CompletedProcess[str]:
    """Run pip as if it ran on a Mac with this chip and this Python."""
    target = ["--platform", f"macosx_{NEWEST_MACOS}_{chip}", "--python-version", python]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments, *target]
    command += ["--implementation", "cp", "--only-binary=:all:"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def versions(package: str, chip: str, python: str) -> list[str]:
    """Return the released versions of a package that have a wheel for this chip and Python.

    Raises RuntimeError when pip fails for another reason than that there is none.
    """
    result = pip("index", "versions", package, "--json", chip=chip, python=python)
    if result.returncode == 0:
        return [v for v in json.loads(result.stdout)["versions"] if re.fullmatch(r"[\d.]+", v)]  # no .post1
    if "No matching distribution found" in result.stderr:
        return []
    reason = (result.stderr.strip() or "no output").splitlines()[-1]
    raise RuntimeError(f"pip index versions {package}: {reason}")


def metadata(package: str, version: str, chip: str, python: str) -> dict[str, str]:
    """Return requires_python, macos (the wheel's tag) and requires_torch of one wheel.

    Raises RuntimeError when pip cannot read the metadata.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = ["--quiet", "--dry-run", "--no-deps", "--ignore-installed", "--report", "-", "--target"]
        result = pip("install", *words, folder, f"{package}=={version}", chip=chip, python=python)
    if result.returncode != 0:
        raise RuntimeError(f"pip install --dry-run {package}=={version}: {result.stderr.strip()[-200:]}")
    found = json.loads(result.stdout)["install"][0]
    tag = re.search(r"macosx_(\d+)_(\d+)_", found["download_info"]["url"])
    needs = [line for line in found["metadata"].get("requires_dist", []) if re.match(r"torch\b", line)]
    return {
        "requires_python": found["metadata"].get("requires_python", ""),
        "macos": f"{tag[1]}.{tag[2]}" if tag else "",
        "requires_torch": re.sub(r"^torch\s*|[()\s]", "", needs[0]) if needs else "",
    }


def accepts(requirement: str, version: str) -> bool:
    """Say whether a requirement such as "==2.9.1" or ">=2.14.0" accepts a torch release.

    Raises ValueError for an operator other than == and >=.
    """
    match = re.fullmatch(r"(==|>=)([\d.]+)", requirement)
    if not match:
        raise ValueError(f"requirement {requirement!r} of torchvision: only == and >= are understood")
    wanted, have = number(match[2]), number(version)
    return have == wanted if match[1] == "==" else have >= wanted


def newest_patches(found: Wheels) -> dict[str, str]:
    """Return the newest patch of each minor release from 1.12 on: {"2.14": "2.14.1", …}, newest first."""
    every = sorted({v for listed in found.values() for v in listed}, key=number, reverse=True)
    patches: dict[str, str] = {}
    for version in every:
        if number(version) >= OLDEST:
            patches.setdefault(".".join(version.split(".")[:2]), version)
    return patches


def matching_torchvision(torch: str, vision: Wheels, facts: dict[str, dict[str, str]]) -> str:
    """Return the newest torchvision whose metadata accepts this torch, or "" when metadata cannot tell.

    Wheels before 0.15 (torch 2.0) ask for torch without a version. `facts` caches what was read.
    """
    every = sorted({v for listed in vision.values() for v in listed}, key=number, reverse=True)
    for version in every:
        if version not in facts:
            where = next(key for key, listed in vision.items() if version in listed)
            facts[version] = metadata("torchvision", version, *where)
        if not facts[version]["requires_torch"]:
            break
        if accepts(facts[version]["requires_torch"], torch):
            return version
    return ""


def survey() -> dict[str, Any]:
    """Ask pip about every release and return what docs/data/wheels.json holds, without the date."""
    places = [(chip, python) for chip in CHIPS for python in PYTHONS]
    torch = {place: versions("torch", *place) for place in places}
    vision = {place: versions("torchvision", *place) for place in places}
    facts: dict[str, dict[str, str]] = {}
    releases = {}
    for minor, version in newest_patches(torch).items():
        partner = matching_torchvision(version, vision, facts)
        both = [at for at in places if version in torch[at] and (not partner or partner in vision[at])]
        read = {
            chip: metadata("torch", version, chip, next(p for c, p in both if c == chip))
            for chip in CHIPS
            if any(c == chip for c, _ in both)
        }
        releases[minor] = {
            "torch": version,
            "torchvision": partner,
            "torchvision_requires": "torch" + facts[partner]["requires_torch"] if partner else "",
            "torch_requires_python": next(iter(read.values()))["requires_python"],
            "torchvision_requires_python": facts[partner]["requires_python"] if partner else "",
            "wheel_made_for_macos": {chip: entry["macos"] for chip, entry in read.items()},
            "pythons": {chip: [p for c, p in both if c == chip] for chip in read},
        }
    return releases


def main() -> int:
    """Write docs/data/wheels.json; return the exit code."""
    try:
        releases = survey()
    except (RuntimeError, ValueError) as error:
        print(f"check_wheels: {error}", file=sys.stderr)
        return 1
    content = {
        "about": "By tools.measuring.wheels. pythons: torch and torchvision both have a wheel for it.",
        "checked": datetime.now(UTC).date().isoformat(),
        "releases": releases,
    }
    OUTPUT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"{len(releases)} releases written to {OUTPUT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
