"""Train a bidirectional Mamba to predict masked bases of DNA; train.py can start from its weights.

With no option: 4,000 generated sequences in which a base tends to repeat the previous one. The lowest loss is
known for a network that sees one side, or both. Under a minute on two CPU cores. Options are written in
Hydra's language: data=hg38.fa.
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

from examples.genomic_caduceus import window_report
from examples.genomic_caduceus.data_sources import load_windows
from examples.genomic_caduceus.learning import SequenceTask, epoch_line, training
from examples.genomic_caduceus.masking import masked
from examples.genomic_caduceus.model import LanguageModel
from examples.genomic_caduceus.options import PRETRAIN, PretrainingOptions
from examples.genomic_caduceus.tokens import turned_at_random
from examples.programs.program import Program
from snippets.compile_safely import Network
from snippets.errors import exit_with_one_line
from snippets.processes import count, mean
from snippets.training_loop import EpochResult
from snippets.training_step import in_parts


class MaskedBases(SequenceTask):
    """A network that learns to predict masked bases."""

    options: PretrainingOptions

    def __init__(self, options: PretrainingOptions) -> None:
        """Load the sequences and make network, optimizer and schedule. Raises UsageError; writes nothing."""
        self.data = data = load_windows(
            options.data_name,
            options.data,
            options.sequences,
            options.length,
            options.seed,
            options.intervals,
        )
        self.set_up_data(options, [data.train], "sequences to learn from")
        generator = torch.Generator().manual_seed(options.seed)
        hidden, guessed = masked(data.val.long(), options.mlm_probability, generator)
        model = LanguageModel(self.backbone(), both_strands=options.rcps, stacked=options.stack_strands)
        self.set_up_network(model, [data.val, hidden, guessed])

    def measures(self, part: Sequence[torch.Tensor], network: Network) -> torch.Tensor:
        """Return loss and accuracy on the masked bases of tokens (batch, length), (2,)."""
        tokens = part[0].long()
        if self.options.rc_aug:
            tokens = turned_at_random(tokens, self.state.model.partners)
        hidden, guessed = masked(tokens, self.options.mlm_probability)
        with self.precision.autocast():
            scores = network(hidden)
        loss, right = measured(scores, tokens, guessed)
        return torch.stack([loss, right]) / mean(guessed.sum()).clamp(min=1 / count())

    @torch.no_grad()
    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Evaluate on held-out sequences, with the same masked bases after every epoch."""
        sums = torch.zeros(2, device=self.state.device)
        for (tokens, hidden, guessed), _ in in_parts(self.held_out, self.options.batch_size):
            sums += torch.stack(measured(self.state.model(hidden), tokens.long(), guessed))
        loss, right = (sums / self.held_out[2].sum().clamp(min=1)).tolist()
        values = dict(zip(("train_loss", "train_accuracy"), measures, strict=True))
        values |= {"val_loss": loss, "val_accuracy": right}
        line = epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, -loss, line)


# --8<-- [start:measured]
def measured(
    scores: torch.Tensor, tokens: torch.Tensor, guessed: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sums over predicted positions of the loss, in nats, and of correct predictions."""
    losses = F.cross_entropy(scores.float().mT, tokens, reduction="none")
    return (losses * guessed).sum(), ((scores.argmax(-1) == tokens) & guessed).sum().float()


# --8<-- [end:measured]
PROGRAM = Program(
    "genomic_caduceus/pretrain",
    PRETRAIN.read,
    PRETRAIN.resolve,
    MaskedBases,
    window_report,
    size_options=("batch_size", "width", "layers"),
    training=training,
    spelling=PRETRAIN.spelling(),
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main, sys.argv[1:]))
