"""Tables of what loading and augmenting data, computing indicators and saving checkpoints cost."""

from collections.abc import Callable

from markdown_tables import RANGE, SPREAD, Column, written
from origins import explained, load, named, origin

AUGMENTATION = (
    Column("Device of the batch", "这一批所在的设备", "device", form="`{}`"),
    Column("Whole batch, ms", "整批，ms", "whole_batch", written(".2f", 1e3), SPREAD),
    Column("Image by image, ms", "逐张，ms", "image_by_image", written(".1f", 1e3), SPREAD),
    Column("Ratio", "倍数", "ratio", written(".0f"), SPREAD),
)
WORKERS = (
    Column("Workers", "工作进程数", "workers"),
    Column("First batch", "第一批", "first_batch", written(".2f"), "{} s"),
    Column("After that, samples/s", "此后，样本/s", "samples_per_s"),
)
YEAR = 525_600  # minute bars
INDICATORS = (
    Column("Minute bars", "分钟 K 线数", "bars", written(",")),
    Column("Of a year", "占一年", "bars", written(".1%", 1 / YEAR)),
    Column("On the clock, s", "实际耗时，s", "clock", written(".3g"), SPREAD),
    Column("CPU in the program, s", "程序自身的 CPU 时间，s", "cpu", written(".3g"), SPREAD),
)
STEPS = {
    "save": {"en": "Save, with the check of the file before it", "zh": "保存，包括检查前一个文件"},
    "check": {"en": "Check every CRC-32", "zh": "核对全部 CRC-32"},
    "load": {"en": "Load, with the check", "zh": "加载，包括检查"},
}
MS = written(".3g", 1e3)
RANGE_MS = {language: f"{form} ms" for language, form in RANGE.items()}
CHECKPOINTS = (
    Column("Step", "步骤", "step", STEPS.__getitem__),
    Column("Median", "中位数", "median", MS, "{} ms"),
    Column(
        "10% to 90% of the readings",
        "10% 到 90% 的读数",
        ("low", "high"),
        MS,
        RANGE_MS,
    ),
)
TEXT = {
    "en": {
        "workers": "Each process computes in one thread.",
        "indicators": (
            "{indicators} indicators and the context of one symbol; median of {rounds} rounds (10% to 90%). "
            "The CPU time, without what the system needs for memory, grows like the number of bars to the "
            "power of {exponent:.2f}."
        ),
        "checkpoint": "Full-size ResNet-18 with SGD, {size:.1f} MB.",
    },
    "zh": {
        "workers": "每个进程单线程。",
        "indicators": (
            "单个代码的 {indicators} 个指标和上下文特征；{rounds} 轮的中位数（10% 到 90%）。"
            "CPU 时间（不含系统分配内存的部分）随 K 线数的 {exponent:.2f} 次方增长。"
        ),
        "checkpoint": "完整大小的 ResNet-18 加 SGD，{size:.1f} MB。",
    },
}


def augmentation(language: str) -> str:
    """Return how long one batch takes, augmented at once and image by image, on each measured machine."""
    entries = load("augmentation")
    where = [named(f"`{entry['device']}`", origin(entry, language), language) for entry in entries]
    return explained(AUGMENTATION, entries, language, "\n\n".join(where))


def loader_workers(language: str) -> str:
    """Return what numbers of workers bring, and what their start costs."""
    data = load("data_loading")["loader_workers"]
    return explained(WORKERS, data["rows"], language, origin(data, language), TEXT[language]["workers"])


def indicators(language: str) -> str:
    """Return how long the indicators and context features take."""
    data = load("indicator_features")
    what = TEXT[language]["indicators"].format(**data)
    return explained(INDICATORS, data["rows"], language, what, origin(data, language))


def checkpoints(language: str) -> str:
    """Return how long saving, checking and loading a checkpoint takes, a table for each machine."""
    parts = []
    for entry in load("checkpoint_cost"):
        rows = [{"step": step} | entry[step] for step in STEPS]
        what = TEXT[language]["checkpoint"].format(size=entry["bytes"] / 1e6)
        parts.append(explained(CHECKPOINTS, rows, language, what, origin(entry, language)))
    return "\n".join(parts)


TABLES: dict[str, Callable[[str], str]] = {
    "results-augmentation": augmentation,
    "results-loader-workers": loader_workers,
    "indicator-features": indicators,
    "checkpoint-cost": checkpoints,
}
