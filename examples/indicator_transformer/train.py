"""Train a transformer that predicts which technical indicators are useful now.

With no option: 300,000 generated minute bars whose best forecast is known, 24 indicators, 36,130 parameters,
6 epochs, about 10 s on two CPU cores. The cross-entropy of the held-out samples falls most of the way from
that of the indicators' calls alone to the best possible. The guide's network: `--size origin`.
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

import torch

from examples.indicator_transformer import report
from examples.indicator_transformer.data_sources import load_for_training
from examples.indicator_transformer.evaluation import evaluate
from examples.indicator_transformer.loss import selection_loss
from examples.indicator_transformer.model import SIZES, IndicatorTransformer, parameter_count
from examples.indicator_transformer.options import Options, read_command_line, resolve
from examples.programs.program import Program, batch_source, compiled, open_device, plan_steps
from snippets.checkpoints import TrainingState
from snippets.compile_safely import Network
from snippets.errors import exit_with_one_line
from snippets.seeds import seed_everything
from snippets.training_loop import EpochResult, Task

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # readings, context, usefulness


class IndicatorSelection(Task):
    """A transformer that learns to select indicators, from samples on the device or from workers."""

    options: Options
    max_norm = 1.0  # of all gradients together

    def __init__(self, options: Options) -> None:
        """Load the bars and make network, optimizer and schedule. Raises UsageError; writes nothing."""
        device, self.precision, self.facts = open_device(options)
        data = load_for_training(options)
        learned = data.training
        self.samples_per_step, self.steps_per_epoch, self.total_steps = plan_steps(options, len(learned))
        seed_everything(options.seed)
        model = IndicatorTransformer(len(data.indicators), len(data.context), SIZES[options.size])
        model.fit_normaliser(learned.indicator_values, learned.market_context)
        model = model.to(device).train()
        optimizer = torch.optim.AdamW(
            model.parameters(), options.lr, weight_decay=options.weight_decay, fused=options.fused or None
        )
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.total_steps)
        self.state = TrainingState(model, [optimizer], [schedule], device, scaler=self.precision.scaler())
        self.facts |= {
            "parameters": parameter_count(model),
            "data_crc32": data.fingerprint(),
            "indicators": data.indicators,  # predictions need the names of the network's inputs
            "context": data.context,
            "interval": data.interval,
        }
        self.options, self.data, self.held_out = options, data, data.validation.to(device)
        columns = learned.indicator_values, learned.market_context, learned.indicator_usefulness
        self.source = batch_source(options, device, columns)
        first = [column[: options.batch_size].to(device) for column in columns]
        self.network = compiled(self, model, first)

    # --8<-- [start:training_step]
    def measures(self, part: Batch, network: Network) -> torch.Tensor:
        """Return mean loss and cross-entropy, (2,).

        `part` is readings (batch, indicators), context (batch, features) and usefulness.
        """
        values, context, usefulness = part
        with self.precision.autocast():
            logits, weights = network(values, context)
            return torch.stack(selection_loss(logits, weights, usefulness))

    # --8<-- [end:training_step]
    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Evaluate the network on the held-out samples."""
        values = {"train_loss": measures[0], "train_bce": measures[1]}
        values |= evaluate(self.state.model, self.held_out)
        line = report.epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, -values["val_bce"], line)


PROGRAM = Program(
    "indicator_transformer",
    read_command_line,
    resolve,
    IndicatorSelection,
    report,
    size_options=("batch_size", "size", "bars"),
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main))
