"""Tables of what was counted, computed or measured for the examples, from docs/data/results/."""

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).resolve().parent.parent / "data" / "results"

EPOCH = 50_000  # training images of CIFAR-10 and CIFAR-100
EPOCHS = 200
BYTES = 4  # of a float32
SHARE = 0.4  # of the peak: what a well-fed GPU might reach
MISSING = "–"  # in a cell for which there is no value
CLAIM = {"chip": "M2", "seconds": 90}  # the source guide's time per epoch

TEXT = {
    "en": {
        "quantity": "Quantity",
        "stem": "First layers",
        "parameters": "Parameters",
        "weights": "Weights",
        "forward": "Forward pass, one image",
        "training": "Training, one image",
        "epoch": "One epoch, {count} images",
        "run": "{count} epochs",
        "kept": "Kept for the backward pass, batch size 128",
        "claim": "{seconds} s per epoch on an {chip} would be",
        "of_peak": "{rate:.2f} TFLOPS, {share:.0%} of its peak",
        "chip": "Chip (GPU cores)",
        "peak": "Peak, TFLOPS",
        "cifar_epoch": "CIFAR stem, one epoch",
        "cifar_run": "{count} epochs at the peak",
        "cifar_share": "{count} epochs at {share:.0%}",
        "imagenet_run": "ImageNet stem, {count} epochs at the peak",
        "peaks": "Peaks: {list}.",
        "peak_of": "[{title}]({url}) for {chips}",
        "list": (", ", "; "),
        "classes": "Classes",
        "signal": "Signal {signal}",
        "noise": "Share of wrong labels",
        "smoothing": "Label smoothing",
        "accuracy": "Highest accuracy on such labels",
        "cross_entropy": "Lowest cross-entropy on them, nats",
        "what": "Run",
        "seed": "Seed {seed}",
        "mean": "Mean",
        "optimizer": "Optimizer",
        "clean": "{epochs} epochs, right labels",
        "noisy": "{epochs} epochs, {share:.0%} wrong",
        "lost": "Lost, points",
        "device": "Device of the batch",
        "whole_batch": "Whole batch, ms",
        "image_by_image": "Image by image, ms",
        "ratio": "Ratio",
        "spread": "{median} ({low} to {high})",
        "workers": "Workers",
        "first_batch": "First batch",
        "samples_per_s": "After that, samples/s",
        "provenance": "{machine}; PyTorch {torch}, Python {python}; {date}. Made by `{command}`.",
    },
    "zh": {
        "quantity": "数量",
        "stem": "最前面几层",
        "parameters": "参数量",
        "weights": "权重",
        "forward": "前向传播，每张图片",
        "training": "训练，每张图片",
        "epoch": "一轮，{count} 张图片",
        "run": "{count} 轮",
        "kept": "为反向传播保留的数据，批大小 128",
        "claim": "如果在 {chip} 上每轮 {seconds} s",
        "of_peak": "相当于 {rate:.2f} TFLOPS，峰值的 {share:.0%}",
        "chip": "芯片（GPU 核数）",
        "peak": "峰值，TFLOPS",
        "cifar_epoch": "CIFAR stem，一轮",
        "cifar_run": "{count} 轮，按峰值",
        "cifar_share": "{count} 轮，按峰值的 {share:.0%}",
        "imagenet_run": "ImageNet stem，{count} 轮，按峰值",
        "peaks": "峰值的出处：{list}。",
        "peak_of": "{chips} 取自 [{title}]({url})",
        "list": ("、", "；"),
        "classes": "类别数",
        "signal": "信号 {signal}",
        "noise": "错误标签的比例",
        "smoothing": "标签平滑",
        "accuracy": "在这样的标签上，准确率的上限",
        "cross_entropy": "交叉熵的下限，nat",
        "what": "运行",
        "seed": "种子 {seed}",
        "mean": "平均",
        "optimizer": "优化器",
        "clean": "{epochs} 轮，标签正确",
        "noisy": "{epochs} 轮，{share:.0%} 标签错误",
        "lost": "下降（百分点）",
        "device": "这一批所在的设备",
        "whole_batch": "整批，ms",
        "image_by_image": "逐张，ms",
        "ratio": "倍数",
        "spread": "{median}（{low} 到 {high}）",
        "workers": "工作进程数",
        "first_batch": "第一批",
        "samples_per_s": "此后，样本/s",
        "provenance": "{machine}；PyTorch {torch}，Python {python}；{date}。由 `{command}` 生成。",
    },
}


