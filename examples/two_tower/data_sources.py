"""The data sets of `--data`: texts of this handbook, generated pairs with a known best score, or a file."""

from pathlib import Path

import torch

from examples.programs.command_line import expanded
from examples.two_tower.generated_pairs import generate_pairs
from examples.two_tower.ngrams import stack_contexts, stack_texts
from examples.two_tower.pair_files import read_pairs
from examples.two_tower.pairs import Pairs, Passage
from snippets.errors import UsageError
from snippets.foreign_files import read_text

NAMES = ("pages", "generated")
LARGEST = 1 << 24  # bytes of the texts
TEXTS = Path(__file__).with_name("data") / "pairs.tsv"


def find_data(text: str) -> str:
    """Return "pages", "generated" or "file" for `--data`. Raises UsageError."""
    if text in NAMES:
        return text
    if not expanded(text).exists():
        raise UsageError(f"--data {text}: neither {' nor '.join(NAMES)} nor an existing .npz file or folder")
    return "file"


def load_pairs(data: str, rows: int, noise: float, seed: int) -> Pairs:
    """Return the pairs of `--data`; `rows`, `noise` and `seed` apply to generated ones.

    Raises UsageError.
    """
    if data == "pages":
        return page_pairs()
    if data == "generated":
        return generate_pairs(rows, noise, seed)
    return read_pairs(expanded(data))


def read_passages(path: Path = TEXTS) -> list[Passage]:
    """Return the passages in pairs.tsv; lines that begin with # are comments."""
    lines = read_text(path, LARGEST).splitlines()
    return [Passage(*line.split("\t")) for line in lines if not line.startswith("#")]


def page_pairs() -> Pairs:
    """Return sections and table rows of this handbook: English contexts, Chinese payloads, by page."""
    passages = read_passages()
    pages = sorted({passage.page for passage in passages})
    return Pairs(
        "pages",
        "English sections and table rows of this handbook; each belongs to its Chinese text",
        stack_contexts([passage.english for passage in passages]),
        stack_texts([passage.chinese for passage in passages]),
        torch.tensor([pages.index(passage.page) for passage in passages]),
        passages,
    )
