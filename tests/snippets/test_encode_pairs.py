"""Vectors of a sentence encoder in a file that the two towers can read."""

import sys
import types

import numpy
import pytest
import torch

from examples.two_tower.pair_files import read_pairs
from examples.two_tower.train import PROGRAM
from snippets.encode_pairs import write_pairs

WIDTH = 24


class SentenceTransformer:
    """A stand-in: `encode` returns what the real one does, with the same defaults, but knows no language."""

    def __init__(self, model):
        self.model = model

    def encode(self, texts, *, normalize_embeddings=False):
        def vector(text):
            chance = numpy.random.default_rng(list(f"{self.model} {text}".encode()))
            return chance.standard_normal(WIDTH).astype(numpy.float16)

        assert isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        vectors = numpy.stack([vector(text) for text in texts])
        lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True) if normalize_embeddings else 1
        return vectors / lengths


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return the file of 40 rows in 8 articles, with its texts."""
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    contexts = [[f"chapter {row // 5}", f"section {row}", f"sentence {row}"] for row in range(40)]
    payloads = [f"answer {row}" for row in range(40)]
    write_pairs(tmp_path / "pairs.npz", "tiny", contexts, payloads, [row // 5 for row in range(40)])
    return tmp_path / "pairs.npz", contexts, payloads


def test_each_text_is_where_it_belongs(written):
    file, contexts, payloads = written
    pairs, encoder = read_pairs(file), SentenceTransformer("tiny")
    assert pairs.contexts.shape == (40, 3, WIDTH)
    assert pairs.contexts.dtype == pairs.payloads.dtype == torch.float32
    for row in (0, 17, 39):
        expected = encoder.encode([*contexts[row], payloads[row]], normalize_embeddings=True)
        found = torch.cat([pairs.contexts[row], pairs.payloads[row : row + 1]])
        assert torch.equal(found, torch.from_numpy(expected.astype(numpy.float32)))
    assert pairs.articles.tolist() == [row // 5 for row in range(40)]
    assert torch.allclose(pairs.contexts.norm(dim=2), torch.ones(40, 3), atol=1e-3)


def test_the_towers_learn_from_the_file(written, tmp_path, capsys):
    words = ["--size", "tiny", "--width", "8", "--batch-size", "8", "--max-steps", "2", "--device", "cpu"]
    assert PROGRAM.main(["--data", str(written[0]), *words, "--out", str(tmp_path / "run")]) == 0
    assert "30 pairs of 6 articles to learn from, 10 of 2 held out" in capsys.readouterr().out
