"""Tables of what the training loop costs, and of what a clock shows that does not wait."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from markdown_tables import RANGE, Column, figures, written
from origins import explained, load, named, origin, processor

COMPARED = {
    "bare": {"en": "bare loop, counts no accuracy", "zh": "裸循环，不统计准确率"},
    "steps": {"en": "the same steps", "zh": "同样的训练步"},
}
TRAININGS = {  # by system, or by system/program where there are several, and case
    ("cifar_optimizers", "digits"): {
        "en": "16×16 digits, width 8, batch size 64",
        "zh": "16×16 数字图片，宽度 8，批大小 64",
    },
    ("cifar_optimizers", "synthetic"): {
        "en": "generated 32×32 images, width {width}, batch size {batch}",
        "zh": "生成的 32×32 图片，宽度 {width}，批大小 {batch}",
    },
    ("indicator_transformer", "small"): {
        "en": "indicators, 36,130 parameters, batch size 64",
        "zh": "技术指标，36,130 个参数，批大小 64",
    },
    ("indicator_transformer", "origin"): {
        "en": "indicators, 4,894,082 parameters, batch size 16",
        "zh": "技术指标，4,894,082 个参数，批大小 16",
    },
    ("two_tower", "pages"): {
        "en": "two towers, 759,168 parameters, batch size 64",
        "zh": "双塔，759,168 个参数，批大小 64",
    },
    ("two_tower", "origin"): {
        "en": "two towers, 37,452,544 parameters, batch size 256",
        "zh": "双塔，37,452,544 个参数，批大小 256",
    },
    ("genomic_caduceus/pretrain", "small"): {
        "en": "masked bases, 9,664 parameters, batch size 64, Lightning's loop",
        "zh": "掩码碱基，9,664 个参数，批大小 64，Lightning 的循环",
    },
    ("genomic_caduceus/train", "small"): {
        "en": "DNA classes, 9,728 parameters, batch size 64, Lightning's loop",
        "zh": "DNA 分类，9,728 个参数，批大小 64，Lightning 的循环",
    },
    ("genomic_caduceus/train", "origin"): {
        "en": "DNA classes, 470,938 parameters, 512 bases, batch size 128, Lightning's loop",
        "zh": "DNA 分类，470,938 个参数，512 个碱基，批大小 128，Lightning 的循环",
    },
    ("floorplan_diffusion/train_nodes", "small"): {
        "en": "floor plans, stage 1, 233,418 parameters, batch size 64",
        "zh": "户型图阶段 1，233,418 个参数，批大小 64",
    },
    ("floorplan_diffusion/train_nodes", "origin"): {
        "en": "floor plans, stage 1, 19,460,874 parameters, batch size 256",
        "zh": "户型图阶段 1，19,460,874 个参数，批大小 256",
    },
    ("floorplan_diffusion/train_edges", "small"): {
        "en": "floor plans, stage 2, 157,955 parameters, batch size 16",
        "zh": "户型图阶段 2，157,955 个参数，批大小 16",
    },
    ("floorplan_diffusion/train_edges", "origin"): {
        "en": "floor plans, stage 2, 9,598,211 parameters, batch size 8",
        "zh": "户型图阶段 2，9,598,211 个参数，批大小 8",
    },
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
    texts = TRAININGS[system, part["data"]]
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
