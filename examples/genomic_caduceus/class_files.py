"""Data sets of sequences with classes: which files of a folder are which part, and what is in them."""

import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy

from examples.genomic_caduceus.fasta import is_fasta, records_of, tokens_of
from examples.genomic_caduceus.header_labels import label_in
from examples.genomic_caduceus.intervals import SUFFIX, holds_intervals, read_intervals
from examples.genomic_caduceus.labelled_files import WHOLE, LabelledParts, check_size
from examples.genomic_caduceus.loose_files import loose_files
from examples.genomic_caduceus.sequences import Sequences
from examples.genomic_caduceus.tokens import NoBase, Replaced, encode
from examples.programs.tables import is_table
from snippets.errors import UsageError
from snippets.foreign_files import read_bytes

LARGEST = 1 << 24  # bytes of a file with one sequence
PARTS = dict.fromkeys(("dev", "val", "valid", "validation"), "val") | {"train": "train", "test": "test"}
WHOLE_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)
FIRST_WORD = re.compile(r"[a-z]+(?=[-_.]|$)")  # of train-00000-of-00001.parquet: train


class Parts(NamedTuple):
    """The names of the classes, and train, test and perhaps val; or WHOLE, a file that is not split."""

    names: list[str]
    parts: dict[str, Sequences]
    note: str = ""  # about files that were not read


def read_parts(path: Path, reference: str | None) -> Parts:
    """Return a data set in a file or folder; `reference` names its genomes, for places. Raises UsageError."""
    if path.is_file():
        return labelled_parts({WHOLE: [path]})
    folder = path / "data" if not split_entries(path) and split_entries(path / "data") else path
    entries = split_entries(folder)
    if not any(entry.is_dir() for entry in entries):
        return split_files(folder, entries) if entries else loose_parts(folder)
    if holds_intervals(folder):
        return Parts(*read_intervals(folder, same_classes(folder, tables_of_places), reference))
    train = [entry for entry in entries if entry.name == "train"]
    files = list(train[0].iterdir()) if train else []
    if any(map(is_fasta, files)):
        return fasta_of_classes(folder)
    if any(map(is_table, files)) and not any(entry.is_dir() for entry in files):
        return labelled_parts({part: tables_in(found) for part, found in split_folders(folder).items()})
    names = class_names(folder)
    return Parts(names, {part: read_split(found, names) for part, found in split_folders(folder).items()})


def split_entries(folder: Path) -> list[Path]:
    """Return the files and folders that are called train, test, dev or alike, in order."""
    found = [entry for entry in folder.iterdir() if part_of(entry)] if folder.is_dir() else []
    return sorted(entry for entry in found if entry.is_dir() or is_table(entry) or is_fasta(entry))


def part_of(entry: Path) -> str | None:
    """Return the part of a data set that a file or folder is called after: train, val or test."""
    word = FIRST_WORD.match(entry.name.lower())
    return PARTS.get(word[0]) if word else None


def split_folders(folder: Path) -> dict[str, Path]:
    """Return the folders train, test and perhaps val of a data set. Raises UsageError."""
    found = {PARTS[entry.name]: entry for entry in split_entries(folder) if entry.name in PARTS}
    for name in ("train", "test"):
        if name not in found or not found[name].is_dir():
            val = f"; rename {found['val'].name} to test" if "train" in found and "val" in found else ""
            raise UsageError(f"{folder} has no folder {name}; a data set has train and test{val}")
    return found


def split_files(folder: Path, entries: list[Path]) -> Parts:
    """Return a data set of the files train, test and perhaps dev, all of one kind. Raises UsageError."""
    kinds = {".parquet": lambda path: ".parquet" in path.suffixes, "tables": is_table, "FASTA": is_fasta}
    for wanted in ({"train", "test"}, {"train", "val"}):
        for name, kind in kinds.items():
            of_part: dict[str, list[Path]] = {}
            for entry in filter(kind, entries):
                of_part.setdefault(str(part_of(entry)), []).append(entry)
            if wanted <= of_part.keys():
                used = [path for paths in of_part.values() for path in paths]
                unused = [entry.name for entry in entries if entry not in used]
                note = f"{', '.join(unused)} not read, as there is {name}" if unused else ""
                return labelled_parts(of_part, note)
    missing = "test" if any(part_of(entry) == "train" for entry in entries) else "train"
    hint = f"; to split one file by the seed, name it: data={entries[0]}"
    raise UsageError(f"{folder} has no folder {missing}; a data set has train and test{hint}")


def tables_in(folder: Path) -> list[Path]:
    """Return the tables in a folder by name."""
    return sorted(filter(is_table, folder.iterdir()))


def labelled_parts(files: dict[str, list[Path]], note: str = "") -> Parts:
    """Return the parts of a data set from the files of each, in which every sequence has its label."""
    read = LabelledParts()
    for part, paths in sorted(files.items(), key=lambda item: item[0] != "train"):
        for path in paths:
            read.read(path, part)
        if not len(read.parts[part]) and (part != WHOLE or len(read.parts) == 1):
            raise UsageError(f"{paths[0]} holds no labelled sequence" if paths else f"no file for {part}")
    first = files[min(files)][0]
    notes = [note, *dict.fromkeys(read.notes)]
    parts = with_test(first, dict(read.parts), notes)
    check_test_classes({part: files.get(part, [first])[0] for part in parts}, parts, list(read.classes))
    names = ordered(read.classes)
    if len(names) < 2:
        raise UsageError(f"{first}: all labels are {names[0]!r:.60}; it takes 2 classes")
    renumbered = numpy.array([names.index(name) for name in read.classes])
    for sequences in parts.values():
        numbers = numpy.frombuffer(sequences.classes, dtype=numpy.int64)
        numbers[:] = renumbered[numbers]
    return Parts(names, parts, "; ".join(filter(None, notes)))


