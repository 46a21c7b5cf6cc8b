"""Vectors of texts without a model: counts of words and pieces of words, hashed into a fixed size.

A word and its misspelt or inflected form share most pieces. An English and a Chinese text share only names
and numbers; the network has to learn the rest. (Weinberger and others 2009, "Feature hashing for large
scale multitask learning", arXiv 0902.2206.)
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy
import torch
from torch.nn import functional as F

WIDTH = 1024  # numbers per vector
PIECE = 4  # letters
POSITIONS = 5  # vectors per context
AT_ONCE = 256  # texts, whose counts take 10 MB
HAN = re.compile("[\u4e00-\u9fff]+")
WORD = re.compile(r"[a-z_]+|\d+(?:\.\d+)*")


# --8<-- [start:ngrams]
def features(text: str) -> Iterator[str]:
    """Yield words, numbers and four-letter pieces of words, and for Chinese characters and pairs of them."""
    text = text.lower()
    for word in WORD.findall(text):
        yield word
        if word[0].isalpha() and len(word) >= PIECE:
            bounded = f"<{word}>"
            yield from (bounded[start : start + PIECE] for start in range(len(bounded) - PIECE + 1))
    for run in HAN.findall(text):
        yield from run
        yield from (run[start : start + 2] for start in range(len(run) - 1))


@lru_cache(1 << 16)
def codes(word: str) -> list[int]:
    """Return the hashes of the features of a word, which is likely to come again."""
    return [zlib.crc32(feature.encode()) for feature in features(word)]


def vectors(texts: Sequence[Sequence[str]]) -> torch.Tensor:
    """Return the vectors of texts as they grow part by part, (texts, parts, WIDTH).

    A text has `parts` lists of words, separated by spaces. A feature's hash gives its index and its sign, so
    features with the same index cancel as often as they add up. A vector has length 1, or is zero where no
    feature was found.
    """
    parts = len(texts[0])
    hashes: list[int] = []
    counts = []
    for part in (part for text in texts for part in text):
        before = len(hashes)
        for word in part.split():
            hashes += codes(word)
        counts.append(len(hashes) - before)
    found = numpy.array(hashes, dtype=numpy.int64)
    places = numpy.arange(len(counts)).repeat(counts) * WIDTH + (found >> 1) % WIDTH
    sums = numpy.bincount(places, weights=2 * (found & 1) - 1, minlength=len(counts) * WIDTH)
    grown = sums.reshape(len(texts), parts, WIDTH).cumsum(1)
    totals = torch.from_numpy(grown.astype(numpy.float32))
    return F.normalize(totals.sign() * totals.abs().log1p(), dim=2)


# --8<-- [end:ngrams]
def growing(text: str, positions: int = POSITIONS) -> list[str]:
    """Return a text in `positions` parts of equally many words. A text of fewer words is the first part."""
    words = text.split()
    if len(words) < positions:
        return [text, *[""] * (positions - 1)]
    ends = [len(words) * position // positions for position in range(positions + 1)]
    return [" ".join(words[start:end]) for start, end in pairwise(ends)]


def stack_contexts(texts: Sequence[str]) -> torch.Tensor:
    """Return the vectors of texts as they grow, (texts, POSITIONS, WIDTH): a fifth of the words, … all.

    A text of fewer words is repeated at every position.
    """
    return torch.cat([vectors([growing(text) for text in part]) for part in batches(texts)])


def stack_texts(texts: Sequence[str]) -> torch.Tensor:
    """Return the vectors of texts, (texts, WIDTH)."""
    return torch.cat([vectors([[text] for text in part])[:, 0] for part in batches(texts)])


def batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the texts in parts."""
    return (texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE))
