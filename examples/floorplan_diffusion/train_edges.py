"""Stage 2: train a network that predicts which corners of a floor plan are joined by a wall.

With no option: 4,000 generated plans, whose walls follow an exact rule; two minutes on two CPU cores. It
learns from the corners of these plans, so it does not need stage 1; generate.py combines both stages.
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

from collections.abc import Iterator

import torch
from torch.nn import functional as F

from examples.floorplan_diffusion import edge_report
from examples.floorplan_diffusion.data_sources import load_splits
from examples.floorplan_diffusion.edge_network import EdgeNetwork, all_pairs, wall_scores
from examples.floorplan_diffusion.metrics import accuracy, f1
from examples.floorplan_diffusion.options import EdgeOptions, read_edge_options, resolve_edges
from examples.floorplan_diffusion.plans import PlanSet
from examples.floorplan_diffusion.training_data import describe_data, places
from examples.programs.program import (
    Program,
    batch_source,
    check_batch_size,
    compiled,
    open_device,
    plan_steps,
)
from snippets.checkpoints import TrainingState
from snippets.compile_safely import Network
from snippets.data_order import epoch_order
from snippets.errors import exit_with_one_line
from snippets.memory import release_unused
from snippets.processes import mean, own_size
from snippets.seeds import seed_everything
from snippets.training_loop import EpochResult, Task
from snippets.training_step import in_parts

Batch = tuple[torch.Tensor, ...]  # corners, kinds, counts and walls of plans
SPREAD = 1.0  # pixels: standard deviation of noise on corners, since stage 1 does not draw them exactly
FLIPPED = 0.01  # share of the kinds that are flipped
ROUND_UP = 4  # corners: fewer batch shapes give fewer graphs, each of which MPS caches


class EdgePrediction(Task):
    """A network that learns which pairs of corners a wall joins."""

    options: EdgeOptions
    max_norm = 1.0  # of all gradients together

    def __init__(self, options: EdgeOptions) -> None:
        """Load the plans and make network, optimizer and schedule. Raises UsageError; writes nothing."""
        device, self.precision, self.facts = open_device(options)
        self.options = options
        self.splits = splits = load_splits(options.data, options.plans, options.seed)
        check_batch_size(options, len(splits.train), "plans to learn from")
        self.places = places(options, splits)
        self.samples_per_step, self.steps_per_epoch, self.total_steps = plan_steps(options, len(splits.train))
        seed_everything(options.seed)
        model = EdgeNetwork(options.width, options.layers, options.heads, recompute=options.recompute)
        optimizer = torch.optim.AdamW(
            model.parameters(), options.lr, weight_decay=options.weight_decay, fused=options.fused or None
        )
        cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.total_steps)
        self.state = TrainingState(
            model.to(device), [optimizer], [cosine], device, scaler=self.precision.scaler()
        )
        self.facts |= describe_data(splits, self.places, model)
        columns = self.columns(splits.train)
        self.source = batch_source(options, device, columns)
        self.held_out = [column.to(device) for column in self.columns(splits.val)]
        self.largest: list[int] = []  # corners of the largest plan of each batch of the epoch
        first = [column[: options.batch_size].to(device) for column in columns]
        self.network = compiled(self, model, first)

    def columns(self, plans: PlanSet) -> Batch:
        """Return corners, kinds, counts and walls of plans in the form of the network's inputs."""
        plans = plans.padded(self.places)
        return plans.corners.float(), plans.kinds.float(), plans.counts, plans.walls

    # --8<-- [start:largest]
    def begin_epoch(self, epoch: int) -> None:
        """Find the number of corners of the largest plan in each batch, before the device is busy.

        Work grows with the square of the pairs, and pairs with the square of the corners, so padding to the
        largest plan of all would make most batches many times slower.
        """
        counts, size = self.splits.train.counts, self.samples_per_step
        in_order = counts[epoch_order(len(counts), self.options.seed, epoch)]
        most = in_order[: self.steps_per_epoch * size].view(-1, size).amax(1)
        self.largest = ((most + ROUND_UP - 1) // ROUND_UP * ROUND_UP).clamp(max=self.places).tolist()

    # --8<-- [end:largest]
    # --8<-- [start:training_step]
    def learn(self, batch: Batch) -> torch.Tensor:
        """Take one step and return the measures (4,)."""
        total = super().learn(batch)
        if self.options.empty_cache and self.state.step % self.options.empty_cache == 0:
            release_unused(self.state.device)
        return total

    def parts(self, batch: Batch) -> Iterator[tuple[Batch, torch.Tensor]]:
        """Yield microbatches with their shares of the pairs of the batch, since plans differ in pairs."""
        pairs = mean(pair_count(batch[2]))
        for part, _ in in_parts(batch, own_size(self.options.batch_size)):
            yield part, pair_count(part[2]) / pairs

    def measures(self, part: Batch, network: Network) -> torch.Tensor:
        """Return the mean loss of all pairs, its two terms, and the accuracy, (4,).

        Corners and kinds are perturbed, since stage 1 does not draw them exactly. Predicting the position of
        a point between two corners is an auxiliary task, which teaches the network geometry.
        """
        corners, bits, counts, walls = part
        # before the first epoch, the largest plan of all
        most = self.largest[self.state.step % self.steps_per_epoch] if self.largest else self.places
        corners, bits = disturbed(corners[:, :most], bits[:, :most])
        pairs = all_pairs(most, corners.device)
        real = pairs[1] < counts.unsqueeze(1)  # the second index is the larger one
        wanted = walls[:, pairs[0], pairs[1]].long()
        fractions = torch.rand(real.shape, device=corners.device)
        with self.precision.autocast():
            scores, guessed = network(corners, bits, pairs, real, fractions)
        of_walls = (F.cross_entropy(scores.float().mT, wanted, reduction="none") * real).sum()
        apart = (guessed.float() - torch.minimum(fractions, 1 - fractions)).abs()
        of_fractions = (apart * real).sum()
        right = ((scores.argmax(-1) == wanted) * real).sum().float()
        return torch.stack([of_walls + of_fractions, of_walls, of_fractions, right]) / pair_count(counts)

    # --8<-- [end:training_step]
    @torch.no_grad()
    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Evaluate the predicted walls of held-out plans, with exact corners."""
        corners, bits, counts, walls = self.held_out
        pairs = all_pairs(self.places, corners.device)
        real = pairs[1] < counts.unsqueeze(1)
        found = torch.cat(
            [
                wall_scores(self.state.model, *part, pairs).argmax(-1)
                for part, _ in in_parts((corners, bits, counts), self.options.batch_size)
            ]
        ).bool()[real]
        wanted = walls[:, pairs[0], pairs[1]][real]
        names = "train_loss", "wall_loss", "fraction_loss", "train_accuracy"
        values = dict(zip(names, measures, strict=True))
        values |= {"val_f1": f1(found, wanted), "val_accuracy": accuracy(found, wanted)}
        line = edge_report.epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, values["val_f1"], line)


# --8<-- [start:disturbed]
def disturbed(corners: torch.Tensor, bits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return corners (plans, corners, 2), moved by at most three pixels, and bits, some of them flipped."""
    moved = SPREAD * torch.randn_like(corners).clamp(-3, 3)  # nn.init.trunc_normal_ waits for the device
    flipped = torch.rand_like(bits) < FLIPPED
    return corners + moved, torch.where(flipped, 1 - bits, bits)


def pair_count(counts: torch.Tensor) -> torch.Tensor:
    """Return the total number of pairs of corners in plans, at least 1."""
    return (counts * (counts - 1) // 2).sum().clamp(min=1)


# --8<-- [end:disturbed]
PROGRAM = Program(
    "floorplan_diffusion/train_edges",
    read_edge_options,
    resolve_edges,
    EdgePrediction,
    edge_report,
    size_options=("batch_size", "width", "layers"),
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main))
