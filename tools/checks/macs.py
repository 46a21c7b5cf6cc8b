"""Reports from Macs: docs/data/macs/NAME.json, each as examples/verify_mac.py wrote it.

`read_macs` returns them, in order of chip, macOS and PyTorch. What does not fit is not taken in: a file that
is too large or no complete report, counts that are not those of its checks, a machine or a release that
docs/data does not know, the CPU, the simulated device, or the same machine, macOS and PyTorch twice.
tools/checks/mac_steps.py explains the key `handbook`, which only `make verify-mac` adds.
`wrong_macs` returns a line for each such file; the build of the site fails with them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from tools.checks.mac_steps import HANDBOOK, wrong_steps
from tools.checks.shapes import is_number, misshapen, short
from tools.versions import number, releases, settings

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data"
MACS = DATA / "macs"
NAME = "docs/data/macs/"
MOST_BYTES = 300_000
SCHEMA, FIRST, LATEST = 1, 9, 15  # of verify_mac.py
SIMULATED = "simulated"  # what that device gives as the name of its GPU
GROUPS = ("device", "operators", "wrong results", "memory", "speed")
CHIP = r"\bM\d+(?: (?:Pro|Max|Ultra))?\b"
NAMES_CHIPS = ("published_speeds.yaml", "time_and_cost.yaml")
CHECK: dict[str, Any] = {
    **dict.fromkeys(("group", "name", "expected", "expected_text", "found"), str),
    "agrees": object,
    "seconds": float,
    "text?": str,
    "difference?": float,
    "figures?": dict,
}
MACHINE: dict[str, Any] = {
    **dict.fromkeys(("system", "chip", "macos", "power", "python", "torch", "gpu"), str),
    "gpu_cores": int,
    "memory_gb": float,
    "virtual": bool,
    "variables": dict,
}
REPORT: dict[str, Any] = {
    **dict.fromkeys(("program", "date", "device", "compared_with"), str),
    "schema": int,
    "complete": bool,
    "machine": MACHINE,
    "counts": dict,
    "checks": [CHECK],
    "handbook?": HANDBOOK,
}
RATES = ("lowest", "median", "highest")


def chips() -> set[str]:
    """Return the chips that the tables of speeds and of energy name."""
    texts = [(DATA / name).read_text(encoding="utf-8") for name in NAMES_CHIPS]
    return {f"Apple {chip}" for text in texts for chip in re.findall(CHIP, text)}


def wrong_machine(about: dict[str, Any]) -> Iterator[str]:
    """Yield what cannot be: an unknown chip, no such PyTorch, a macOS that is too old for it."""
    chip, macos, torch = about["chip"], about["macos"], about["torch"]
    if about["system"] != "Darwin":
        yield f"it comes from {short(about['system'])}, not from macOS"
    plain = chip.removesuffix(" (Virtual)")
    if plain not in chips():
        yield f"the chip {short(chip)} is in neither {' nor '.join(NAMES_CHIPS)} of docs/data"
    if plain != chip and not about["virtual"]:
        yield f"the chip {short(chip)} belongs to a virtual machine, and virtual is false"
    known = {release.minor: release for release in releases()}
    minor, _, patch = torch.rpartition(".")
    if minor not in known or not re.fullmatch(r"\d", patch) or number(torch) > number(known[minor].torch):
        yield f"PyTorch {short(torch)} is no release of docs/data/wheels.json"
    majors = [int(one["id"]) for one in settings()["macos"] if one["id"].isdigit()]
    system = re.fullmatch(r"(\d\d)(\.\d{1,2}){1,2}", macos)
    if not system or not (int(system[1]) in majors or int(system[1]) > max(majors)):
        yield f"there is no macOS {short(macos)}"
    if not known[minor].suits("arm64", macos):
        yield f"PyTorch {torch} needs macOS {known[minor].works_from}, and this is {macos}"


def wrong_check(row: dict[str, Any]) -> Iterator[str]:
    """Yield what is contradictory in a check."""
    wanted, same, agrees = row["expected"], row["expected"] == row["found"], row["agrees"]
    text_too = row["expected_text"] in ("", row.get("text", ""))
    if agrees not in (True, False, None) or (agrees is None) != (not wanted):
        yield f"agrees is {short(agrees)}, where {short(wanted)} was expected"
    if (agrees and not same) or (agrees is False and same and text_too):
        yield f"agrees is {short(agrees)}: expected {short(wanted)}, found {short(row['found'])}"
    if row["group"] not in GROUPS:
        yield f"there is no group {short(row['group'])}"
    if row["group"] == "wrong results" and not re.match(r"\d+ \S", row["name"]):
        yield "a wrong result begins with the number of its report"
    if row["group"] == "speed" and row["found"] == "measured":
        figures = row.get("figures", {})
        values = [figures.get(key) for key in ("gflop", *RATES)]
        numbers = [value for value in values if is_number(value) and value > 0]
        if len(numbers) < 4 or numbers[1:] != sorted(numbers[1:]):
            yield "its figures need gflop, and lowest, median and highest in this order"


def counts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return how many checks found what, as verify_mac.py counts them."""
    verdicts = [row["agrees"] for row in rows]
    keys = {"as said": True, "differ": False, "nothing said": None}
    numbers = {key: verdicts.count(value) for key, value in keys.items()}
    return {"tried": len(rows), **numbers, "found": dict(Counter(row["found"] for row in rows))}


