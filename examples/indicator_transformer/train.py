"""Train a transformer that says which technical indicators are worth listening to now.

With no option: 300,000 generated minute bars whose best forecast is known, 24 indicators, 36,130 parameters,
6 epochs; the cross-entropy of the held-out samples falls most of the way from what a forecaster without
context reaches to the best possible, in about 10 s on two CPU cores. The guide's network: `--size origin`.
"""

import sys
from collections.abc import Iterator
from typing import Any

try:
    import torch
    from torch import nn
    from torch.utils.data import TensorDataset

    from examples.indicator_transformer.context_features import CONTEXT
    from examples.indicator_transformer.evaluation import evaluate
    from examples.indicator_transformer.loss import selection_loss
    from examples.indicator_transformer.market_data import load_for_training
    from examples.indicator_transformer.model import SIZES, IndicatorTransformer, parameter_count
    from examples.indicator_transformer.options import Options, read_command_line, resolve
    from examples.indicator_transformer.report import HEADER, conclude, describe, epoch_line
    from snippets.accumulation import accumulate_gradients, update
    from snippets.checkpoints import TrainingState
    from snippets.data_loading import EpochLoader
    from snippets.data_on_device import ResidentBatches
    from snippets.framework.errors import exit_with_one_line
    from snippets.framework.run_folder import RunFolder
    from snippets.framework.training_run import Program
    from snippets.framework.training_setup import compiled, open_device, plan_steps
    from snippets.seeds import seed_everything
    from snippets.training_loop import EpochResult
except ModuleNotFoundError as missing:
    print(
        f"error: this Python has no module {missing.name!r}; "
        "run `make train`, or enter the environment first: source .venv/bin/activate",
        file=sys.stderr,
    )
    sys.exit(2)

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # readings, context, usefulness


def batch_length(batch: Batch) -> int:
    """Return the number of samples in a batch, or in a part of one."""
    return len(batch[0])


class IndicatorSelection:
    """A transformer that learns to select indicators. Samples lie on the device, or workers bring them."""

    header = HEADER
    max_norm = 1.0  # of all gradients together

    def __init__(self, options: Options) -> None:
        """Load the bars and make network, optimizer and schedule. Raises UsageError; writes nothing."""
        device, self.precision, self.facts = open_device(options)
        data = load_for_training(options)
        learned = data.training
        self.options = options
        self.samples_per_step, self.steps_per_epoch, self.total_steps = plan_steps(options, len(learned))
        seed_everything(options.seed)
        model = IndicatorTransformer(len(data.indicators), len(CONTEXT), SIZES[options.size])
        model.fit_normaliser(learned.indicator_values, learned.market_context)
        model = model.to(device).train()
        optimizer = torch.optim.AdamW(model.parameters(), options.lr, weight_decay=options.weight_decay)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.total_steps)
        self.state = TrainingState(model, [optimizer], [schedule], device, scaler=self.precision.scaler())
        self.facts |= {
            "parameters": parameter_count(model),
            "data_crc32": data.fingerprint(),
            "indicators": data.indicators,  # a prediction must know which readings the network expects
            "context": list(CONTEXT),
            "interval": data.interval,
        }
        columns = learned.indicator_values, learned.market_context, learned.indicator_usefulness
        size, seed = self.samples_per_step, options.seed
        if options.workers:
            rows = TensorDataset(*columns)
            self.source = EpochLoader(rows, size, seed, workers=options.workers, device=device)
        else:
            self.source = ResidentBatches([column.to(device) for column in columns], size, seed)
        self.data, self.held_out = data, data.validation.to(device)
        self.network = model
        if options.compile:
            first = tuple(column[: options.batch_size].to(device) for column in columns)
            self.network = compiled(model, lambda network: self.loss(network, first), self.facts)

    def batches(self, epoch: int, first: int) -> Iterator[Batch]:
        """Yield readings, context and usefulness of each step of an epoch from number `first` on."""
        return self.source.batches(epoch, first)

    # --8<-- [start:training_step]
    def learn(self, batch: Batch) -> torch.Tensor:
        """Learn from readings (batch, indicators), context (batch, features) and usefulness; return (2,).

        Mean loss and cross-entropy stay on the device: reading them here would make the CPU wait for the GPU.
        """
        parts = list(zip(*(column.split(self.options.batch_size) for column in batch), strict=True))
        measures = accumulate_gradients(parts, self.measure, self.state.scaler, count=batch_length)
        update(self.state, self.max_norm)
        return measures

    def measure(self, batch: Batch) -> torch.Tensor:
        """Return mean loss and cross-entropy, (2,)."""
        return torch.stack(self.losses(self.network, batch))

    def losses(self, network: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss and, of it, the cross-entropy that `network` gives."""
        values, context, usefulness = batch
        with self.precision.autocast():
            logits, weights = network(values, context)
            return selection_loss(logits, weights, usefulness)

    # --8<-- [end:training_step]
    def loss(self, network: nn.Module, batch: Batch) -> torch.Tensor:
        """Return the mean loss alone."""
        return self.losses(network, batch)[0]

    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Measure the network on the held-out samples."""
        values = {"train_loss": measures[0], "train_bce": measures[1]}
        values |= evaluate(self.state.model, self.held_out)
        line = epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, -values["val_bce"], line)

    def describe(self, config: dict[str, Any]) -> list[str]:
        """Return the lines that a run begins with."""
        return describe(self.options, self.data, config)

    def conclude(self, run: RunFolder) -> list[str]:
        """Draw curves.png, write summary.json, and return the lines that a run ends with."""
        return conclude(run, self.options, self.data, self.state)


PROGRAM = Program(
    "indicator_transformer",
    read_command_line,
    resolve,
    IndicatorSelection,
    size_options=("batch_size", "size", "bars"),
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main))
