"""The shortest possible times of the indicator transformer on some chips, from docs/data/results/."""

from collections.abc import Callable

from cifar_tables import BOUNDS, SHARE, duration, peaks
from markdown_tables import Column
from origins import explained, load

CHIP = BOUNDS[:2]  # its name and its peak


def bounds(language: str) -> str:
    """Return how long the whole run of each network takes at the peak of a chip and at a share of it."""
    work, chips = load("indicator_networks"), load("resnet18")
    rows = []
    for chip in chips["chips"]:
        row = dict(chip)
        for network in work["networks"]:
            run = network["training_flop"] * work["batch_size"] * work["steps"]
            seconds = run / (chip["fp32_tflops"] * 1e12)
            at_peak, at_share = (
                duration(time).replace(" ", "\N{NO-BREAK SPACE}") for time in (seconds, seconds / SHARE)
            )
            row[network["size"]] = f"{at_peak}\N{NO-BREAK SPACE}/ {at_share}"
        rows.append(row)
    sizes = [Column(f"`{size}`", f"`{size}`", size) for size in (entry["size"] for entry in work["networks"])]
    return explained([*CHIP, *sizes], rows, language, peaks(chips, language))


TABLES: dict[str, Callable[[str], str]] = {"indicator-bounds": bounds}
