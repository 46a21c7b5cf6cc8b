"""Tables of the indicator transformer's speed, by size and by batch size, from docs/data/results/."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmark_files import Benchmark, file_name, stored
from benchmark_table import obstacles
from markdown_tables import Column, figures, milliseconds, written
from origins import COMPUTED, explained, load, origin, sentences

SIZES = load("indicators", COMPUTED)["parameters"]
SIZE = (
    Column("Size", "大小", "size", form="`{}`"),
    Column("Parameters", "参数量", "parameters", written(",")),
    Column("Batch size", "批大小", "batch_size"),
)
BEST = Column("Best speed-up", "最大加速比", "best", lambda ratio: figures(ratio, 2))
LEVELS = {"cpu": ("CPU, ms", "CPU，ms"), "gpu": ("GPU, ms", "GPU，ms"), "gpu+bf16": ("bf16, ms", "bf16，ms")}
LEVELS["gpu+bf16+compile"] = ("Compiled too, ms", "再加编译，ms")

BATCH_SIZE = Column("Batch size", "批大小", "batch_size")
WAYS = (
    Column("fp32, ms", "fp32，ms", "fp32", figures),
    Column("bf16, ms", "bf16，ms", "bf16", figures),
    Column("bf16, compiled, ms", "bf16 加编译，ms", "bf16+compile", figures),
    Column("With CUDA graphs, ms", "再加 CUDA graphs，ms", "bf16+compile+graphs", figures),
)
SPEEDS = (
    Column("Samples per s, fp32", "每秒样本数，fp32", "speed", figures),
    Column("Samples per s, fastest", "每秒样本数，最快", "fastest", figures),
)
TEXT = {
    "en": {
        "batches": "`{training}`, milliseconds per step (medians).",
        "rest": "Quantiles, memory and first steps are in `docs/data/results/indicator_batches.yaml`.",
        "failed": "A dash: this way failed; the reason is in the same file.",
        "medians": "Milliseconds per step (medians).",
        "files": "Commands and every reading are in {files}.",
        "comma": ", ",
    },
    "zh": {
        "batches": "`{training}`，每步毫秒数（中位数）。",
        "rest": "分位数、内存、第一步的用时见 `docs/data/results/indicator_batches.yaml`。",
        "failed": "横线表示这种方式运行失败，原因记录在同一个文件里。",
        "medians": "每步毫秒数（中位数）。",
        "files": "命令和每次读数都在 {files} 里。",
        "comma": "、",
    },
}


def batches(language: str) -> str:
    """Return a table for each device, a row for each batch size, with its origin below it."""
    return "\n".join(batches_on(entry, language) for entry in load("indicator_batches"))


def batches_on(entry: dict[str, Any], language: str) -> str:
    """Return the table of one device. A way that was not tried gets no column, where it failed a dash."""
    text, rows = TEXT[language], {}
    tried = {row["way"] for row in entry["rows"]}
    ways = [column for column in WAYS if column.key in tried]
    for found in entry["rows"]:
        row = rows.setdefault(found["batch_size"], {"batch_size": found["batch_size"]})
        if "step_ms" in found:
            row[found["way"]] = found["step_ms"]
            row["fastest"] = max(found["samples_per_s"], row.get("fastest", 0))
            if found["way"] == "fp32":
                row["speed"] = found["samples_per_s"]
    failed = any(column.key not in row for row in rows.values() for column in ways)
    return explained(
        [BATCH_SIZE, *ways, *SPEEDS],
        rows.values(),
        language,
        text["batches"].format(training=entry["training"]),
        origin(entry, language),
        text["rest"],
        text["failed"] if failed else "",
    )


def sizes(language: str) -> str:
    """Return what each level of the benchmark makes of each size of the network, a table for each machine."""
    return "\n".join(sizes_on(found, language) for found in measured_sizes())


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
    order = list(SIZES)
    return [
        dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))
        for found in places.values()
    ]


def sizes_on(found: dict[tuple[str, int], Benchmark], language: str) -> str:
    """Return the table of the sizes that one machine measured."""
    rows = []
    for (size, batch_size), benchmark in found.items():
        measured = {row["level"]: row for row in benchmark.rows if row["status"] == "measured"}
        row = {"size": size, "parameters": SIZES[size], "batch_size": batch_size}
        row |= {level: value["median_s"] for level, value in measured.items()}
        if "cpu" in measured:  # without, the speed-ups of the file compare with something else
            row["best"] = max(value["speed_up"] for value in measured.values())
        rows.append(row)
    levels = dict.fromkeys(row["level"] for benchmark in found.values() for row in benchmark.rows)
    columns = [*SIZE, *level_columns(levels), BEST]
    return explained(columns, rows, language, sizes_from(found.values(), language))


def sizes_from(benchmarks: Iterable[Benchmark], language: str) -> str:
    """Return where the sizes of one machine come from, and what did not run."""
    text, benchmarks = TEXT[language], list(benchmarks)
    origins = [benchmark.origin for benchmark in benchmarks]
    dates = text["comma"].join(sorted({known["date"] for known in origins}))
    folders = sorted({benchmark.path.parent for benchmark in benchmarks})
    return sentences(
        language,
        text["medians"],
        origin(origins[0] | {"date": dates, "command": None}, language),
        *dict.fromkeys(part for benchmark in benchmarks for part in obstacles(benchmark, language)),
        text["files"].format(files=text["comma"].join(f"`{file_name(folder)}/`" for folder in folders)),
    )


def level_columns(levels: Iterable[str]) -> list[Column]:
    """Return a column for each level: with its usual name, or as it is written where that fits several."""
    gpus = {level.split("+")[0] for level in levels} - {"cpu"}
    columns = []
    for level in levels:
        device, plus, rest = level.partition("+")
        usual = level if device == "cpu" else f"gpu{plus}{rest}"
        heads = LEVELS.get(usual) if len(gpus) == 1 or device == "cpu" else None
        columns.append(Column(*(heads or (f"`{level}`, ms", f"`{level}`，ms")), level, milliseconds))
    return columns


TABLES: dict[str, Callable[[str], str]] = {"indicator-batches": batches, "indicator-sizes": sizes}
