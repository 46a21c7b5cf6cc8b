"""Stage 1: train a diffusion model that draws the corners of floor plans, with the kinds of their rooms.

With no option: 4,000 generated plans, 24 epochs, three minutes on two CPU cores. For your own plans,
convert.py writes a folder for `--data`. Then train_edges.py learns the walls, and generate.py draws plans.
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

import copy
from collections.abc import Sequence
from functools import partial

import torch
from torch import nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from examples.floorplan_diffusion import node_report
from examples.floorplan_diffusion.alignment import alignment_loss
from examples.floorplan_diffusion.data_sources import load_splits
from examples.floorplan_diffusion.diffusion import Schedule
from examples.floorplan_diffusion.node_network import CHANNELS, NodeNetwork, node_tensor
from examples.floorplan_diffusion.options import NodeOptions, read_node_options, resolve_nodes
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
from snippets.errors import UsageError, exit_with_one_line
from snippets.learning_rate import cosine, warm_up
from snippets.memory import release_unused
from snippets.seeds import seed_everything
from snippets.training_loop import EpochResult, Task

MEASURES = "train_loss", "noise_loss", "place_loss", "alignment_loss"


class NodeDiffusion(Task):
    """A network that learns to predict the noise in noisy corners."""

    options: NodeOptions
    max_norm = 1.0  # of all gradients together
    trivial = float(CHANNELS)  # loss of a network that always returns 0: the variances of the noise

    def __init__(self, options: NodeOptions) -> None:
        """Load the plans and make network, optimizer and schedule. Raises UsageError; writes nothing."""
        device, self.precision, self.facts = open_device(options)
        self.options = options
        self.splits = splits = load_splits(options.data, options.plans, options.seed)
        check_batch_size(options, len(splits.train), "plans to learn from")
        self.places = places(options, splits)
        self.samples_per_step, self.steps_per_epoch, self.total_steps = plan_steps(options, len(splits.train))
        self.schedule = Schedule(device)
        seed_everything(options.seed)
        self.model = NodeNetwork(options.width, options.layers, options.heads)
        self.average = copy.deepcopy(self.model).requires_grad_(False).to(device)
        both = nn.ModuleDict({"network": self.model.to(device), "average": self.average})
        optimizers = make_optimizers(self.model, options)
        schedulers = [warm_cosine(optimizer, self.total_steps) for optimizer in optimizers]
        self.state = TrainingState(both, optimizers, schedulers, device, scaler=self.precision.scaler())
        self.facts |= describe_data(splits, self.places, self.model)
        nodes = self.nodes(splits.train)
        self.source = batch_source(options, device, [nodes])
        self.held_out = self.nodes(splits.val).to(device)
        first = nodes[: options.batch_size].to(device)
        self.network = compiled(self, self.model, [first])

    def nodes(self, plans: PlanSet) -> torch.Tensor:
        """Return the corners of plans, (plans, corners, 10)."""
        plans = plans.padded(self.places)
        return node_tensor(plans.corners, plans.kinds, plans.real())

    # --8<-- [start:training_step]
    def learn(self, batch: tuple[torch.Tensor]) -> torch.Tensor:
        """Take one step, update the averaged weights, and return the measures (4,)."""
        total = super().learn(batch)
        self.follow()
        if self.options.empty_cache and self.state.step % self.options.empty_cache == 0:
            release_unused(self.state.device)
        return total

    def measures(self, part: Sequence[torch.Tensor], network: Network) -> torch.Tensor:
        """Return loss, noise error in all channels, noise error in x and y, and alignment loss, (4,).

        `part` is corners (batch, corners, 10). The weight of the alignment decreases with the noise, under
        which corners cannot be aligned. Both are computed in float32, in which 1 - 1e-8 is 1.
        """
        nodes = shuffled(part[0])
        drawn = torch.rand(len(nodes), device=nodes.device) ** self.options.focus
        most = self.schedule.steps - 1  # a random number can be rounded up to 1
        steps = (self.schedule.steps * drawn).long().clamp(max=most)
        noise = torch.randn_like(nodes)
        noisy = self.schedule.add_noise(nodes, noise, steps)
        with self.precision.autocast():
            predicted = network(noisy, steps)
        predicted = predicted.float()
        of_places, of_others = (predicted - noise).square().mean((0, 1)).split([2, CHANNELS - 2])
        of_noise = self.options.place_weight * of_places.sum() + of_others.sum()
        clean = self.schedule.clean(noisy, predicted, steps)
        apart = alignment_loss(clean[..., :2], nodes[..., -1] < 0)  # padding has no place
        alignment = (apart.mean(1) * self.schedule.betas.flip(0)[steps]).mean()
        loss = of_noise + self.options.alignment * alignment
        return torch.stack([loss, of_places.sum() + of_others.sum(), of_places.sum(), alignment])

    # --8<-- [end:training_step]
    # --8<-- [start:average]
    @torch.no_grad()
    def follow(self) -> None:
        """Update the averaged weights: slowly, but fast in the first steps."""
        decay = min(self.options.ema, (1 + self.state.step) / (10 + self.state.step))
        average, own = list(self.average.parameters()), list(self.model.parameters())
        get_ema_multi_avg_fn(decay)(average, own, None)

    # --8<-- [end:average]
    @torch.no_grad()
    def held_out_loss(self) -> dict[str, float]:
        """Return the noise losses of the averaged network on held-out plans, always with the same noise.

        All steps and channels have equal weight, so a network that always returns 0 has a loss of 10.
        """
        generator = torch.Generator().manual_seed(self.options.seed)
        total = torch.zeros(CHANNELS, device=self.state.device)
        for nodes in self.held_out.split(self.options.batch_size):
            steps = torch.randint(self.schedule.steps, (len(nodes),), generator=generator)
            noise = torch.randn(nodes.shape, generator=generator).to(nodes.device)
            steps = steps.to(nodes.device)
            predicted = self.average(self.schedule.add_noise(nodes, noise, steps), steps)
            total += (predicted - noise).square().mean(1).sum(0)
        channels = (total / len(self.held_out)).tolist()
        return {"val_loss": sum(channels), "val_place_loss": sum(channels[:2])}

    def evaluate(self, epoch: int, measures: list[float], samples_per_s: float) -> EpochResult:
        """Evaluate the averaged network on held-out plans."""
        values = dict(zip(MEASURES, measures, strict=True))
        values |= self.held_out_loss()
        line = node_report.epoch_line(epoch, self.state.step, values, samples_per_s)
        return EpochResult(values, -values["val_loss"], line)


# --8<-- [start:optimizers]
def make_optimizers(model: NodeNetwork, options: NodeOptions) -> list[torch.optim.Optimizer]:
    """Return AdamW for all weights, or Muon for the matrices of the layers and AdamW for the others.

    With `match_rms_adamw` both use the same learning rate. Raises UsageError when PyTorch has no Muon.
    """
    settings = {"lr": options.lr, "weight_decay": options.weight_decay}
    adamw = partial(torch.optim.AdamW, fused=options.fused or None, **settings)
    if options.optimizer == "adamw":
        return [adamw(model.parameters())]
    if not hasattr(torch.optim, "Muon"):
        raise UsageError(f"--optimizer muon: PyTorch {torch.__version__} has none; use --optimizer adamw")
    matrices = [weight for weight in model.layers.parameters() if weight.ndim == 2]
    inside = {id(weight) for weight in matrices}
    others = [weight for weight in model.parameters() if id(weight) not in inside]
    muon = torch.optim.Muon(matrices, adjust_lr_fn="match_rms_adamw", **settings)
    return [muon, adamw(others)]


def warm_cosine(optimizer: torch.optim.Optimizer, steps: int) -> torch.optim.lr_scheduler.LRScheduler:
    """Return a schedule that rises for 50 steps, or half of `steps`, and then falls to 0 like a cosine."""
    warm = min(50, steps // 2)

    def factor(step: int) -> float:
        return warm_up(step, warm) * cosine(step, steps)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


# --8<-- [end:optimizers]
def shuffled(nodes: torch.Tensor) -> torch.Tensor:
    """Return every plan's corners (plans, corners, channels) in a new random order."""
    order = torch.rand(nodes.shape[:2], device=nodes.device).argsort(1)
    return nodes.gather(1, order.unsqueeze(-1).expand_as(nodes))


PROGRAM = Program(
    "floorplan_diffusion/train_nodes",
    read_node_options,
    resolve_nodes,
    NodeDiffusion,
    node_report,
    size_options=("batch_size", "width", "layers"),
)

if __name__ == "__main__":
    sys.exit(exit_with_one_line(PROGRAM.main))
