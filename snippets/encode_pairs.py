"""Encode texts with a sentence encoder, into the file that the two towers read with `--data FILE.npz`.

It needs sentence-transformers, which takes 190 MB with its dependencies other than PyTorch. Our tests
therefore replace it by an encoder whose `encode` returns random numbers. With a small BERT of random
weights, sentence-transformers 6.2.0 worked as well (tested on Linux, PyTorch 2.15.0, 2026-11-22).
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
    """Encode pairs of contexts and payloads with the encoder `model`, and write them to the .npz `file`.

    Each context is a list of texts, of the same length in all contexts. The last text matters most: before
    training, its vector is compared with those of the payloads. Similar pairs have the same article number.
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