def load(name: str) -> Any:
    """Return the content of docs/data/results/<name>.yaml."""
    return yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right.

    Raises ValueError for a row that does not fit the head: its values would stand under wrong headings.
    """
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"{len(row)} cells under {len(head)} headings: {row}")
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def duration(seconds: float) -> str:
    """Return seconds in a unit with few digits: "47 s", "13 min", "2.6 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def networks(language: str) -> str:
    """Return the two networks called ResNet-18 side by side."""
    text, data = TEXT[language], load("resnet18")
    pair = data["networks"]
    peak = next(chip["fp32_tflops"] for chip in data["chips"] if chip["name"] == CLAIM["chip"])

    def claim(network: dict[str, Any]) -> str:
        rate = network["training_flop"] * EPOCH / CLAIM["seconds"] / 1e12
        return text["of_peak"].format(rate=rate, share=rate / peak)

    rows = {
        text["stem"]: lambda n: n["stem"][language],
        text["parameters"]: lambda n: f"{n['parameters']:,}",
        text["weights"]: lambda n: f"{n['parameters'] * BYTES / 1e6:.1f} MB",
        text["forward"]: lambda n: f"{n['forward_flop'] / 1e9:.3f} GFLOP",
        text["training"]: lambda n: f"{n['training_flop'] / 1e9:.3f} GFLOP",
        text["epoch"].format(count=f"{EPOCH:,}"): lambda n: f"{n['training_flop'] * EPOCH / 1e12:.1f} TFLOP",
        text["run"].format(count=EPOCHS): lambda n: f"{n['training_flop'] * EPOCH * EPOCHS / 1e15:.1f} PFLOP",
        text["kept"]: lambda n: f"{n['kept_bytes'] / 1e6:.0f} MB",
        text["claim"].format(**CLAIM): claim,
    }
    head = [text["quantity"], *(network["name"][language] for network in pair)]
    return table(head, [[name, *map(cell, pair)] for name, cell in rows.items()])


def time_bounds(language: str) -> str:
    """Return the shortest possible times of some chips, and those at a share of their peak."""
    text, data = TEXT[language], load("resnet18")
    work = {network["id"]: network["training_flop"] * EPOCH for network in data["networks"]}
    head = [text["chip"], text["peak"], text["cifar_epoch"]]
    head += [
        text[name].format(count=EPOCHS, share=SHARE) for name in ("cifar_run", "cifar_share", "imagenet_run")
    ]
    rows = []
    for chip in data["chips"]:
        rate = chip["fp32_tflops"] * 1e12
        times = [
            work["cifar"] / rate,
            EPOCHS * work["cifar"] / rate,
            EPOCHS * work["cifar"] / (SHARE * rate),
            EPOCHS * work["imagenet"] / rate,
        ]
        cores = f" ({chip['gpu_cores']})" if language == "en" else f"（{chip['gpu_cores']}）"
        rows.append([chip["name"] + cores, f"{chip['fp32_tflops']:g}", *map(duration, times)])
    return table(head, rows) + f"\n{peaks(data, language)}\n"


def peaks(data: dict[str, Any], language: str) -> str:
    """Return a sentence that says which source gives the peak of which chips."""
    text = TEXT[language]
    between_chips, between_sources = text["list"]
    parts = []
    for name, source in data["sources"].items():
        chips = between_chips.join(chip["name"] for chip in data["chips"] if chip["source"] == name)
        parts.append(text["peak_of"].format(chips=chips, **source))
    return text["peaks"].format(list=between_sources.join(parts))


def best_accuracy(language: str) -> str:
    """Return the best possible accuracy on generated images."""
    text, data = TEXT[language], load("known_optimum")["best_accuracy"]
    signals = list(dict.fromkeys(signal for row in data for signal in row["signal"]))
    head = [text["classes"], *(text["signal"].format(signal=signal) for signal in signals)]
    rows = []
    for row in data:
        cells = (f"{row['signal'][signal]:.2%}" if signal in row["signal"] else MISSING for signal in signals)
        rows.append([str(row["classes"]), *cells])
    return table(head, rows)


def noise_floors(language: str) -> str:
    """Return what wrong labels allow at best."""
    text, data = TEXT[language], load("known_optimum")["noise_floor"]
    columns = {
        "noise": lambda row: f"{row['share']:.0%}",
        "classes": lambda row: str(row["classes"]),
        "smoothing": lambda row: f"{row['smoothing']:g}",
        "accuracy": lambda row: f"{row['accuracy']:.0%}",
        "cross_entropy": lambda row: f"{row['cross_entropy']:.4f}",
    }
    rows = [[cell(row) for cell in columns.values()] for row in data]
    return table([text[name] for name in columns], rows)


