"""Many sequences of any lengths as tokens, one byte per base, and their classes."""

from array import array
from dataclasses import dataclass, field

import numpy
import torch

from examples.genomic_caduceus.tokens import PAD, Replaced

Classes = dict[str, int]  # the names of classes in the order in which they were met


@dataclass
class Sequences:
    """Tokens of all sequences, one after the other, uint8; `lengths` says where each of them ends."""

    tokens: bytearray = field(default_factory=bytearray)
    lengths: array = field(default_factory=lambda: array("q"))
    classes: array = field(default_factory=lambda: array("q"))
    replaced: Replaced = field(default_factory=Replaced)
    left_out: int = 0  # without letters or without a class

    def __len__(self) -> int:
        """Return the number of sequences."""
        return len(self.lengths)

    def add(self, tokens: numpy.ndarray, number: int = 0) -> None:
        """Add a sequence of tokens, uint8 (letters,), of the class with this number."""
        self.tokens += tokens.tobytes()
        self.lengths.append(len(tokens))
        self.classes.append(number)

    def add_many(self, tokens: numpy.ndarray, lengths: numpy.ndarray, classes: numpy.ndarray) -> None:
        """Add sequences whose tokens are one after the other, (letters,), (sequences,), (sequences,)."""
        self.tokens += tokens.tobytes()
        self.lengths.frombytes(lengths.astype(numpy.int64).tobytes())
        self.classes.frombytes(classes.astype(numpy.int64).tobytes())

    def lengths_array(self) -> numpy.ndarray:
        """Return the lengths, int64 (sequences,)."""
        return numpy.frombuffer(self.lengths, dtype=numpy.int64)

    def class_numbers(self) -> torch.Tensor:
        """Return the class numbers, int64 (sequences,)."""
        return torch.from_numpy(numpy.frombuffer(self.classes, dtype=numpy.int64).copy())

    def padded(self, length: int) -> torch.Tensor:
        """Return the first `length` tokens of each, (sequences, length), with padding on the left."""
        rows = numpy.full((len(self), length), PAD, dtype=numpy.uint8)
        whole, start = numpy.frombuffer(self.tokens, dtype=numpy.uint8), 0
        for row, letters in zip(rows, self.lengths, strict=True):
            kept = min(letters, length)
            row[length - kept :] = whole[start : start + kept]
            start += letters
        return torch.from_numpy(rows)
