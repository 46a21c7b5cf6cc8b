"""The benchmarks of the indicator transformer that differ in its size and batch size alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmark_files import Benchmark, file_name, stored
from origins import COMPUTED, load


def measured_sizes() -> list[dict[tuple[str, int], Benchmark]]:
    """Return for each machine its benchmarks by size and batch size, the smallest network first.

    Raises ValueError when a machine has measured one twice.
    """
    places: dict[str, dict[tuple[str, int], Benchmark]] = {}
    for benchmark in stored():
        system, given = benchmark.training
        if system != "indicator_transformer" or given.keys() - {"--size", "--batch-size"}:
            continue
        (size,), (batch_size,) = given.get("--size", ["small"]), given.get("--batch-size", [64])
        found, key = places.setdefault(benchmark.place, {}), (size, int(batch_size))
        if key in found:
            raise ValueError(f"{found[key].path} and {benchmark.path}: the same machine and training")
        found[key] = benchmark
    order = list(load("indicators", COMPUTED)["parameters"])
    return [
        dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))
        for found in places.values()
    ]


def indicator_sizes() -> list[dict[str, Any]]:
    """Return what each machine measured, as its table needs it."""
    return [of_machine(found) for found in measured_sizes()]


def of_machine(found: dict[tuple[str, int], Benchmark]) -> dict[str, Any]:
    """Return rows with the median of each level in s, and what the benchmarks of one machine share."""
    rows: list[dict[str, Any]] = []
    for (size, batch_size), benchmark in found.items():
        measured = {row["level"]: row for row in benchmark.rows if row["status"] == "measured"}
        times = {level: row["median_s"] for level, row in measured.items()}
        # Without the CPU, the speed-ups of the file compare with something else.
        best = max(row["speed_up"] for row in measured.values()) if "cpu" in measured else None
        rows.append({"size": size, "batch_size": batch_size, "times": times, "best": best})
    benchmarks = list(found.values())
    obstacles = [obstacle for benchmark in benchmarks for obstacle in benchmark.obstacles]
    return {
        "rows": rows,
        "levels": levels(row["level"] for benchmark in benchmarks for row in benchmark.rows),
        "origin": benchmarks[0].origin,
        "dates": sorted({benchmark.origin["date"] for benchmark in benchmarks}),
        "obstacles": list({tuple(obstacle.items()): obstacle for obstacle in obstacles}.values()),
        "folders": sorted({file_name(benchmark.path.parent) for benchmark in benchmarks}),
    }


def levels(names: Iterable[str]) -> list[dict[str, str | None]]:
    """Return each level with its usual name, which says "gpu" where all levels speak of the same one."""
    names = list(dict.fromkeys(names))
    several = len({name.split("+")[0] for name in names} - {"cpu"}) > 1
    found: list[dict[str, str | None]] = []
    for name in names:
        device, plus, rest = name.partition("+")
        usual = name if device == "cpu" else None if several else f"gpu{plus}{rest}"
        found.append({"name": name, "usual": usual})
    return found
