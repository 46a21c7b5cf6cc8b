"""Tables of what examples/benchmark.py measured: a training at every level, on each machine that did it."""

from collections.abc import Callable
from functools import partial

from benchmark_files import Benchmark, file_name, of_training
from markdown_tables import RANGE, Column, figures, milliseconds, written
from origins import explained, origin, tf32

from examples.systems import SYSTEMS

TRAININGS = {  # table: system, its options
    "benchmark-cifar-digits": ("cifar_optimizers", ""),
    "benchmark-cifar-large": (
        "cifar_optimizers",
        "--data synthetic --image-size 32 --width 64 --batch-size 128",
    ),
    "benchmark-indicator-origin": ("indicator_transformer", "--size origin --batch-size 16"),
}
WITH_CONVOLUTIONS = {system.name for system in SYSTEMS if system.convolutions}

COLUMNS = (
    Column("Level", "配置", "level", form="`{}`"),
    Column("ms per step", "每步毫秒数", "median_s", milliseconds),
    Column("10% to 90%", "10% 到 90%", ("low_s", "high_s"), milliseconds, RANGE),
    Column("Samples per s", "每秒样本数", "samples_per_s", written(",.0f")),
    Column("Speed-up", "加速比", "speed_up", written(".2f")),
    Column("Start, s", "启动，s", "start_s", figures),
    Column("Memory, MB", "内存，MB", "memory_mb", written(",.0f")),
    Column("Loss", "损失", "last_loss", written(".3f")),  # None: it was not a number
)
TEXT = {
    "en": {
        "unavailable": "`{level}` is not available here: `{reason}`.",
        "failed": "`{level}` failed: `{reason}`.",
        "differs": "`{level}`: the loss differs from that of the first level.",
        "readings": "Medians of {readings} readings after {warm_up} steps that do not count.",
        "file": "Every reading is in `{file}`.",
    },
    "zh": {
        "unavailable": "`{level}` 在这里不可用：`{reason}`。",
        "failed": "`{level}` 运行失败：`{reason}`。",
        "differs": "`{level}` 的损失与第一种配置不一致。",
        "readings": "先跑 {warm_up} 步不计时，再读 {readings} 次时钟，取中位数。",
        "file": "每次读数都在 `{file}` 里。",
    },
}


def levels(language: str, system: str, words: str) -> str:
    """Return a table for each machine that measured this training, with its origin below."""
    found = of_training(system, words)
    if not found:
        raise ValueError(f"no result of {system} {words}")
    return "\n".join(levels_of(benchmark, language) for benchmark in found)


def levels_of(benchmark: Benchmark, language: str) -> str:
    """Return the levels of one benchmark, and below them where it comes from and what did not run."""
    text, content = TEXT[language], benchmark.content
    rounded = content["system"] in WITH_CONVOLUTIONS
    return explained(
        COLUMNS,
        benchmark.rows,
        language,
        origin(benchmark.origin, language),
        text["readings"].format(**content["plan"]),
        tf32(content["machine"], language) if rounded else "",
        *obstacles(benchmark, language),
        text["file"].format(file=file_name(benchmark.path)),
    )


def obstacles(benchmark: Benchmark, language: str) -> list[str]:
    """Return why a level has no times, and which level learned something else."""
    text, found = TEXT[language], []
    for row in benchmark.rows:
        if row["status"] != "measured":
            reason = row["reason"].replace("`", "'")
            found.append(text[row["status"]].format(level=row["level"], reason=reason))
        elif row["loss_differs"]:
            found.append(text["differs"].format(level=row["level"]))
    return found


TABLES: dict[str, Callable[[str], str]] = {
    name: partial(levels, system=system, words=words) for name, (system, words) in TRAININGS.items()
}
