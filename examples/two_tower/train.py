"""Train two towers so that a text finds what belongs to it: contrastive retrieval with hard negatives.

With no option: 892 sections and table rows of this handbook, English contexts, Chinese payloads, 8 epochs,
under a minute on two CPU cores. On held-out pages, 71 % of the texts find their partner among the five
nearest (mean of five seeds), against 57 % by the words and names that both languages share. For your own
vectors, use `--data FILE.npz`.
"""

import sys
import zlib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch

from examples.programs.program import (
    Program,
    batch_source,
    check_batch_size,
    compiled,
    open_device,
    plan_steps,
)
from examples.two_tower import report
from examples.two_tower.data_sources import load_pairs
from examples.two_tower.loss import info_nce, no_negatives
from examples.two_tower.model import TwoTowers, parameter_count
from examples.two_tower.negative_sources import NegativeSource
from examples.two_tower.negatives import Negatives
from examples.two_tower.options import Options, read_command_line, resolve
from examples.two_tower.pairs import PairRows, split_by_article
from examples.two_tower.retrieval import announcement, network_scores, reference_scores
from snippets.checkpoints import TrainingState, load_weights
from snippets.compile_safely import Network
from snippets.data_loading import EpochLoader
from snippets.errors import UsageError, exit_with_one_line, tell
from snippets.processes import gathered, rank
from snippets.seeds import seed_everything
from snippets.training_loop import EpochResult, Task

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # row numbers, contexts, payloads


