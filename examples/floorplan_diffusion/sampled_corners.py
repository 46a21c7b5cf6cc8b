"""Sample the corners of plans in batches; a stopped run continues with the next batch."""

from dataclasses import dataclass
from pathlib import Path
from signal import Signals

import numpy
import torch
from torch import nn

from examples.floorplan_diffusion.diffusion import Schedule, sample
from examples.floorplan_diffusion.node_network import CHANNELS, pixels_of
from examples.floorplan_diffusion.plans import CANVAS, Plan
from examples.programs.array_files import read_npz
from snippets.atomic_write import replace_file
from snippets.errors import UsageError
from snippets.stop_signals import StopSignals

SHOWN = (1000, 800, 600, 400, 200, 100, 50, 0)  # steps at which the first plan is drawn


class Stopped(Exception):
    """A stop signal arrived in the middle of a batch."""

    def __init__(self, signal: Signals) -> None:
        super().__init__(signal)
        self.signal = signal


@dataclass(frozen=True)
class Batch:
    """The output of the diffusion for some plans, and intermediate steps of the first one."""

    nodes: numpy.ndarray  # (plans, corners, 10) float32, from -1 to 1
    way: numpy.ndarray  # (steps, corners, 10) float32, from noise to the plan
    steps: numpy.ndarray  # (steps,) int: the numbers of these steps, 0 at the end


# --8<-- [start:sample_batch]
def sample_batch(
    network: nn.Module,
    schedule: Schedule,
    shape: tuple[int, int],
    seed: tuple[int, int],
    *,
    steps: int,
    eta: float,
    stop: StopSignals,
) -> Batch:
    """Return new plans of a trained network; `shape` is (plans, corners).

    The random numbers depend only on `seed` (that of all batches, and the number of the batch), so that a
    resumed run draws the same plans. Raises Stopped.
    """
    generator = torch.Generator().manual_seed(seed[0] * 1_000_003 + seed[1])
    wanted, way = list(SHOWN), {}
    with torch.no_grad():
        for step, nodes in sample(network, schedule, (*shape, CHANNELS), generator, steps=steps, eta=eta):
            if stop.received is not None:
                raise Stopped(stop.received)
            if wanted and step + 1 <= wanted[0]:
                way[step + 1] = nodes[0].cpu()
                wanted = [moment for moment in wanted if moment < step + 1]
    return Batch(nodes.cpu().numpy(), torch.stack(list(way.values())).numpy(), numpy.array(list(way)))


# --8<-- [end:sample_batch]
def save_batch(path: Path, batch: Batch) -> None:
    """Replace `path` by a file with the batch. Raises OSError."""
    replace_file(path, lambda file: numpy.savez(file, **vars(batch)))


def load_batch(path: Path, shape: tuple[int, int]) -> Batch | None:
    """Return the batch in a file, or None when the file is missing, damaged or of another shape."""
    try:
        batch = Batch(**read_npz(path, ("nodes", "way", "steps")))
    except UsageError:  # the batch is drawn again
        return None
    return batch if batch.nodes.shape == (*shape, CHANNELS) else None


# --8<-- [start:decode]
def real_corners(nodes: numpy.ndarray, threshold: float = 0.5) -> numpy.ndarray:
    """Return which of the nodes (…, 10) are corners and not padding, bool (…).

    The last channel is -1 for a corner and 1 for padding; `threshold`, from 0 to 1, lies between them.
    """
    return (nodes[..., -1] + 1) / 2 < threshold


def corners_of(nodes: numpy.ndarray, threshold: float = 0.5) -> Plan:
    """Return the corners among nodes (corners, 10) as a plan without walls, at whole pixels.

    Corners at the same place are merged, with the rooms of both.
    """
    nodes = nodes[real_corners(nodes, threshold)]
    pixels = pixels_of(nodes).round().clip(0, CANVAS - 1)
    places, inverse = numpy.unique(pixels, axis=0, return_inverse=True)
    kinds = numpy.zeros((len(places), CHANNELS - 3), dtype=bool)
    numpy.logical_or.at(kinds, inverse.reshape(-1), nodes[:, 2:-1] > 0)
    return Plan(places.reshape(-1, 2).astype(float), kinds, numpy.zeros((0, 2), dtype=int))


# --8<-- [end:decode]
