"""The shortest possible times of the indicator transformer on some chips, from docs/data/results/."""

from collections.abc import Callable

from cifar_tables import SHARE, duration, peaks
from markdown_tables import Column, written
from origins import explained, load


def columns() -> list[Column]:
    """Return the columns: the chip, and for each network the whole run, at the peak and at a share of it."""
    work = load("indicator_networks")
    first = work["networks"][0]["size"]
    found = [
        Column(
            "Chip (GPU cores)",
            "芯片（GPU 核数）",
            ("name", "gpu_cores"),
            form={"en": "{} ({})", "zh": "{}（{}）"},
        ),
        Column("Peak, TFLOPS", "峰值，TFLOPS", "fp32_tflops", written("g")),
        Column(
            f"`{first}`, one step of {work['batch_size']}",
            f"`{first}`，一步 {work['batch_size']} 个样本",
            "step",
            written(".1f", 1e3),
            "{} ms",
        ),
    ]
    for network in work["networks"]:
        size = network["size"]
        found.append(
            Column(f"`{size}`, {work['steps']:,} steps", f"`{size}`，{work['steps']:,} 步", size, duration)
        )
        found.append(
            Column(
                f"`{size}` at {SHARE:.0%} of the peak",
                f"`{size}`，按峰值的 {SHARE:.0%}",
                f"{size} share",
                duration,
            )
        )
    return found


def bounds(language: str) -> str:
    """Return the table, with the sources of the peaks below it."""
    work, chips = load("indicator_networks"), load("resnet18")
    rows = []
    for chip in chips["chips"]:
        row = dict(chip)
        for network in work["networks"]:
            step = network["training_flop"] * work["batch_size"] / (chip["fp32_tflops"] * 1e12)
            row.setdefault("step", step)
            row[network["size"]] = step * work["steps"]
            row[f"{network['size']} share"] = step * work["steps"] / SHARE
        rows.append(row)
    return explained(columns(), rows, language, peaks(chips, language))


TABLES: dict[str, Callable[[str], str]] = {"indicator-bounds": bounds}
