"""Texts as vectors of a sentence encoder, in the file that the two towers read with `--data FILE.npz`.

It needs sentence-transformers, which takes 190 MB with what it needs beside PyTorch. So our tests have an
encoder with the same `encode` in its place, which returns random numbers. With a small BERT of random
weights, sentence-transformers 6.2.0 worked as well (tried on Linux, PyTorch 2.15.0, 2026-11-22).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy


# --8<-- [start:encode_pairs]
def write_pairs(
    file: Path,
    model: str,
    contexts: Sequence[Sequence[str]],
    payloads: Sequence[str],
    articles: Sequence[int],
) -> None:
    """Write what the encoder `model` makes of texts to the .npz `file`; each payload belongs to its context.

    A context is a list of texts, in all contexts equally many. The last one counts most: before training, its
    vector is compared with those of the payloads. Pairs that resemble each other have the same article.
    """
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model)

    def encode(texts: Sequence[str]) -> numpy.ndarray:
        return encoder.encode(texts, normalize_embeddings=True).astype(numpy.float32)

    vectors = encode([text for context in contexts for text in context])
    numpy.savez(
        file,
        context_sequences=vectors.reshape(len(contexts), -1, vectors.shape[1]),
        target_vectors=encode(list(payloads)),
        truth_keys=numpy.array(articles)[:, None],
    )


# --8<-- [end:encode_pairs]
