"""Train a bidirectional Mamba to classify DNA sequences.

With no option: 4,000 generated sequences, half of which contain a motif; the best possible accuracy is known.
Under a minute on two CPU cores. Options are written in Hydra's language: batch_size=64.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

from collections.abc import Sequence

import torch
from torch.nn import functional as F

from examples.genomic_caduceus import class_report
from examples.genomic_caduceus.data_sources import load_classes
from examples.genomic_caduceus.learning import SequenceTask, epoch_line, training
from examples.genomic_caduceus.model import Classifier
from examples.genomic_caduceus.options import TRAIN, FineTuningOptions
from examples.genomic_caduceus.pretrained import load_backbone
from examples.genomic_caduceus.tokens import turned_at_random
from examples.programs.program import Program
from snippets.compile_safely import Network
from snippets.errors import exit_with_one_line
from snippets.training_loop import EpochResult
from snippets.training_step import in_parts


class Classification(SequenceTask):
    """A network that learns the classes of sequences."""

    options: FineTuningOptions

    def __init__(self, options: FineTuningOptions) -> None:
        """Load the sequences and make network, optimizer and schedule. Raises UsageError; writes nothing."""
        self.data = data = load_classes(
            options.data_name,
            options.data,
            options.sequences,
            options.length,
            options.seed,
            options.reference,
        )
        self.set_up_data(options, [data.train.tokens, data.train.classes], "sequences to learn from")
        model = Classifier(
            self.backbone(), len(data.names), both_strands=options.rcps, stacked=options.stack_strands
        )
        if options.pretrained is not None:
            self.facts["pretrained"] = load_backbone(model.backbone, options.pretrained)
        self.facts["classes"] = data.names
        self.set_up_network(model, [data.val.tokens, data.val.classes])
        self.test = [column.to(self.device) for column in (data.test.tokens, data.test.classes)]

    # --8<-- [start:measures]
    def measures(self, part: Sequence[torch.Tensor], network: Network) -> torch.Tensor:
        """Return loss and accuracy, (2,), on tokens (batch, length) with their classes (batch,)."""
        tokens, classes = part[0].long(), part[1]
        if self.options.rc_aug:
            tokens = turned_at_random(tokens, self.state.model.partners)
        with self.precision.autocast():
            scores = network(tokens).float()
        right = (scores.argmax(1) == classes).float().mean()
        return torch.stack([F.cross_entropy(scores, classes), right])

    # --8<-- [end:measures]
    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Evaluate on the held-out sequences, and after the last step on the test sequences."""
        values = dict(zip(("train_loss", "train_accuracy"), measures, strict=True))
        values |= self.scored("val", self.held_out)
        if self.state.step == self.total_steps:
            values |= self.scored("test", self.test)
        line = epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, values["val_accuracy"], line)

    @torch.no_grad()
    def scored(self, name: str, columns: Sequence[torch.Tensor]) -> dict[str, float]:
        """Return mean loss and accuracy on sequences, by names that begin with `name`."""
        model = self.state.model
        scorer = model.conjoined if self.options.conjoin_test else model
        scores = torch.cat(
            [scorer(part.long()) for (part,), _ in in_parts(columns[:1], self.options.batch_size)]
        )
        loss = F.cross_entropy(scores, columns[1])
        right = (scores.argmax(1) == columns[1]).float().mean()
        return {f"{name}_loss": loss.item(), f"{name}_accuracy": right.item()}


PROGRAM = Program(
    "genomic_caduceus/train",
    TRAIN.read,
    TRAIN.resolve,
    Classification,
    class_report,
    size_options=("batch_size", "width", "layers"),
    training=training,
    spelling=TRAIN.spelling(),
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main, sys.argv[1:]))
