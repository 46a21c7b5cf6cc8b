"""Tables of what was counted, computed or measured for the CIFAR example, from docs/data/results/."""

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

from markdown_tables import Column, table, table_of, written
from origins import explained, load, origin

EPOCH = 50_000  # training images of CIFAR-10 and CIFAR-100
EPOCHS = 200
BYTES = 4  # of a float32
SHARE = 0.4  # of the peak: what a well-fed GPU might reach
CLAIM = {"chip": "M2", "seconds": 90}  # the source guide's time per epoch

SOURCES = {  # of the peaks: how the sentence begins, each source, and what stands between chips and sources
    "en": ("Peaks: {}.", "[{title}]({url}) for {chips}", ", ", "; "),
    "zh": ("峰值的出处：{}。", "{chips} 取自 [{title}]({url})", "、", "；"),
}
NOTES = {"en": " ({})", "zh": "（{}）"}  # what a reader must know of a source


def duration(seconds: float) -> str:
    """Return seconds in a unit with few digits: "47 s", "13 min", "2.6 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


TRAINED = "training_flop"  # for one image
QUANTITIES = (
    Column("Quantity", "数量", "name"),
    Column("First layers", "最前面几层", "stem"),
    Column("Parameters", "参数量", "parameters", written(",")),
    Column("Weights", "权重", "parameters", written(".1f", BYTES / 1e6), "{} MB"),
    Column("Forward pass, one image", "前向传播，每张图片", "forward_flop", written(".3f", 1e-9), "{} GFLOP"),
    Column("Training, one image", "训练，每张图片", TRAINED, written(".3f", 1e-9), "{} GFLOP"),
    Column(
        f"One epoch, {EPOCH:,} images",
        f"一轮，{EPOCH:,} 张图片",
        TRAINED,
        written(".1f", EPOCH / 1e12),
        "{} TFLOP",
    ),
    Column(f"{EPOCHS} epochs", f"{EPOCHS} 轮", TRAINED, written(".1f", EPOCH * EPOCHS / 1e15), "{} PFLOP"),
    Column(
        "Kept for the backward pass, batch size 128",
        "为反向传播保留的数据，批大小 128",
        "kept_bytes",
        written(".0f", 1e-6),
        "{} MB",
    ),
    Column(
        "{seconds} s per epoch on an {chip} would be".format(**CLAIM),
        "如果在 {chip} 上每轮 {seconds} s".format(**CLAIM),
        "claim",
    ),
)
OF_PEAK = {
    "en": "{rate:.2f} TFLOPS, {share:.0%} of its peak",
    "zh": "相当于 {rate:.2f} TFLOPS，峰值的 {share:.0%}",
}
BOUNDS = (
    Column(
        "Chip (GPU cores)",
        "芯片（GPU 核数）",
        ("name", "gpu_cores"),
        form={"en": "{} ({})", "zh": "{}（{}）"},
    ),
    Column("Peak, TFLOPS", "峰值，TFLOPS", "fp32_tflops", written("g")),
    Column("CIFAR stem, one epoch", "CIFAR stem，一轮", "epoch", duration),
    Column(f"{EPOCHS} epochs at the peak", f"{EPOCHS} 轮，按峰值", "run", duration),
    Column(f"{EPOCHS} epochs at {SHARE:.0%}", f"{EPOCHS} 轮，按峰值的 {SHARE:.0%}", "share", duration),
    Column(
        f"ImageNet stem, {EPOCHS} epochs at the peak",
        f"ImageNet stem，{EPOCHS} 轮，按峰值",
        "imagenet",
        duration,
    ),
)
FLOORS = (
    Column("Share of wrong labels", "错误标签的比例", "share", written(".0%")),
    Column("Classes", "类别数", "classes"),
    Column("Label smoothing", "标签平滑", "smoothing", written("g")),
    Column("Highest accuracy on such labels", "在这样的标签上，准确率的上限", "accuracy", written(".0%")),
    Column("Lowest cross-entropy on them, nats", "交叉熵的下限，nat", "cross_entropy", written(".4f")),
)


def networks(language: str) -> str:
    """Return the two networks called ResNet-18 side by side: each quantity is a row."""
    data = load("resnet18")
    peak = next(chip["fp32_tflops"] for chip in data["chips"] if chip["name"] == CLAIM["chip"])
    pair = []
    for network in data["networks"]:
        rate = network["training_flop"] * EPOCH / CLAIM["seconds"] / 1e12
        claim = {code: text.format(rate=rate, share=rate / peak) for code, text in OF_PEAK.items()}
        pair.append(network | {"claim": claim})
    head, *quantities = [
        [getattr(quantity, language), *(quantity.cell(network, language) for network in pair)]
        for quantity in QUANTITIES
    ]
    return table(head, quantities)


def time_bounds(language: str) -> str:
    """Return the shortest possible times of some chips, and those at a share of their peak."""
    data = load("resnet18")
    work = {network["id"]: network["training_flop"] * EPOCH for network in data["networks"]}
    rows = []
    for chip in data["chips"]:
        rate = chip["fp32_tflops"] * 1e12
        epoch, imagenet = work["cifar"] / rate, work["imagenet"] / rate
        times = {"epoch": epoch, "run": EPOCHS * epoch, "share": EPOCHS * epoch / SHARE}
        rows.append(chip | times | {"imagenet": EPOCHS * imagenet})
    return explained(BOUNDS, rows, language, peaks(data, language))


def peaks(data: dict[str, Any], language: str) -> str:
    """Return a sentence that says which source gives the peak of which chips."""
    sentence, about, between_chips, between_sources = SOURCES[language]
    parts = []
    for name, source in data["sources"].items():
        chips = between_chips.join(chip["name"] for chip in data["chips"] if chip["source"] == name)
        note = NOTES[language].format(source["note"][language]) if "note" in source else ""
        parts.append(about.format(chips=chips, **source) + note)
    return sentence.format(between_sources.join(parts))


def best_accuracy(language: str) -> str:
    """Return the best possible accuracy on generated images."""
    data = load("known_optimum")["best_accuracy"]
    signals = dict.fromkeys(signal for row in data for signal in row["signal"])
    columns = [Column(f"Signal {signal}", f"信号 {signal}", signal, written(".2%")) for signal in signals]
    rows = [row["signal"] | {"classes": row["classes"]} for row in data]
    return table_of([Column("Classes", "类别数", "classes"), *columns], rows, language)


def noise_floors(language: str) -> str:
    """Return what wrong labels allow at best."""
    return table_of(FLOORS, load("known_optimum")["noise_floor"], language)


def cifar_digits(language: str) -> str:
    """Return the accuracies of measured runs, with where they come from below the table."""
    data, share = load("cifar_digits"), written(".2%")
    seeds = [Column(f"Seed {seed}", f"种子 {seed}", place, share) for place, seed in enumerate(data["seeds"])]
    columns = [Column("Run", "运行", "name"), *seeds, Column("Mean", "平均", "mean", share, "**{}**")]
    rows = [
        dict(enumerate(run["test_accuracy"]))
        | {"name": run["name"], "mean": statistics.fmean(run["test_accuracy"])}
        for run in data["runs"]
    ]
    return explained(columns, rows, language, origin(data, language))


def label_noise(language: str) -> str:
    """Return what wrong labels cost each optimizer: mean and sample standard deviation over the seeds."""
    data, columns = load("cifar_label_noise"), [Column("Optimizer", "优化器", "name")]
    wrong = f"{data['label_noise']:.0%}"
    percent, points = partial(mean_and_deviation, unit="%"), partial(mean_and_deviation, unit="")
    for epochs in dict.fromkeys(epochs for run in data["runs"] for epochs in run["epochs"]):
        columns += [
            Column(f"{epochs} epochs, right labels", f"{epochs} 轮，标签正确", f"{epochs} clean", percent),
            Column(
                f"{epochs} epochs, {wrong} wrong",
                f"{epochs} 轮，{wrong} 标签错误",
                f"{epochs} noisy",
                percent,
            ),
            Column("Lost, points", "下降（百分点）", f"{epochs} lost", points, "**{}**"),
        ]
    rows = []
    for run in data["runs"]:
        row = {"name": run["name"]}
        for epochs, pair in run["epochs"].items():
            lost = [clean - noisy for clean, noisy in zip(pair["clean"], pair["noisy"], strict=True)]
            found = {"clean": pair["clean"], "noisy": pair["noisy"], "lost": lost}
            row |= {f"{epochs} {name}": values for name, values in found.items()}
        rows.append(row)
    return explained(columns, rows, language, origin(data, language))


def mean_and_deviation(values: list[float], unit: str) -> str:
    """Return shares (0 to 1) in percent, as mean and sample standard deviation."""
    return f"{100 * statistics.fmean(values):.2f}{unit} ± {100 * statistics.stdev(values):.2f}"


TABLES: dict[str, Callable[[str], str]] = {
    "results-two-networks": networks,
    "results-time-bounds": time_bounds,
    "results-best-accuracy": best_accuracy,
    "results-noise-floors": noise_floors,
    "results-cifar-digits": cifar_digits,
    "results-label-noise": label_noise,
}
