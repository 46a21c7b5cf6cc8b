"""The encoders that turn texts into the vectors between which the towers learn."""

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy
import torch

from examples.programs.run_folder import read_json
from examples.two_tower.ngrams import POSITIONS, WIDTH, features, growing, stack_contexts, stack_texts
from snippets.errors import RunError, UsageError

NAME = "encoder.json"
INSTALL = "pip install sentence-transformers"


class Encoder(Protocol):
    """What turns texts into vectors, the same ones each time."""

    width: int
    positions: int  # vectors per context

    def contexts(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the vectors of texts that search, (texts, positions, width), float32."""

    def documents(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the vectors of texts that are found, (texts, width), float32."""

    def reads(self, text: str) -> bool:
        """Return whether it finds anything in a text; otherwise the vector has no direction."""

    def settings(self) -> dict[str, Any]:
        """Return what `from_settings` needs."""


class NgramEncoder:
    """Counts of words and pieces of words; of Chinese, characters and pairs of them. It needs no model."""

    width, positions = WIDTH, POSITIONS

    def contexts(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the vectors of texts as they grow, (texts, positions, width)."""
        return stack_contexts(texts)

    def documents(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the vectors of texts, (texts, width)."""
        return stack_texts(texts)

    def reads(self, text: str) -> bool:
        """Return whether a text has Latin letters without accents, digits or Chinese."""
        return next(features(text), None) is not None

    def settings(self) -> dict[str, Any]:
        """Return its name and its sizes."""
        return {"encoder": "ngrams", "width": self.width, "positions": self.positions}


@dataclass
class SentenceEncoder:
    """A model of sentence-transformers; with several positions, a context grows as it does for n-grams."""

    model: str  # a name on the Hugging Face Hub, or a folder
    positions: int
    device: torch.device

    def __post_init__(self) -> None:
        try:
            package = importlib.import_module("sentence_transformers")  # optional
        except ImportError as error:
            raise UsageError(f"--model needs a package that is missing ({error}): {INSTALL}") from None
        try:
            self.network = package.SentenceTransformer(self.model, device=self.device.type)
        except Exception as error:  # of several libraries: no network, no such name, damaged files
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(f"--model {self.model} cannot be loaded: {reason}") from None
        self.width = len(self.encode(["width"])[0])

    def encode(self, texts: Sequence[str]) -> numpy.ndarray:
        """Return unit vectors of texts, (texts, width)."""
        found = self.network.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return numpy.asarray(found, dtype=numpy.float32)

    def contexts(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the vectors of texts as they grow, (texts, positions, width)."""
        grown = []
        for text in texts:
            parts = growing(text, self.positions)
            grown += [" ".join(filter(None, parts[: place + 1])) for place in range(self.positions)]
        return torch.from_numpy(self.encode(grown)).view(len(texts), self.positions, self.width)

    def documents(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the vectors of texts, (texts, width)."""
        return torch.from_numpy(self.encode(texts))

    def reads(self, text: str) -> bool:
        """Return whether a text has a letter, a digit or a sign."""
        return bool(text.strip())

    def settings(self) -> dict[str, Any]:
        """Return model and sizes."""
        sizes = {"width": self.width, "positions": self.positions}
        return {"encoder": "sentence-transformers", "model": self.model, **sizes}


def from_settings(settings: dict[str, Any], device: torch.device, source: str) -> Encoder:
    """Return the encoder with these settings. Raises UsageError when there is none; `source` names them."""
    if settings == (ngrams := NgramEncoder()).settings():
        return ngrams
    model, positions = settings.get("model"), settings.get("positions")
    if not isinstance(model, str) or type(positions) is not int or not 1 <= positions <= 16:
        raise UsageError(
            f"{source} names no encoder of this version ({json.dumps(settings)[:80]}); encode anew"
        )
    encoder = SentenceEncoder(model, positions, device)
    if encoder.width != settings.get("width"):
        reason = f"--model {model} gives {encoder.width} numbers now"
        raise RunError(f"{reason}, and {settings.get('width')} stand in {source}; encode anew")
    return encoder


def encoder_of(folder: Path, device: torch.device) -> Encoder | None:
    """Return the encoder that made the vectors in a folder, or None if they came ready. Raises UsageError."""
    if not (folder / NAME).is_file():
        return None
    settings = (read_json(folder / NAME) or {}).get("encoder")
    return from_settings(settings if isinstance(settings, dict) else {}, device, str(folder / NAME))
