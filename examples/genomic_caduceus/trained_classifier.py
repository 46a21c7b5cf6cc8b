"""A classifier that train.py trained, with the names of its classes, and its probabilities."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.model import Classifier
from examples.programs.trained import check_computed, filled, load_best
from snippets.errors import UsageError

SYSTEM = "genomic_caduceus/train"
MOST = {"width": 8192, "layers": 256, "state": 1024}  # as the options of train.py allow


@dataclass(frozen=True)
class TrainedClassifier:
    """A network in evaluation mode, the names of its classes, and the length to which sequences are cut."""

    network: Classifier
    names: tuple[str, ...]
    length: int
    options: dict[str, Any]  # of the training
    checkpoint: Path
    note: str | None  # for the user, about a damaged checkpoint

    @torch.no_grad()
    def probabilities(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the probability of each class, (sequences, classes), of tokens (sequences, length).

        Strands are treated as in the evaluations of the training. Raises UsageError for NaN.
        """
        scorer = self.network.conjoined if self.options.get("conjoin_test") else self.network
        scores = scorer(tokens.long()).float()
        check_computed(self.network, tokens, scores)
        return scores.softmax(1)


def load_classifier(path: Path) -> TrainedClassifier:
    """Return the network of a run of train.py, or of a checkpoint. Raises UsageError."""
    content, checkpoint, note = load_best(path, SYSTEM)
    config, options = content["config"], content["config"].get("options")
    names, length = config.get("classes"), config.get("length")
    sizes: dict[str, Any] = {name: options.get(name) for name in MOST} if isinstance(options, dict) else {}
    known = (
        isinstance(names, list | tuple)
        and all(isinstance(name, str) for name in names)
        and isinstance(length, int)
        and 0 < length <= 1 << 24
        and len(sizes) == len(MOST)
        and all(type(size) is int and 0 < size <= MOST[name] for name, size in sizes.items())
    )
    if not known:
        raise UsageError(f"{checkpoint} does not say which classes and sizes it has; name another run")
    strands = {"both_strands": options.get("rcps") is True, "stacked": options.get("stack_strands") is True}
    network = filled(lambda: Classifier(Backbone(**sizes), len(names), **strands), content["model"])
    return TrainedClassifier(network, tuple(names), length, options, checkpoint, note)
