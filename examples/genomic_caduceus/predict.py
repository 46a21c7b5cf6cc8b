"""Classify the sequences of a file with a network that train.py trained, and write a CSV file.

    python examples/genomic_caduceus/predict.py runs/genomic_caduceus/train/<time> FILE --out predictions.csv

FILE is FASTA, a table (CSV, TSV, Parquet) with a column sequence or seq, also with .gz behind, or a folder of
.txt files with a sequence each, of such folders or of FASTA files. Memory does not depend on its size.
Where it has labels, the share of right classes is printed.
"""

import argparse
import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch
from tqdm import tqdm

from examples.genomic_caduceus.tokens import Replaced
from examples.genomic_caduceus.trained_classifier import TrainedClassifier, load_classifier
from examples.genomic_caduceus.unlabelled_files import parts_of
from examples.programs.command_line import StrictParser, expanded, whole_number
from examples.programs.failures import explained_failures
from examples.programs.run_folder import begins_with, check_target
from snippets.atomic_write import replace_file
from snippets.device import pick_device
from snippets.errors import RunError, UsageError, exit_with_one_line, tell

BEGINNING = b"name,class,probability"  # of the files that this program writes
SHOWN = 3  # predictions that are printed


class Prediction(NamedTuple):
    """Of one sequence: its name, its label if the file has one, and the probability of each class."""

    name: str
    label: str | None
    probabilities: list[float]
    there: bool  # whether it has any letter


class Counts:
    """What was counted while predicting."""

    def __init__(self) -> None:
        self.of_class: Counter[str] = Counter()
        self.replaced = Replaced()
        self.cut = self.empty = self.labelled = self.right = 0
        self.unknown: Counter[str] = Counter()  # labels that are no class of the network


def read_command_line(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options. Raises UsageError."""
    whole = argparse.RawDescriptionHelpFormatter
    parser = StrictParser(prog="predict.py", description=__doc__, formatter_class=whole)
    add = parser.add_argument
    add("run", type=expanded, help="folder of a run of train.py, or a checkpoint in it")
    add("file", type=expanded, help="FASTA, a table of sequences, or a folder of them")
    out = Path("predictions.csv")
    add("--out", type=expanded, default=out, metavar="FILE", help=f"CSV file to write; {out}")
    add("--device", default="auto", choices=("auto", "mps", "cuda", "cpu"), help="auto: CUDA, then MPS")
    add("--batch-size", type=whole_number(1, 10**6), help="sequences at a time; as in training")
    options = parser.parse_args(argv)
    check_target(options.out, begins_with(BEGINNING), [".csv"])
    return options


def predictions(
    trained: TrainedClassifier, file: Path, device: torch.device, most: int, counts: Counts
) -> Iterator[Prediction]:
    """Yield the prediction of each sequence of a file, and count. Raises UsageError."""
    trained.network.to(device)
    for some in parts_of(file, trained.length, most, counts.replaced):
        counts.cut += some.cut
        tokens = some.sequences.padded(trained.length).to(device)
        found = trained.probabilities(tokens).cpu().tolist()
        for row, name in enumerate(some.names):
            label, there = some.labels[row], some.sequences.lengths[row] > 0
            prediction = Prediction(name, label, found[row], there)
            count(counts, prediction, trained.names)
            yield prediction


def count(counts: Counts, prediction: Prediction, names: Sequence[str]) -> None:
    """Add a prediction to the counts."""
    if not prediction.there:
        counts.empty += 1
        return
    best = chosen(prediction, names)
    counts.of_class[best] += 1
    if prediction.label in names:
        counts.labelled += 1
        counts.right += prediction.label == best
    elif prediction.label and len(counts.unknown) < 10:
        counts.unknown[prediction.label] += 1


def chosen(prediction: Prediction, names: Sequence[str]) -> str:
    """Return the most probable class."""
    return names[max(range(len(names)), key=prediction.probabilities.__getitem__)]


def write_rows(file: BinaryIO, names: Sequence[str], found: Iterator[Prediction]) -> list[Prediction]:
    """Write a row per prediction; return the first ones."""
    text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["name", "class", "probability", *(f"p_{name}" for name in names), "label"])
    first: list[Prediction] = []
    for prediction in found:
        cells = [""] * (2 + len(names))
        if prediction.there:
            values = [max(prediction.probabilities), *prediction.probabilities]
            cells = [chosen(prediction, names), *(f"{value:.6f}" for value in values)]
        table.writerow([prediction.name, *cells, prediction.label or ""])
        if len(first) < SHOWN:
            first.append(prediction)
    text.flush()
    text.detach()
    return first


def summary(trained: TrainedClassifier, counts: Counts, first: list[Prediction]) -> list[str]:
    """Return the lines about what was predicted."""
    shown = [
        f"           {one.name}: {chosen(one, trained.names)}, {max(one.probabilities):.1%}"
        for one in first
        if one.there
    ]
    by_class = ", ".join(f"{name}: {counts.of_class[name]:,}" for name in trained.names)
    notes = [
        f"sequences cut to their first {trained.length:,} letters: {counts.cut:,}" if counts.cut else "",
        f"sequences without a letter, which have no class: {counts.empty:,}" if counts.empty else "",
        counts.replaced.note(),
    ]
    lines = [*shown, f"classes    {by_class}", *(f"note       {note}" for note in notes if note)]
    if counts.labelled:
        lines.append(f"right      {counts.right / counts.labelled:.2%} of {counts.labelled:,} with a label")
    if counts.unknown:
        label = next(iter(counts.unknown))
        lines.append(f"note       some labels are no class of the network, such as {label!r:.40}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Classify a file, write the predictions, and print a summary. Raises UsageError and RunError."""
    options = read_command_line(argv)
    device, reason = pick_device(options.device)
    trained = load_classifier(options.run)
    if options.out.resolve() == options.file.resolve():
        raise UsageError(f"--out {options.out} is the file to read; name another one")
    tell(f"network    {trained.checkpoint}; classes {', '.join(trained.names)}; {trained.length:,} tokens")
    print(f"device     {device} ({reason})")
    if trained.note:
        tell(f"note       {trained.note}")
    counts = Counts()
    most = options.batch_size or trained.options.get("batch_size") or 64
    first: list[Prediction] = []
    with explained_failures("out of memory; lower --batch-size"):
        found = predictions(trained, options.file, device, most, counts)
        bar = tqdm(found, unit=" sequences", disable=None, leave=False)
        try:
            replace_file(options.out, lambda file: first.extend(write_rows(file, trained.names, iter(bar))))
        except OSError as error:
            raise RunError(f"cannot write {options.out}: {error.strerror}; choose another --out") from None
    tell("\n".join([f"data       {options.file}", *summary(trained, counts, first)]))
    tell(f"written    {options.out}: {counts.of_class.total() + counts.empty:,} rows")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
