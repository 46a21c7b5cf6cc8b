"""Sequences in folders, as the genomic_benchmarks downloader writes them: {train,test}/<class>/<id>.txt."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from examples.genomic_caduceus.tokens import LETTERS, no_base
from snippets.framework.errors import UsageError

SPLITS = ("train", "test")


@dataclass(frozen=True)
class Labelled:
    """Sequences of a split with the numbers of their classes."""

    sequences: list[str]
    classes: list[int]


# --8<-- [start:class_names]
def same_classes(folder: Path, classes_in: Callable[[Path], list[str]]) -> list[str]:
    """Return the classes of a data set in alphabetical order: the number of a class is its place.

    A listing has no order of its own, and it may hold files such as .DS_Store. A reader that numbers classes
    as they come can give train and test different numbers. Raises UsageError.
    """
    found = {}
    for split in SPLITS:
        if not (folder / split).is_dir():
            raise UsageError(f"{folder} has no folder {split}; a data set has train and test")
        found[split] = sorted(classes_in(folder / split))
    if found["train"] != found["test"]:
        only = sorted(set(found["train"]) ^ set(found["test"]))[0]
        raise UsageError(f"{folder}: the class {only} is in only one of train and test")
    if len(found["train"]) < 2:
        raise UsageError(f"{folder}/train has {len(found['train'])} classes; it takes at least 2")
    return found["train"]


def class_names(folder: Path) -> list[str]:
    """Return the classes of a data set whose splits have a folder for each. Raises UsageError."""

    def folders_in(split: Path) -> list[str]:
        return [entry.name for entry in split.iterdir() if entry.is_dir() and entry.name[0] != "."]

    return same_classes(folder, folders_in)


# --8<-- [end:class_names]
def read_split(folder: Path, names: list[str]) -> Labelled:
    """Return the sequences in a folder of a split, class by class and by name of file. Raises UsageError."""
    sequences, classes = [], []
    for number, name in enumerate(names):
        files = sorted(path for path in (folder / name).glob("*.txt") if path.name[0] != ".")
        if not files:
            raise UsageError(f"{folder / name} holds no sequence (.txt)")
        for path in files:
            text = path.read_text(encoding="ascii", errors="replace").strip()
            if not text:
                raise UsageError(f"{path} is empty")
            if other := text.strip(LETTERS):
                raise UsageError(f"{path}: {no_base(other[0])}")
            sequences.append(text)
            classes.append(number)
    return Labelled(sequences, classes)