def with_test(path: Path, parts: dict[str, Sequences], notes: list[str]) -> dict[str, Sequences]:
    """Return WHOLE alone, or train, test and perhaps val: without a test, val is it. Raises UsageError."""
    filled = {part: sequences for part, sequences in parts.items() if len(sequences)}
    if len(filled) == 1:
        return {WHOLE: next(iter(filled.values()))}
    if "train" not in filled:
        raise UsageError(f"{path}: no header names |training; a data set has training and testing")
    if "test" not in filled:
        filled["test"] = filled.pop("val")
        notes.append("no test: the validation data are the test")
    return filled


def check_test_classes(files: dict[str, Path], parts: dict[str, Sequences], names: list[str]) -> None:
    """Raise UsageError for a class that is in another part and not in train."""
    known = set(parts["train"].classes) if "train" in parts else set(range(len(names)))
    for part, sequences in parts.items():
        if new := sorted(names[number] for number in set(sequences.classes) - known):
            raise UsageError(f"{files[part]}: the class {new[0]!r:.60} is not in the training data")


def ordered(classes: Iterable[str]) -> list[str]:
    """Return the names of classes in the order that defines their indices: 2 before 10, else by letter."""
    names = sorted(classes)
    return sorted(names, key=int) if all(WHOLE_NUMBER.fullmatch(name) for name in names) else names


def same_classes(folder: Path, classes_in: Callable[[Path], list[str]]) -> list[str]:
    """Return the classes of a data set in alphabetical order, which defines their indices.

    A folder listing has no defined order and may contain files such as .DS_Store, so without sorting, train
    and test could get different indices. Raises UsageError.
    """
    found = {part: sorted(classes_in(path)) for part, path in split_folders(folder).items()}
    for part, names in found.items():
        if names != found["train"]:
            only = sorted(set(found["train"]) ^ set(names))[0]
            raise UsageError(f"{folder}: the class {only} is in only one of train and {part}")
    if len(found["train"]) < 2:
        raise UsageError(f"{folder}/train has {len(found['train'])} classes; it takes at least 2")
    return found["train"]


def class_names(folder: Path) -> list[str]:
    """Return the classes of a data set whose splits have a folder for each. Raises UsageError."""

    def folders_in(split: Path) -> list[str]:
        return [entry.name for entry in split.iterdir() if entry.is_dir() and entry.name[0] != "."]

    return same_classes(folder, folders_in)


def tables_of_places(folder: Path) -> list[str]:
    """Return the names of the classes with a table in the folder of a split."""
    return [path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}") if path.name[0] != "."]


def fasta_of_classes(folder: Path) -> Parts:
    """Return a data set with a FASTA file per class in each of its folders. Raises UsageError."""
    files = {part: by_class(filter(is_fasta, path.iterdir())) for part, path in split_folders(folder).items()}
    names = same_classes(folder, lambda split: list(by_class(filter(is_fasta, split.iterdir()))))
    return Parts(names, {part: read_classes(found, names) for part, found in files.items()})


def by_class(files: Iterable[Path]) -> dict[str, Path]:
    """Return FASTA files by the names of their classes. Raises UsageError for two of one class."""
    found: dict[str, Path] = {}
    for path in sorted(files):
        name = path.name.removesuffix(".gz").rpartition(".")[0]
        if name in found:
            raise UsageError(f"{path.parent}: {path.name} and {found[name].name} are one class; remove one")
        found[name] = path
    return found


def read_classes(files: dict[str, Path], names: list[str]) -> Sequences:
    """Return the sequences of FASTA files by class. Raises UsageError."""
    sequences = Sequences()
    for name, path in files.items():
        for record in records_of(path):
            sequences.add(tokens_of(path, record, sequences.replaced), names.index(name))
            check_size(path, sequences)
    return sequences


def loose_parts(folder: Path) -> Parts:
    """Return a data set in a folder without train and test. Raises UsageError."""
    files, note = loose_files(folder)
    if len(files) == 1:
        return labelled_parts({WHOLE: files}, note)
    if all(label_in(next(records_of(path)).header).label for path in files):
        joined = f"cat {shlex.join(map(str, files))} > all.fa"
        raise UsageError(f"{folder}: the headers have labels, so join the files: {joined}")
    named = by_class(files)
    sequences = read_classes(named, list(named))
    for number, path in enumerate(named.values()):
        if sequences.classes.count(number) < 2:
            raise UsageError(f"{path} has 1 sequence; a file is a class here, a genome is for pretrain.py")
    return Parts(list(named), {WHOLE: sequences}, "; ".join(filter(None, ["a file per class", note])))


def read_split(folder: Path, names: list[str]) -> Sequences:
    """Return the sequences in a folder of a split, by class and by file name. Raises UsageError."""
    found = Sequences()
    for number, name in enumerate(names):
        files = sorted(path for path in (folder / name).glob("*.txt") if path.name[0] != ".")
        if not files:
            raise UsageError(f"{folder / name} holds no sequence (.txt)")
        for path in files:
            found.add(read_one(path, found.replaced), number)
    return found


def read_one(path: Path, replaced: Replaced) -> numpy.ndarray:
    """Return the tokens of the only sequence of a file, uint8 (letters,). Raises UsageError."""
    try:
        text = read_bytes(path, LARGEST).strip()
        tokens = encode(numpy.frombuffer(text, dtype=numpy.uint8), replaced)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except NoBase as error:
        raise UsageError(f"{path}, place {error.place + 1}: {error}") from None
    if not text:
        raise UsageError(f"{path} is empty")
    return tokens
