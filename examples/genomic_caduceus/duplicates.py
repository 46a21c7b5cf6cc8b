"""Find sequences that occur more than once, on either strand."""

from typing import NamedTuple, Protocol

import numpy
import torch

from examples.genomic_caduceus.tokens import complement_map, reverse_complement

LETTERS = 1 << 22  # that are compared at a time


class Labelled(Protocol):
    """Tokens (sequences, length), uint8, and the class index of each sequence, int64."""

    @property
    def tokens(self) -> torch.Tensor: ...

    @property
    def classes(self) -> torch.Tensor: ...


class Duplicates(NamedTuple):
    """Numbers of sequences that occur elsewhere; a reverse complement is the same sequence."""

    within_train: int  # beyond the first of each
    val_in_train: int
    test_in_train: int
    of_two_classes: int  # different sequences that have more than one class

    def warning(self, tests: int) -> str:
        """Return a warning when most of the `tests` test sequences are in the training data, else nothing."""
        if 2 * self.test_in_train <= tests:
            return ""
        return (
            f"warning    {self.test_in_train:,} of {tests:,} test sequences are in the training data, too, "
            "so the test measures nothing; remove train and test to split one set by the seed"
        )


def find_duplicates(parts: tuple[Labelled, Labelled, Labelled]) -> Duplicates:
    """Return the duplicates among training, validation and test sequences, as they are after cutting."""
    marks = [fingerprints(part.tokens) for part in parts]
    train = numpy.unique(marks[0])
    pairs = numpy.unique(
        numpy.stack([numpy.concatenate(marks), torch.cat([part.classes for part in parts]).numpy()]), axis=1
    )
    return Duplicates(
        len(marks[0]) - len(train),
        int(numpy.isin(marks[1], train).sum()),
        int(numpy.isin(marks[2], train).sum()),
        int((numpy.unique(pairs[0], return_counts=True)[1] > 1).sum()),
    )


def fingerprints(tokens: torch.Tensor) -> numpy.ndarray:
    """Return a number for each sequence of tokens, uint8 (sequences, length), int64 (sequences,).

    It is the same for the other strand; two different sequences share one by chance of about 1 to 2⁶⁴.
    """
    length, partners = tokens.shape[1], complement_map()
    weights = numpy.random.default_rng(0).integers(-(2**63), 2**63, length, dtype=numpy.int64)
    found = []
    for rows in tokens.split(max(1, LETTERS // length)):
        own, other = (
            (part.numpy().astype(numpy.int64) * weights).sum(1)  # modulo 2⁶⁴
            for part in (rows, reverse_complement(rows.long(), partners))
        )
        found.append(numpy.minimum(own, other))
    return numpy.concatenate(found)
