"""Measure what pages show of the training systems: runs over seeds, the loop's cost, commands in turns.

    python -m tools.measuring.measure runs two_tower_pages          again the runs of a result file
    python -m tools.measuring.measure loop two_tower --device cuda  what the training loop costs
    python -m tools.measuring.measure turns "COMMAND" "COMMAND"     how long each command takes

A result file of runs is its own table of cases. By hand it has `seeds`; `commands`, that make one run, with
{options}, {seed}, {device}, {out} for the folder of this run, {runs} for that of all, and what else a run
names; `keep`, which value of which JSON file becomes a list over the seeds; `once`, the same of the first
seed alone, where `metrics.jsonl NAME …` keeps these values of each line; `packages` whose versions count; and
`runs`: their names and options, and `commands`, `keep` and `once` of a run in place of those of all. A run
with `program`, which says where the program stands that made it, is left as it is.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch
import yaml

from examples.systems import measured_trainings, modules
from snippets.device import pick_device
from snippets.errors import exit_with_one_line
from snippets.timing import spread
from tools.measuring import training_loop
from tools.measuring.result_entries import RESULTS, origin, rounded, store, write
from tools.read_yaml import read_yaml
from tools.working_copy import environment, working_copy

ROOT = Path(__file__).resolve().parents[2]
MODULE = "tools.measuring.measure"
TIMEOUT = 1800  # seconds for one command
HEADER = "# Measured by tools/measuring/measure.py. By hand: shared and busy.\n"


def start(words: Sequence[str], device: str, folder: Path = ROOT) -> float:
    """Run a command in `folder`; return its seconds. Raises CalledProcessError when it fails.

    On a CPU it has one thread: more of them add up in another order.
    """
    settings = environment() | ({"OMP_NUM_THREADS": "1"} if device == "cpu" else {})
    began = time.perf_counter()
    subprocess.run(words, cwd=folder, env=settings, stdout=subprocess.DEVNULL, check=True, timeout=TIMEOUT)
    return time.perf_counter() - began


def filled(command: str, options: Sequence[str], places: Mapping[str, Any]) -> list[str]:
    """Return the words of a command with `options` and `places` in their places."""
    words = shlex.split(command)
    all_words = [part for word in words for part in (options if word == "{options}" else [word])]
    return [word.format_map(places) for word in all_words]


def read(folder: Path, place: str) -> Any:
    """Return the value at `place`, "FILE NAME" or "FILE.jsonl NAME …", of the files of a run."""
    file, *names = place.split()
    text = (folder / file).read_text(encoding="utf-8")
    if file.endswith(".jsonl"):
        lines = map(json.loads, text.splitlines())
        return [{name: line[name] for name in names if line.get(name) is not None} for line in lines]
    return json.loads(text)[names[0]]


def short(value: Any) -> Any:
    """Return nested data with five decimals at most."""
    if isinstance(value, dict):
        return {name: short(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [short(entry) for entry in value]
    return round(value, 5) if isinstance(value, float) else value


def over_seeds(values: list[Any]) -> Any:
    """Return the values of all seeds as a list; of dictionaries, a list for each name."""
    if isinstance(values[0], dict):
        return {name: over_seeds([value[name] for value in values]) for name in values[0]}
    return values


def measure_run(run: dict[str, Any], content: Mapping[str, Any], runs: Path, device: str) -> None:
    """Start the commands of a run with each seed and fill in what it keeps of their files."""
    folders = []
    for seed in content["seeds"]:
        out = runs / str(run.get("id", content["runs"].index(run))) / str(seed)
        places = run | {"seed": seed, "device": device, "out": out, "runs": runs}
        for command in run.get("commands", content["commands"]):
            start(filled(command, run["options"], places), device)
        folders.append(out)
    for name, place in run.get("keep", content.get("keep", {})).items():
        run[name] = short(over_seeds([read(folder, place) for folder in folders]))
    for name, place in run.get("once", content.get("once", {})).items():
        run[name] = short(read(folders[0], place))


def measure_runs(path: Path, device: str, command: str) -> None:
    """Measure what a result file says, and store each run as it comes."""
    content, lines = read_yaml(path), path.read_text(encoding="utf-8").splitlines(keepends=True)
    header = "".join(takewhile(lambda line: line.startswith("#"), lines))
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        for run in content["runs"]:
            if "program" in run:
                continue
            measure_run(run, content, Path(folder), device)
            packages = content.get("packages", ["torch"])
            content.pop("program", None)
            content |= {"device": device} | origin(command, packages, before=content)
            write(content, path, header)
            print(yaml.safe_dump(run, sort_keys=False, allow_unicode=True), flush=True)


def measure_turns(commands: Sequence[str], rounds: int, device: torch.device) -> dict[str, Any]:
    """Return the seconds of commands that take turns, and ratios to the first one of the same round."""
    seconds: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, found in zip(commands, seconds, strict=True):
            with working_copy(ROOT) as folder:
                found.append(start(shlex.split(command), device.type, folder))
    rows = [
        {
            "command": command,
            "seconds": rounded(spread(found)),
            "ratio": rounded(spread([own / first for own, first in zip(found, seconds[0], strict=True)])),
        }
        for command, found in zip(commands, seconds, strict=True)
    ]
    return {"rounds": rounds, "rows": rows}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and store; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    kinds = parser.add_subparsers(dest="kind", required=True)
    runs, loop, turns = (kinds.add_parser(name, allow_abbrev=False) for name in ("runs", "loop", "turns"))
    runs.add_argument("name", choices=sorted(path.stem for path in RESULTS.glob("*.yaml")))
    loop.add_argument("system", choices=[name for name in modules() if measured_trainings(name)])
    loop.add_argument("--pairs", type=int, default=60)
    turns.add_argument("commands", nargs="+", metavar="COMMAND")
    turns.add_argument("--rounds", type=int, default=5)
    for part in (runs, loop, turns):
        part.add_argument("--device", default="cpu", choices=("cpu", "cuda", "mps"))
    for part in (loop, turns):
        part.add_argument("--file", type=Path, help="where the result is stored beside others")
    words = sys.argv[1:] if argv is None else list(argv)
    options = parser.parse_args(words)
    command = shlex.join(["python", "-m", MODULE, *words])
    if options.kind == "runs":
        measure_runs(RESULTS / f"{options.name}.yaml", options.device, command)
        return 0
    device, _ = pick_device(options.device)
    entry = {"device": device.type} | origin(command)
    if options.kind == "loop":
        found = training_loop.measure(options.system, device, options.pairs)
        entry = {"system": options.system} | entry | found
        same, path = ("system", "device", "machine"), options.file or training_loop.DATA
    else:
        entry |= measure_turns(options.commands, options.rounds, device)
        same, path = ("command", "device", "machine"), options.file
    print(yaml.safe_dump(entry, sort_keys=False, allow_unicode=True))
    if path:
        store(entry, path, HEADER, same=same)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
