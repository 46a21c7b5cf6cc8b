"""Tables of what the training loop costs, and of what a clock shows that does not wait."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from markdown_tables import RANGE, Column, figures, written
from origins import explained, load, named, origin, processor

from examples.systems import cases

COMPARED = {
    "bare": {"en": "bare loop, counts no accuracy", "zh": "裸循环，不统计准确率"},
    "steps": {"en": "the same steps", "zh": "同样的训练步"},
}
WAITS = {
    True: {"en": "waits for the GPU", "zh": "等 GPU 算完"},
    False: {"en": "does not wait", "zh": "不等"},
}
SHARED = (Column("Device", "设备", "device"), Column("Training", "训练任务", "training"))
OVERHEAD = (
    *SHARED,
    Column("Compared with", "对照", "against", COMPARED.__getitem__),
    Column("Simple loop, s per epoch", "简单循环，每轮 s", "simple", figures, "{median}"),
    Column("The handbook's loop, s", "本手册的循环，s", "real", figures, "{median}"),
    Column("Ratio", "比值", "ratio", written(".3f"), "{median}"),
    Column(
        "10% to 90%",
        "10% 到 90%",
        "ratio",
        written(".3f"),
        {"en": "{low} to {high}", "zh": "{low} 到 {high}"},
    ),
)
SAVING = (
    *SHARED,
    Column("Steps", "步数", "steps", written(",")),
    Column("Checkpoints", "检查点个数", "saves"),
    Column("Size, MB", "大小，MB", "file_mb", written("g")),
    Column("Whole run, s", "整个训练，s", "seconds", written(".1f")),
    Column("Share spent saving", "保存所占比例", "share", written(".2%")),
    Column("Without the last one", "不算最后一次", "share_before_the_last", written(".2%")),
)
WAITING = (
    Column("Before the clock is read", "读时钟之前", "waits", WAITS.__getitem__),
    Column("ms", "毫秒", "median", written(".3f", 1e3)),
    Column("10% to 90%", "10% 到 90%", ("low", "high"), written(".3f", 1e3), RANGE),
    Column("TFLOPS that would follow", "由此算出的 TFLOPS", "tflops", figures),
)
PRODUCT = {
    "en": "Product of two {size} × {size} matrices in float32.",
    "zh": "{size} × {size} 的 float32 矩阵乘法。",
}


def loop_table(columns: Iterable[Column], part: str, language: str) -> str:
    """Return a table about the training loop, a row for each device and training, and their origins."""
    rows, where = [], []
    for entry in load("training_loop"):
        name = processor(entry["machine"], entry["device"], language)
        for found in entry[part]:
            rows.append(found | {"device": name, "training": training_name(entry["system"], found)})
        where.append(named(f"`{entry['system']}`", origin(entry, language), language))
    return explained(columns, rows, language, *where)


def training_name(system: str, part: Mapping[str, Any]) -> dict[str, str]:
    """Return what was trained, in words of both languages."""
    words = part["words"]
    given = dict(zip(words[::2], words[1::2], strict=True))
    width, batch = given.get("--width", 8), given.get("--batch-size", 64)
    texts = {case.name: case.title for case in cases(system)}[part["data"]]
    return {code: text.format(width=width, batch=batch) for code, text in texts.items()}


def waiting(language: str) -> str:
    """Return what a clock shows that waits for the GPU, and one that does not."""
    content = load("waiting")
    work = 2 * content["size"] ** 3 / 1e12
    rows = [reading | {"tflops": work / reading["median"]} for reading in content["readings"]]
    product = PRODUCT[language].format(size=content["size"])
    return explained(WAITING, rows, language, product, origin(content, language))


TABLES: dict[str, Callable[[str], str]] = {
    "benchmark-loop-overhead": partial(loop_table, OVERHEAD, "overhead"),
    "benchmark-loop-saving": partial(loop_table, SAVING, "saving"),
    "benchmark-waiting": waiting,
}
