"""The data sets of `data=`: generated sequences, a folder or file of labelled ones, or a genome."""

from pathlib import Path

from examples.genomic_caduceus.class_data import ClassData, file_data
from examples.genomic_caduceus.generated_sequences import chain_data, motif_data
from examples.genomic_caduceus.window_data import WindowData, genome_data
from examples.programs.command_line import expanded
from snippets.errors import Option, UsageError

LABELLED, CHAINS = ("motif",), ("markov", "hairpin")
DOWNLOADS = Path("~/.genomic_benchmarks")  # the folder of the genomic_benchmarks package


def find_data(text: str, windows: bool) -> tuple[str, str]:
    """Return the kind of data of `data=`, and its name or its path. Raises UsageError.

    With `windows`, the data are for predicting masked bases, otherwise they have classes.
    """
    names = CHAINS if windows else LABELLED
    if text in names:
        return text, text
    if text in ("None", ""):
        raise UsageError(
            f"data= is missing; name {'a FASTA file' if windows else 'the folder of a data set'}"
        )
    path = expanded(text)
    if windows and path.is_file():
        return "genome", str(path.resolve())
    if not windows and (path.is_dir() or path.is_file()):
        return "folder" if path.is_dir() else "file", str(path.resolve())
    if not windows and text == path.name and expanded(str(DOWNLOADS / text)).is_dir():
        return "folder", str(expanded(str(DOWNLOADS / text)).resolve())
    known = (
        "nor a FASTA file"
        if windows
        else f"nor a folder with train and test, here or in {DOWNLOADS}, nor a file of labelled sequences"
    )
    raise UsageError(f"data={text}: neither {' nor '.join(names)} {known}")


def to_generate(sequences: int | None) -> int:
    """Return the number of sequences to generate. Raises UsageError for 0."""
    if sequences is None:
        raise UsageError(Option("sequences", "null"), ": name the number of sequences to generate")
    return sequences


def load_classes(
    name: str, data: str, sequences: int | None, length: int | None, seed: int, reference: str | None = None
) -> ClassData:
    """Return labelled sequences; `sequences` is the number to generate. Raises UsageError."""
    if name in ("folder", "file"):
        return file_data(Path(data), length, seed, reference)
    return motif_data(to_generate(sequences), seed, **({} if length is None else {"length": length}))


def load_windows(
    name: str, data: str, sequences: int | None, length: int | None, seed: int, intervals: str | None
) -> WindowData:
    """Return sequences without classes; `sequences` is the number to generate. Raises UsageError."""
    if name == "genome":
        return genome_data(Path(data), length, Path(intervals) if intervals else None)
    return chain_data(name, to_generate(sequences), seed, **({} if length is None else {"length": length}))
