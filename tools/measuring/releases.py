"""Read in the macOS wheels of PyTorch which messages, environment variables and operators a release has.

    python -m tools.measuring.releases

Of every minor release in docs/data/wheels.json (tools.measuring.wheels asks pip for them), the newest wheel
for Apple silicon is downloaded, one after the other, unless the folder has it: 1.4 GB in all, then eight
minutes of processor time. It writes ranges.json and operators.json in docs/data and the tables of the
simulated device, and prints what the newest release changed, which rules of the device no longer hold, and
what is left to do by hand.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools import ranges
from tools.measuring import device_rules, operator_tables, wheels
from tools.measuring.wheel_texts import read_texts
from tools.read_yaml import read_yaml
from tools.versions import DATA, number

CACHE = Path(".cache") / "wheels"
OUTPUT = DATA / "ranges.json"
NAME = r"{0}(?<![A-Z0-9_]{0})(?![A-Z0-9_])"  # whole; the name comes first, since that is much faster
MPS_VARIABLE = re.compile(r"PYTORCH_(?:[A-Z0-9]+_)*MPS(?:_[A-Z0-9]+)+")
MPS_MESSAGE = re.compile(r"(?=.*\bMPS\b)(?:\S+ ){3}.*")
BY_HAND = """Left to do by hand:
- docs/data/versions.yaml: describe a release that is new; then the tables and the picker show it.
- Causes and cures of messages that are new or gone; messages above that deserve an entry.
- Sentences that name the newest release or a number of operators: `make test` finds those that a test holds.
- The simulated device: what this release registers outside the list (kernels.py) and refuses (rules.json),
  whether it can hold the device (build.py), how often that is right (tools.measuring.device_operators)."""


@dataclass(frozen=True)
class Reading:
    """What one wheel has."""

    operators: operator_tables.Release
    literals: frozenset[str]
    variables: frozenset[str]
    mps: frozenset[str]  # its variables and messages that name MPS, known or not
    rules: device_rules.Reading  # what it has of the simulated device's rules


def wanted_literals() -> list[str]:
    """Return the literals of all messages that wheels can date."""
    topics = [read_yaml(path) for path in ranges.MESSAGES.glob("*.yaml")]
    messages = [message for topic in topics for message in topic["messages"]]
    dated = [message for message in messages if message["id"] not in ranges.not_in_wheels()]
    every = (
        ranges.literals(text, message.get("search", ()))
        for message in dated
        for text in ranges.texts(message)
    )
    return sorted({literal for found in every for literal in found})


def wanted_variables() -> list[str]:
    """Return the names of all environment variables."""
    return [entry["name"] for entry in read_yaml(DATA / "environment_variables.yaml")]


def fetch(version: str, python: str, folder: Path) -> Path:
    """Return the wheel of a PyTorch in `folder`, downloaded if it is not there. Raises RuntimeError."""
    if not list(folder.glob(f"torch-{version}-*.whl")):
        options = ["--quiet", "--no-deps", "--dest", str(folder), f"torch=={version}"]
        done = wheels.pip("download", *options, chip="arm64", python=python)
        if done.returncode != 0:
            raise RuntimeError(f"pip download torch=={version}: {done.stderr.strip()[-200:]}")
    return next(folder.glob(f"torch-{version}-*.whl"))


def read(wheel: Path, literals: list[str], variables: list[str]) -> Reading:
    """Return what a wheel has of these literals and variables, and its operators."""
    text = read_texts(wheel)
    return Reading(
        operator_tables.read_wheel(wheel),
        frozenset(literal for literal in literals if literal in text),
        frozenset(name for name in variables if re.search(NAME.format(name), text)),
        frozenset(MPS_VARIABLE.findall(text)) | frozenset(filter(MPS_MESSAGE.fullmatch, text.split("\n"))),
        device_rules.read_wheel(wheel, device_rules.read_rules()),
    )


def document(readings: list[Reading], literals: list[str], variables: list[str]) -> dict[str, Any]:
    """Return what ranges.json holds."""
    known = {
        literal: "".join(".x"[literal in reading.literals] for reading in readings) for literal in literals
    }
    named = {name: "".join(".x"[name in reading.variables] for reading in readings) for name in variables}
    return {
        "about": 'A mark per wheel: "x" it has the text. Literals stand for messages, see tools/ranges.py.',
        "command": "python -m tools.measuring.releases",
        "read": datetime.now(UTC).date().isoformat(),
        "wheels": {reading.operators.minor: reading.operators.version for reading in readings},
        "variables": named,
        "texts": known,
    }


def changes(found: dict[str, Any], readings: list[Reading]) -> Iterator[str]:
    """Yield what the newest release changed, a line each."""
    before, newest = readings[-2], readings[-1]
    yield f"PyTorch {newest.operators.version} after {before.operators.version}"
    for kind in ("texts", "variables"):
        for name, marks in found[kind].items():
            if marks[-2:] in (".x", "x."):
                yield f"{'new' if marks[-1] == 'x' else 'gone'} ({kind}): {name}"
    known = re.compile("|".join(map(re.escape, [*found["texts"], *found["variables"]])))
    unknown = sorted(line for line in newest.mps - before.mps if not known.search(line))
    yield from (f"new and not in the data: {line.strip()}" for line in unknown)
    had, has = (reading.operators.with_kernel("MPS") for reading in (before, newest))
    yield f"gained an MPS kernel: {' '.join(sorted(has - had)) or 'none'}"
    yield f"lost it: {' '.join(sorted(had - has)) or 'none'}"


def corrected(before: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Yield what the file said otherwise of a wheel that it names, a line each."""
    for kind in ("texts", "variables"):
        for name in before[kind].keys() & found[kind].keys():
            old, new = (
                dict(zip(each["wheels"].values(), each[kind][name], strict=True)) for each in (before, found)
            )
            wrong = [wheel for wheel in old.keys() & new.keys() if old[wheel] != new[wheel]]
            if wrong:
                yield f"wrong in ranges.json until now: {name} ({', '.join(sorted(wrong))})"


def of_device(readings: list[Reading]) -> dict[str, device_rules.Reading]:
    """Return what the releases of the simulated device have of its rules."""
    first = number(ranges.TABLES_FROM)
    known = ((reading.operators.minor, reading.rules) for reading in readings)
    return {minor: rules for minor, rules in known if number(minor) >= first}


def write(readings: list[Reading], found: dict[str, Any]) -> None:
    """Write the files of data."""
    OUTPUT.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    operators = [reading.operators for reading in readings]
    operator_tables.write(operators)
    operator_tables.write_simulated(operators)
    device_rules.write(of_device(readings))


def main() -> int:
    """Read all wheels, write the data, print the changes; return the exit code."""
    parser = argparse.ArgumentParser(description="Read in which releases of PyTorch something is.")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for the wheels (%(default)s)")
    folder = parser.parse_args().cache
    releases = json.loads((DATA / "wheels.json").read_text(encoding="utf-8"))["releases"]
    literals, variables = wanted_literals(), wanted_variables()
    readings = []
    for minor in sorted(releases, key=number):
        try:
            wheel = fetch(releases[minor]["torch"], releases[minor]["pythons"]["arm64"][-1], folder)
        except RuntimeError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        print(f"reading {wheel.name}", file=sys.stderr)
        readings.append(read(wheel, literals, variables))
    found = document(readings, literals, variables)
    rules = device_rules.compare(device_rules.read_rules(), of_device(readings))
    lines = [*changes(found, readings), *corrected(ranges.read(), found), *rules]
    write(readings, found)
    print(*lines, BY_HAND, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
