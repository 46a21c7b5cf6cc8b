"""Recorded output: what the pages show of commands, and how each was recorded.

docs/data/recorded/ has two files of each recording: NAME.txt, the output, and NAME.yaml. Written by hand in
the second: `command`, run by bash from the repository's root; `before`, commands that run first and whose
output is not kept; `exit_code`, where it is not 0; `compare`, which is `exact`, or `masked` where the output
holds measurements (tools/checks/compare_output.py); `needs`, what a machine must be for the output to be
comparable; `until`, words of the line up to which output is compared, where below it even the order of the
lines is a measurement; `long: true`, where the long tests alone run the command; `repeat`, a shorter command
that the tests run in place of one that takes minutes: of rows that differ in numbers only, one is compared;
`keep`, files of the run folder that are stored too, and drawn where a picture shows them. `make record`
writes the rest: `date`, and `machine`, a name in docs/data/recording_machines.yaml.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from tools.read_yaml import read_yaml

FOLDER = Path("docs/data/recorded")
MACHINES = Path("docs/data/recording_machines.yaml")
TRAITS = {"linux", "macos", "x86-64", "arm64", "cpu", "mps", "cuda", "simulated-mps"}


def read_recordings(root: Path) -> dict[str, dict]:
    """Return the recordings by name, each with its `name`. Raises ValueError for one that is not as above."""
    found = {}
    for path in sorted((root / FOLDER).glob("*.yaml")):
        entry = read_yaml(path)
        if not {"command", "compare"} <= entry.keys() or entry["compare"] not in ("exact", "masked"):
            raise ValueError(f"{path}: give it `command:` and `compare: exact` or `compare: masked`")
        if unknown := sorted(set(entry.get("needs", [])) - TRAITS):
            raise ValueError(f"{path}: needs: {', '.join(unknown)}: choose from {', '.join(sorted(TRAITS))}")
        found[path.stem] = {"name": path.stem} | entry
    return found


def read_machines(root: Path) -> dict[str, dict]:
    """Return `system`, `cpu_cores`, `gpu` (if used) and `versions` of the machines that recorded, by name."""
    path = root / MACHINES
    return read_yaml(path) if path.is_file() else {}


def note(root: Path, name: str, date: str, machine: dict) -> None:
    """Write when and on which machine a recording was made; the lines written by hand stay as they are."""
    machines = read_machines(root)
    called = f"torch-{machine['versions']['torch']}"
    while machines.setdefault(called, machine) != machine:
        called += "-other"
    path = root / FOLDER / f"{name}.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    by_hand = [line for line in lines if not line.startswith(("date:", "machine:"))]
    path.write_text("\n".join([*by_hand, f"date: {date}", f"machine: {called}", ""]), encoding="utf-8")
    used = {entry.get("machine") for entry in read_recordings(root).values()}
    rows = [f"{name}: {_one_line(machines[name])}\n" for name in sorted(machines) if name in used]
    head = "# The machines of docs/data/recorded/*.yaml; `make record` writes this file.\n"
    (root / MACHINES).write_text(head + "".join(rows), encoding="utf-8")


def _one_line(machine: dict) -> str:
    return yaml.safe_dump(machine, default_flow_style=True, sort_keys=False, width=1000).strip()
