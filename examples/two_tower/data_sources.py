"""The data sets of `--data`: texts of this handbook, generated pairs with a known best score, or a file."""

import shlex
from pathlib import Path

import torch

from examples.programs.command_line import expanded
from examples.two_tower.encoders import NAME as ENCODER
from examples.two_tower.encoders import NgramEncoder
from examples.two_tower.generated_pairs import generate_pairs
from examples.two_tower.pair_files import read_pairs
from examples.two_tower.pairs import Pairs
from examples.two_tower.texts import Text
from snippets.errors import UsageError
from snippets.foreign_files import read_text

NAMES = ("pages", "generated")
LARGEST = 1 << 24  # bytes of the texts
TEXTS = Path(__file__).with_name("data") / "pairs.tsv"


def find_data(text: str) -> str:
    """Return "pages", "generated", "texts" (from encode.py) or "file" for `--data`. Raises UsageError."""
    if text in NAMES:
        return text
    path = expanded(text)
    if not path.exists():
        raise UsageError(f"--data {text}: neither {' nor '.join(NAMES)} nor an existing .npz file or folder")
    if path.is_file() and path.suffix != ".npz" and is_called_table(path):
        words = shlex.quote(text), shlex.quote(path.name.partition(".")[0] or "vectors")
        cure = "python examples/two_tower/encode.py {} --out {}".format(*words)
        raise UsageError(
            f"--data {text} holds texts, and training reads their vectors; encode them first: {cure}"
        )
    return "texts" if (path / ENCODER).is_file() else "file"


def is_called_table(path: Path) -> bool:
    """Return whether a file is called like a table."""
    from examples.programs.tables import is_table  # which takes time to load, and few need it

    return is_table(path)


def load_pairs(data: str, rows: int, noise: float, seed: int) -> Pairs:
    """Return the pairs of `--data`; `rows`, `noise` and `seed` apply to generated ones.

    Raises UsageError.
    """
    if data == "pages":
        return page_pairs()
    if data == "generated":
        return generate_pairs(rows, noise, seed)
    return read_pairs(expanded(data))


def read_passages(path: Path = TEXTS) -> list[tuple[str, str, str, str]]:
    """Return page, section, English and Chinese text of each passage in pairs.tsv, below its header."""
    return [
        (page, section, english, chinese)
        for page, section, english, chinese in (
            line.split("\t") for line in read_text(path, LARGEST).splitlines()[1:]
        )
    ]


def page_pairs() -> Pairs:
    """Return sections and table rows of this handbook: English contexts, Chinese payloads, by page."""
    passages = read_passages()
    texts = [Text(f"{page}#{section}", english, chinese) for page, section, english, chinese in passages]
    pages = sorted({page for page, *_ in passages})
    encoder = NgramEncoder()
    return Pairs(
        "pages",
        "English sections and table rows of this handbook; each belongs to its Chinese text",
        encoder.contexts([text.query for text in texts]),
        encoder.documents([text.document for text in texts]),
        torch.tensor([pages.index(page) for page, *_ in passages]),
        texts,
        encoder,
    )