def cifar_digits(language: str) -> str:
    """Return the accuracies of measured runs, with where they come from below the table."""
    text, data = TEXT[language], load("cifar_digits")
    head = [text["what"], *(text["seed"].format(seed=seed) for seed in data["seeds"])]
    rows = []
    for run in data["runs"]:
        accuracies = run["test_accuracy"]
        mean = f"**{sum(accuracies) / len(accuracies):.2%}**"
        rows.append([run["name"][language], *(f"{value:.2%}" for value in accuracies), mean])
    where = provenance(data, language)
    return table([*head, text["mean"]], rows) + f"\n{where}\n"


def provenance(data: dict[str, Any], language: str) -> str:
    """Return a sentence that says on which machine, with which versions, when and how `data` was measured."""
    known = {"date": data["date"], "command": data["command"], **data["versions"]}
    return TEXT[language]["provenance"].format(machine=data["machine"][language], **known)


def label_noise(language: str) -> str:
    """Return what wrong labels cost each optimizer: mean and sample standard deviation over the seeds."""
    text, data = TEXT[language], load("cifar_label_noise")
    head, rows = [text["optimizer"]], []
    lengths = list(dict.fromkeys(epochs for run in data["runs"] for epochs in run["epochs"]))
    for epochs in lengths:
        head += [
            text[name].format(epochs=epochs, share=data["label_noise"]) for name in ("clean", "noisy", "lost")
        ]
    for run in data["runs"]:
        cells = [run["name"][language]]
        for epochs in lengths:
            if (pair := run["epochs"].get(epochs)) is None:
                cells += [MISSING] * 3
                continue
            lost = [clean - noisy for clean, noisy in zip(pair["clean"], pair["noisy"], strict=True)]
            cells += [mean_and_deviation(values, "%") for values in (pair["clean"], pair["noisy"])]
            cells.append(f"**{mean_and_deviation(lost, '')}**")
        rows.append(cells)
    return table(head, rows) + f"\n{provenance(data, language)}\n"


def mean_and_deviation(values: list[float], unit: str) -> str:
    """Return shares (0 to 1) in percent, as mean and sample standard deviation."""
    return f"{100 * statistics.fmean(values):.2f}{unit} ± {100 * statistics.stdev(values):.2f}"


def augmentation(language: str) -> str:
    """Return how long one batch takes, augmented at once and image by image, on each measured machine."""
    text, entries = TEXT[language], load("augmentation")
    rows = []
    for entry in entries:
        spreads = [
            {name: f"{entry[what][name] * scale:.{decimals}f}" for name in ("median", "low", "high")}
            for what, scale, decimals in (
                ("whole_batch", 1e3, 2),
                ("image_by_image", 1e3, 1),
                ("ratio", 1, 0),
            )
        ]
        rows.append([f"`{entry['device']}`", *(text["spread"].format(**spread) for spread in spreads)])
    head = [text[name] for name in ("device", "whole_batch", "image_by_image", "ratio")]
    where = [f"`{entry['device']}`: {provenance(entry, language)}" for entry in entries]
    return table(head, rows) + "\n" + "\n\n".join(where) + "\n"


def loader_workers(language: str) -> str:
    """Return what numbers of workers bring, and what their start costs."""
    text, data = TEXT[language], load("data_loading")["loader_workers"]
    head = [text[name] for name in ("workers", "first_batch", "samples_per_s")]
    rows = [
        [str(row["workers"]), f"{row['first_batch']:.2f} s", str(row["samples_per_s"])]
        for row in data["rows"]
    ]
    return table(head, rows) + f"\n{provenance(data, language)}\n"


TABLES: dict[str, Callable[[str], str]] = {
    "results-two-networks": networks,
    "results-time-bounds": time_bounds,
    "results-best-accuracy": best_accuracy,
    "results-noise-floors": noise_floors,
    "results-cifar-digits": cifar_digits,
    "results-label-noise": label_noise,
    "results-augmentation": augmentation,
    "results-loader-workers": loader_workers,
}


def names() -> set[str]:
    """Return the names of the tables."""
    return set(TABLES)


def render(name: str, language: str) -> str:
    """Return the table `name` in `language` ("en" or "zh"). Raises KeyError for an unknown name."""
    return TABLES[name](language)