def faults(report: Any, simulated: bool) -> Iterator[str]:
    """Yield what is wrong with a report; only the first is certain."""
    if not isinstance(report, dict) or report.get("program") != "verify_mac":
        yield "no report of examples/verify_mac.py"
    if report.get("schema") != SCHEMA:
        yield f"schema {short(report.get('schema'))}: only {SCHEMA} is known"
    yield from misshapen(report, REPORT, "the report")
    about, rows = report["machine"], report["checks"]
    if report["device"] != "mps":
        yield f"it is of the device {short(report['device'])}, which verifies nothing about MPS"
    if about["gpu"] == SIMULATED and not simulated:
        yield "it is of the simulated device, not of a Mac"
    if not report["complete"]:
        yield "it is not complete: run verify_mac.py to its end"
    yield from wrong_machine(about)
    own = number(about["torch"])[1] if about["torch"].startswith("2.") else 0
    compared = f"2.{min(own, LATEST)}" if own >= FIRST else ""
    if report["compared_with"] != compared:
        yield f"compared_with is {short(report['compared_with'])}, and PyTorch is {about['torch']}"
    try:
        date.fromisoformat(report["date"])
    except ValueError:
        yield f"there is no day {short(report['date'])}"
    for row in rows:
        yield from (f"{short(row['name'])}: {fault}" for fault in wrong_check(row))
    if twice := [name for name, times in Counter(row["name"] for row in rows).items() if times > 1]:
        yield f"{short(twice[0])} is there twice"
    groups = {group: [row for row in rows if row["group"] == group] for group in GROUPS}
    if lacking := [group for group, own_rows in groups.items() if not own_rows]:
        yield f"it is not complete: there is no check of {lacking[0]}"
    if report["counts"] != {group: counts(own_rows) for group, own_rows in groups.items()}:
        yield "its counts are not those of its checks"
    if "handbook" in report:
        yield from wrong_steps(report["handbook"])


def wrong_report(report: Any, simulated: bool = False) -> str:
    """Return what is wrong with a report first, or nothing; tests may let the simulated device pass."""
    return next(faults(report, simulated), "")


def look(folder: Path, simulated: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the reports of a folder, and a line for each file that is none."""
    found: dict[tuple[Any, ...], tuple[str, dict[str, Any]]] = {}
    wrong = []
    for path in sorted(one for one in folder.glob("*") if not one.name.startswith(".")):
        report: Any = None
        size = path.stat().st_size
        fault = f"it has {size:,} bytes: at most {MOST_BYTES:,}" if size > MOST_BYTES else ""
        if not fault:
            try:
                report = json.loads(path.read_text(encoding="utf-8"), parse_constant=int)  # not of NaN
            except (OSError, ValueError, RecursionError):
                fault = "it is not JSON"
        if fault := fault or wrong_report(report, simulated):
            wrong.append(f"{NAME}{short(path.name)[1:-1]}: {fault}")
            continue
        about = report["machine"]
        place = number(about["macos"]), number(about["torch"])
        key = about["chip"], *place, about["gpu_cores"], about["memory_gb"], about["virtual"]
        if key in found:
            wrong.append(f"{NAME}{path.name}: the same machine, macOS and PyTorch as {found[key][0]}")
        found.setdefault(key, (path.name, report))
    return [report for _, (_, report) in sorted(found.items(), key=lambda item: item[0])], wrong


def wrong_macs(folder: Path = MACS) -> list[str]:
    """Return a line for each file that is not taken in."""
    return look(folder, simulated=False)[1]


def read_macs(folder: Path = MACS, simulated: bool = False) -> list[dict[str, Any]]:
    """Return the reports. Raises ValueError with a line for each file that is none."""
    found, wrong = look(folder, simulated)
    if wrong:
        raise ValueError("\n".join(wrong))
    return found