class Retrieval(Task):
    """Two towers that learn nearby vectors for contexts and payloads of the same pair."""

    options: Options
    max_norm = 1.0  # of all gradients together

    def __init__(self, options: Options) -> None:
        """Load the pairs and make network, optimizer and schedule. Raises UsageError; writes nothing."""
        device, self.precision, self.facts = open_device(options)
        self.options = options
        self.pairs = pairs = load_pairs(options.data, options.rows, options.noise, options.seed)
        self.held_out = split_by_article(pairs.articles, options.val_split, options.seed)
        self.learned = (~self.held_out).nonzero().flatten()
        check_size(options, len(self.learned), int(self.held_out.sum()))
        steps = plan_steps(options, len(self.learned))
        self.samples_per_step, self.steps_per_epoch, self.total_steps = steps
        self.extra = NegativeSource(options, pairs, self.held_out)
        self.negatives: Negatives | None = None  # of the present epoch
        self.articles, self.payload_ids = pairs.articles.to(device), pairs.payload_ids.to(device)
        seed_everything(options.seed)
        model = build_network(options, pairs.contexts.shape[2]).to(device).train()
        if options.start_from:
            load_weights(model, Path(options.start_from))
        optimizer = torch.optim.AdamW(
            model.parameters(), options.lr, weight_decay=options.weight_decay, fused=options.fused or None
        )
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.total_steps)
        self.state = TrainingState(model, [optimizer], [schedule], device, scaler=self.precision.scaler())
        self.facts |= self.describe()
        self.source = self.open_source()
        self.network = self.compiled_network()

    def describe(self) -> dict[str, Any]:
        """Return the facts about data and network for config.json."""
        pairs, held_out = self.pairs, self.held_out.nonzero().flatten()
        if long := announcement(pairs, len(held_out), self.state.device):
            tell(f"scores     {long}, now and after each epoch")
        mines = self.options.near_miss_k and not self.options.near_misses
        if mines and (long := announcement(pairs, len(self.learned), self.state.device, mines=True)):
            tell(f"near miss  {long}, before each epoch; --near-miss-k 0 does without")
        return {
            "parameters": parameter_count(self.state.model),
            "pairs_crc32": (crc := pairs.fingerprint()),
            "data_crc32": zlib.crc32(self.extra.crc32.to_bytes(4), crc),  # including files of negatives
            "held_out_articles": pairs.articles[held_out].unique().tolist(),
            **reference_scores(pairs, held_out, self.state.device),
            "near_miss_coverage": self.extra.coverage(),
            "notes": self.extra.notes,
        }

    def open_source(self) -> Any:
        """Return the source of batches: mapped files are read by row, other data are kept on the device."""
        options, device, rows = self.options, self.state.device, PairRows(self.pairs, self.learned)
        if self.pairs.mapped:
            size = self.samples_per_step
            shares = {"workers": options.workers, "device": device, "parts": options.accumulate}
            return EpochLoader(rows, size, options.seed, **shares)
        columns = self.learned, self.pairs.contexts[self.learned], self.pairs.payloads[self.learned]
        return batch_source(options, device, columns, rows)

    def compiled_network(self) -> Any:
        """Return the network, compiled if requested."""
        rows = self.learned[: self.options.batch_size]
        columns = rows, self.pairs.contexts[rows], self.pairs.payloads[rows]
        first = [column.to(self.state.device) for column in columns]
        return compiled(self, self.state.model, first)

    # --8<-- [start:begin_epoch]
    def begin_epoch(self, epoch: int) -> None:
        """Find the extra negatives of the epoch, or restore those of a resumed epoch.

        Negatives from files can be drawn again; those found by earlier weights are in the checkpoint.
        """
        if not self.extra.count:
            return
        state, progress = self.state, self.state.progress
        begins = state.step == epoch * self.steps_per_epoch or "negatives" not in progress
        if self.extra.has_files or begins:
            self.negatives = self.extra.for_epoch(epoch, state.model, state.device)
            if not self.extra.has_files:
                progress["negatives"] = vars(self.negatives)
        else:
            self.negatives = Negatives(**progress["negatives"])
        self.negatives = self.negatives.to(state.device)

    # --8<-- [end:begin_epoch]
    def check(self, progress: dict[str, Any]) -> None:
        """Raise ValueError when the negatives in `progress` do not belong to these pairs."""
        if self.extra.count and "negatives" in progress:
            self.extra.check(progress["negatives"])

    # --8<-- [start:training_step]
    def measures(self, part: Batch, network: Network) -> torch.Tensor:
        """Return loss, accuracy in the batch, mean negatives, and share with a near miss, (4,).

        A part holds row numbers (batch,), contexts and payloads.
        """
        rows, contexts, payloads = part
        with self.precision.autocast():
            contexts, payloads, scale = network(contexts, payloads)
        extra, missing = self.extra_of(rows, contexts)
        batch, payloads = gathered(rows), gathered(payloads.float())  # those of all processes
        first = rank() * len(rows)
        no_negative = no_negatives(self.articles[batch], self.payload_ids[batch], first, len(rows))
        measures = info_nce(contexts.float(), payloads, scale, extra, no_negative, missing, first)
        near = ~missing[:, : self.negatives.near if self.negatives else 0]
        return torch.cat([measures, near.any(1).float().mean().unsqueeze(0)])

    # --8<-- [end:training_step]
    def extra_of(self, rows: torch.Tensor, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the extra negatives (batch, k, width), and which are missing (batch, k); k may be 0."""
        if self.negatives is None:
            none = rows.new_empty(len(rows), 0)
            return vectors.new_empty(len(rows), 0, vectors.shape[1], dtype=torch.float32), none.bool()
        return self.negatives.of(rows)

    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Evaluate retrieval of all payloads by the held-out contexts."""
        self.negatives = None  # the next epoch finds new ones, so no checkpoint or copy has to hold these
        self.state.progress.pop("negatives", None)
        names = "train_loss", "train_accuracy", "negatives_per_sample", "near_miss_coverage"
        rows = self.held_out.nonzero().flatten()
        values = dict(zip(names, measures, strict=True))
        values |= network_scores(self.state.model, self.pairs, rows, self.state.device)
        line = report.epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, values["mrr"], line)


def build_network(options: Options, width_in: int) -> TwoTowers:
    """Return new towers for vectors of `width_in` numbers."""
    return TwoTowers(
        width_in, options.shape(), options.temperature, options.learn_temperature, options.dropout
    )


def check_size(options: Options, learned: int, held_out: int) -> None:
    """Raise UsageError unless some pairs are held out and the others fill a batch."""
    if not learned or not held_out:
        raise UsageError(
            f"--val-split {options.val_split:g} leaves {learned} pairs to learn from and {held_out} held "
            "out, since articles stay whole; use another one"
        )
    check_batch_size(options, learned, "pairs to learn from")


PROGRAM = Program(
    "two_tower",
    read_command_line,
    resolve,
    Retrieval,
    report,
    size_options=("batch_size", "width", "layers"),
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main))
