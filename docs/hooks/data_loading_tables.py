"""Tables of what loading and augmenting data costs, from docs/data/results/."""

from collections.abc import Callable

from markdown_tables import SPREAD, Column, table_of, written
from origins import load, named, origin, sentences

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
PROCESSES = {"en": "Each process computes in one thread.", "zh": "每个进程单线程。"}


def augmentation(language: str) -> str:
    """Return how long one batch takes, augmented at once and image by image, on each measured machine."""
    entries = load("augmentation")
    where = [named(f"`{entry['device']}`", origin(entry, language), language) for entry in entries]
    return table_of(AUGMENTATION, entries, language) + "\n" + "\n\n".join(where) + "\n"


def loader_workers(language: str) -> str:
    """Return what numbers of workers bring, and what their start costs."""
    data = load("data_loading")["loader_workers"]
    below = sentences(language, origin(data, language), PROCESSES[language])
    return f"{table_of(WORKERS, data['rows'], language)}\n{below}\n"


TABLES: dict[str, Callable[[str], str]] = {
    "results-augmentation": augmentation,
    "results-loader-workers": loader_workers,
}
