"""Vectors of texts without a model: counts of words and pieces of words, hashed into a fixed size.

A word and its misspelt or inflected form share most pieces. An English and a Chinese text share only names
and numbers; the network has to learn the rest. (Weinberger and others 2009, "Feature hashing for large
scale multitask learning", arXiv 0902.2206.)
"""

import re
import zlib
from collections.abc import Iterator, Sequence

import torch
from torch.nn import functional as F

WIDTH = 1024  # numbers per vector
PIECE = 4  # letters
POSITIONS = 5  # vectors per context
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


def text_vector(text: str) -> torch.Tensor:
    """Return the hashed features of a text as a unit vector, (WIDTH,), or zeros if it has none.

    A feature's hash gives its index and its sign. Features with the same index then cancel as often as they
    add up.
    """
    places = [0.0] * WIDTH
    for feature in features(text):
        code = zlib.crc32(feature.encode())
        places[(code >> 1) % WIDTH] += 1 if code & 1 else -1
    counts = torch.tensor(places)
    return F.normalize(counts.sign() * counts.abs().log1p(), dim=0)


# --8<-- [end:ngrams]
def context_vectors(text: str) -> torch.Tensor:
    """Return the vectors of a text as it grows, (POSITIONS, WIDTH): a fifth of its words, two fifths, … all.

    A text of fewer words is repeated at every position.
    """
    words = text.split()
    if len(words) < POSITIONS:
        return text_vector(text).expand(POSITIONS, -1).clone()
    ends = (len(words) * position // POSITIONS for position in range(1, POSITIONS + 1))
    return torch.stack([text_vector(" ".join(words[:end])) for end in ends])


def stack_contexts(texts: Sequence[str]) -> torch.Tensor:
    """Return the context vectors of texts, (texts, POSITIONS, WIDTH)."""
    return torch.stack([context_vectors(text) for text in texts])


def stack_texts(texts: Sequence[str]) -> torch.Tensor:
    """Return the vectors of texts, (texts, WIDTH)."""
    return torch.stack([text_vector(text) for text in texts])
