"""Compare the rules of the simulated device with the macOS wheels, and write which Metal kernels these have.

    python -m tools.measuring.device_rules [--cache FOLDER]

tools.measuring.releases downloads the wheels, and calls it. A text that a release of its rule lacks is wrong
in rules.json. One that a release beside them has may be lifted too early, or belongs to another operator.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.measuring.metal_kernels import DEVICE, RULES, kernel_names, types_with
from tools.ranges import TABLES_FROM
from tools.versions import number

METAL_TYPES = DEVICE / "metal_types.json"
LIBRARY = "torch/lib/libtorch_cpu.dylib"

Rule = Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """What the library of one release has of the rules."""

    literals: frozenset[str]
    kernels: Mapping[str, str]  # by pattern, the types that have the kernel

    def has(self, rule: Rule) -> bool:
        """Return whether the library can say what the rule says."""
        if "kernel" in rule:
            return any(pattern in self.kernels for pattern in patterns(rule))
        return self.literals.issuperset(literals(rule))


def read_rules() -> list[Rule]:
    """Return the rules that wheels can show: what a Mac computes wrongly they do not."""
    content = json.loads(RULES.read_text(encoding="utf-8"))
    rules = [*content["refused"], *content["mixed_devices"]]
    return [rule for rule in rules if rule.get("outcome") != "wrong"]


def literals(rule: Rule) -> list[str]:
    """Return what a library with the text of a rule contains."""
    return rule.get("search", [rule["text"]] if "text" in rule else [])


def patterns(rule: Rule) -> list[str]:
    """Return the names of a rule's Metal kernels, with {type} for the type."""
    name = rule.get("kernel", "")
    found = (name.replace("{operator}", operator.partition(".")[0]) for operator in rule["operators"])
    return list(dict.fromkeys(found)) if name else []


def read(library: bytes, rules: Iterable[Rule]) -> Reading:
    """Return what a library has of `rules`."""
    names = kernel_names(library)
    wanted = {literal for rule in rules for literal in literals(rule)}
    kernels = {pattern: types_with(pattern, names) for rule in rules for pattern in patterns(rule)}
    present = {pattern: " ".join(types) for pattern, types in kernels.items() if types}
    return Reading(frozenset(each for each in wanted if each.encode() in library), present)


def read_wheel(wheel: Path, rules: Iterable[Rule]) -> Reading:
    """Return what a wheel has of `rules`."""
    with zipfile.ZipFile(wheel) as content:
        return read(content.read(LIBRARY), rules)


def compare(rules: Iterable[Rule], found: Mapping[str, Reading]) -> Iterator[str]:
    """Yield a line for each rule that says otherwise than the wheels, `found` by release."""
    rules = list(rules)
    covered: dict[str, set[str]] = {}
    for rule in rules:
        covered.setdefault(name_of(rule), set()).update(releases_of(rule, found))
    for rule in rules:
        where = f"{' '.join(rule['operators'])}: {name_of(rule)}"
        wrong = [] if "kernel" in rule else [r for r in releases_of(rule, found) if not found[r].has(rule)]
        if wrong:
            yield f"wrong in rules.json, not in {', '.join(wrong)}: {where}"
        beside = [r for r in found if r not in covered[name_of(rule)] and found[r].has(rule)]
        if beside and "shared" not in rule:
            yield f"also in {', '.join(beside)}: {where}"


def name_of(rule: Rule) -> str:
    """Return the text of a rule, or the name of its kernel."""
    return rule.get("text") or rule["kernel"]


def releases_of(rule: Rule, releases: Iterable[str]) -> list[str]:
    """Return those of `releases` in which a rule holds."""
    ordered = sorted(releases, key=number)
    first, last = number(rule.get("since", ordered[0])), number(rule.get("until", ordered[-1]))
    return [release for release in ordered if first <= number(release) <= last]


def write(found: Mapping[str, Reading], path: Path = METAL_TYPES) -> None:
    """Write for each Metal kernel of a rule, and each release that has it, for which types."""
    names = sorted({pattern for reading in found.values() for pattern in reading.kernels})
    table = {
        name: {
            release: reading.kernels[name] for release, reading in found.items() if name in reading.kernels
        }
        for name in names
    }
    path.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")


def wheels_in(folder: Path) -> dict[str, Path]:
    """Return the wheels in `folder` by release, such as "2.13": those that have tables, the oldest first."""
    wheels = {re.sub(r"torch-(\d+\.\d+)\..*", r"\1", path.name): path for path in folder.glob("torch-*.whl")}
    known = sorted((each for each in wheels if number(each) >= number(TABLES_FROM)), key=number)
    return {release: wheels[release] for release in known}


def main() -> int:
    """Read the wheels, write the table, print what does not fit; return 1 when a rule is wrong."""
    parser = argparse.ArgumentParser(description="Compare the simulated device's rules with the wheels.")
    parser.add_argument("--cache", type=Path, default=Path(".cache") / "wheels", help="(%(default)s)")
    folder = parser.parse_args().cache
    wheels = wheels_in(folder)
    if not wheels:
        print(f"error: no wheels in {folder}; make follow-release downloads them", file=sys.stderr)
        return 2
    rules = read_rules()
    found = {release: read_wheel(wheel, rules) for release, wheel in wheels.items()}
    write(found)
    lines = list(compare(rules, found))
    print(*lines, f"{len(rules)} rules compared with {len(found)} releases", sep="\n")
    return int(any(line.startswith("wrong") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
