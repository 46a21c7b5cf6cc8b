"""Report on DNA data before a training: classes, lengths, letters, duplicates, what is left out.

    python examples/genomic_caduceus/check_data.py data=FILE|FOLDER

It takes the words of train.py, such as dataset.reference=GENOME.fa and dataset.max_length=512. FASTA without
labels is a genome for pretrain.py, with the words of that program.
"""

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import numpy
import torch

from examples.genomic_caduceus.class_data import ClassData, Labelled
from examples.genomic_caduceus.data_sources import load_classes, load_windows
from examples.genomic_caduceus.fasta import is_fasta, records_of
from examples.genomic_caduceus.header_labels import label_in
from examples.genomic_caduceus.options import PRETRAIN, TRAIN
from examples.genomic_caduceus.tokens import BASES, FIRST_BASE, PAD, UNKNOWN_BASE, VOCABULARY, letters
from examples.genomic_caduceus.window_data import WindowData
from examples.programs.command_line import expanded
from snippets.errors import exit_with_one_line, tell

MANY_UNKNOWN = 0.1  # share of N above which there is a note
SHOWN = 60  # letters of the example, and classes of the table
PARTS = ("train", "held out", "test")


def is_genome(words: Sequence[str]) -> bool:
    """Return whether the words mean data for pretrain.py: FASTA without labels. Raises UsageError."""
    named = dict(word.lstrip("+").partition("=")[::2] for word in words)
    path = expanded(named.get("data") or "motif")
    if not (path.is_file() and is_fasta(path)):
        return False
    return label_in(next(records_of(path)).header).label is None


def class_lines(data: ClassData) -> Iterator[str]:
    """Yield the table of classes: sequences of each in every part."""
    parts = (data.train, data.val, data.test)
    counts = [torch.bincount(part.classes, minlength=len(data.names)).tolist() for part in parts]
    width = min(30, max(5, *map(len, data.names)))
    yield f"classes    {'class':{width}} " + " ".join(f"{part:>10}" for part in PARTS)
    for number, name in enumerate(data.names[:SHOWN]):
        yield f"           {name[:30]:{width}} " + " ".join(f"{count[number]:>10,}" for count in counts)
    if len(data.names) > SHOWN:
        yield f"           and {len(data.names) - SHOWN:,} others"
    if missing := [name for name, count in zip(data.names, counts[2], strict=True) if not count]:
        yield f"note       the test has no sequence of {', '.join(missing[:3])}"
    most = max(range(len(data.names)), key=counts[0].__getitem__)
    share = counts[2][most] / len(data.test)
    yield f"baseline   always {data.names[most]}: {share:.2%} of the test sequences right"


def letter_lines(tokens: Sequence[torch.Tensor]) -> Iterator[str]:
    """Yield the shares of the letters in tokens, and a note about many N."""
    counts = sum(torch.bincount(part.flatten().int(), minlength=VOCABULARY) for part in tokens)
    counts = numpy.asarray(counts)[FIRST_BASE : UNKNOWN_BASE + 1]
    shares = counts / max(1, counts.sum())
    pairs = zip(BASES, shares, strict=True)
    yield "letters    " + ", ".join(f"{base} {share:.1%}" for base, share in pairs)
    if shares[-1] > MANY_UNKNOWN:
        yield f"note       {shares[-1]:.0%} of the letters are N, about which nothing can be learned"


def finding_lines(data: ClassData) -> Iterator[str]:
    """Yield what was found in the files of a data set."""
    found = data.findings
    if found is None:
        return
    low, high = int(found.lengths.min()), int(found.lengths.max())
    middle = int(numpy.median(found.lengths))
    yield f"lengths    {low:,} to {high:,} letters, {middle:,} in the median"
    yield f"cut        {found.cut:,} to {data.length:,} letters"
    yield f"replaced   {found.replaced.note() or 'no letter'}"
    yield f"left out   {found.left_out:,} without a sequence or a label"
    same = found.duplicates
    yield (
        f"duplicates {same.within_train:,} within the training data; in it, too: {same.val_in_train:,} held "
        f"out, {same.test_in_train:,} of the test (either strand)"
    )
    if warning := same.warning(len(data.test)):
        yield warning
    if same.of_two_classes:
        yield f"note       {same.of_two_classes:,} sequences have more than one class"


def example_line(part: Labelled, names: Sequence[str]) -> str:
    """Return the first sequence, shortened, with its class."""
    row = part.tokens[0]
    text = letters(row[row != PAD].numpy())
    return f"example    {names[int(part.classes[0])]}: {text[:SHOWN]}{'…' if len(text) > SHOWN else ''}"


def report_on_classes(data: ClassData, words: Sequence[str]) -> list[str]:
    """Return the report on labelled sequences."""
    parts = (data.train, data.val, data.test)
    return [
        f"data       {data.name}: {data.source}",
        *class_lines(data),
        *letter_lines([part.tokens for part in parts]),
        *finding_lines(data),
        example_line(data.train, data.names),
        f"next       python examples/genomic_caduceus/train.py {shlex.join(words)}",
    ]


def report_on_windows(data: WindowData, words: Sequence[str]) -> list[str]:
    """Return the report on the windows of a genome."""
    example = letters(data.train[0, :SHOWN].numpy())
    return [
        f"data       {data.name}: {data.source}",
        f"windows    {len(data.train):,} to learn from, {len(data.val):,} held out, of "
        f"{data.train.shape[1]:,} letters each",
        *letter_lines([data.train, data.val]),
        f"example    {example}…",
        "note       no header has a label, so this is a genome; for a classifier write >id|label",
        f"next       python examples/genomic_caduceus/pretrain.py {shlex.join(words)}",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report. Raises UsageError."""
    words = list(argv or ())
    if set(words) & {"-h", "--help"}:
        print(__doc__)
        return 0
    if is_genome(words):
        wanted = PRETRAIN.resolve(PRETRAIN.read(words))
        windows = load_windows(
            wanted.data_name, wanted.data, wanted.sequences, wanted.length, wanted.seed, wanted.intervals
        )
        tell("\n".join(report_on_windows(windows, words)))
        return 0
    options = TRAIN.resolve(TRAIN.read(words))
    data = load_classes(
        options.data_name, options.data, options.sequences, options.length, options.seed, options.reference
    )
    tell("\n".join(report_on_classes(data, words)))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main, sys.argv[1:]))
