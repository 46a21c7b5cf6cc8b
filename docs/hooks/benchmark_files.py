"""The results of examples/benchmark.py in docs/data/results/benchmarks/, found by what they hold.

A file is `<machine>/<training>.json`, as the program wrote it. Its names are for people alone.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from origins import RESULTS

from examples.systems import SYSTEMS

FOLDER = RESULTS / "benchmarks"


@dataclass(frozen=True)
class Benchmark:
    """One training, measured on one machine."""

    path: Path
    content: dict[str, Any]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The levels in order. Raises ValueError for a sweep: its rows are not one training."""
        rows = self.content["rows"]
        if len({row["level"] for row in rows}) < len(rows):
            raise ValueError(f"{self.path} has a level twice; a sweep needs a table of its own")
        return rows

    @property
    def origin(self) -> dict[str, Any]:
        """Where it comes from, as every result says it."""
        source = self.content["provenance"]
        return {
            "machine": self.content["machine"] | {name: source[name] for name in ("system", "cpu_threads")},
            "versions": {name: source[name] for name in ("torch", "python")},
            "date": source["started_at"][:10],
            "command": source["command"],
        }

    @property
    def training(self) -> tuple[str, dict[str, list[str]]]:
        """The system and its options; equal in whatever order they were typed."""
        return self.content["system"], options(self.content["words"])

    @property
    def file(self) -> str:
        """The file as pages name it."""
        return file_name(self.path)

    @property
    def convolutions(self) -> bool:
        """Whether the network has convolutions, which GPUs may compute in TF32."""
        return any(system.convolutions for system in SYSTEMS if system.name == self.content["system"])

    @property
    def obstacles(self) -> list[dict[str, str]]:
        """Why a level has no times, and which level learned something else."""
        found = []
        for row in self.rows:
            if row["status"] != "measured" or row["loss_differs"]:
                kind = "differs" if row["status"] == "measured" else row["status"]
                reason = row.get("reason", "").replace("`", "'")
                found.append({"kind": kind, "level": row["level"], "reason": reason})
        return found

    @property
    def place(self) -> str:
        """The machine with its versions: what files must share to stand in one table."""
        machine = {name: value for name, value in self.origin["machine"].items() if name != "variables"}
        return json.dumps([machine, self.origin["versions"]])


def options(words: Iterable[str]) -> dict[str, list[str]]:
    """Return the options on a command line, each with its values."""
    found: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("--"):
            name, *values = word.split("=", 1)
            found[name] = values
        else:
            found[name].append(word)
    return found


def stored() -> list[Benchmark]:
    """Return all results, in the order of their names."""
    paths = sorted(FOLDER.rglob("*.json"))
    return [Benchmark(path, json.loads(path.read_text(encoding="utf-8"))) for path in paths]


def of_training(system: str, words: str = "") -> list[Benchmark]:
    """Return the results of one training, from every machine that measured it."""
    wanted = system, options(shlex.split(words))
    return [benchmark for benchmark in stored() if benchmark.training == wanted]


def file_name(path: Path) -> str:
    """Return a path as pages name it."""
    return f"docs/data/results/benchmarks/{path.relative_to(FOLDER).as_posix()}"
