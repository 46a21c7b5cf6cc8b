"""Load the trained networks of both stages, for programs that use them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from examples.floorplan_diffusion.edge_network import EdgeNetwork
from examples.floorplan_diffusion.node_network import NodeNetwork
from examples.floorplan_diffusion.options import (
    EdgeOptions,
    NodeOptions,
    PlanOptions,
    read_edge_options,
    read_node_options,
)
from examples.floorplan_diffusion.packed_networks import read_packed
from examples.programs.options import check_saved, of_this_version
from examples.programs.trained import filled, folder_of, load_best, newest_trained
from snippets.errors import UsageError

FOLDER = "examples/floorplan_diffusion"


@dataclass(frozen=True)
class Stage:
    """One of the two stages: its name, and how to build its network from its options."""

    number: int
    program: str
    options: type[PlanOptions]
    read_command_line: Callable[[list[str]], dict[str, Any]]
    build: Callable[[Any], nn.Module]
    prefix: str  # of the network's weights in a checkpoint

    @property
    def system(self) -> str:
        """Return the name of the stage in its runs."""
        return f"floorplan_diffusion/{self.program}"

    @property
    def runs(self) -> Path:
        """Return the folder of its runs."""
        return Path("runs") / self.system


def build_nodes(options: NodeOptions) -> NodeNetwork:
    """Return a new network of stage 1."""
    return NodeNetwork(options.width, options.layers, options.heads)


def build_edges(options: EdgeOptions) -> EdgeNetwork:
    """Return a new network of stage 2."""
    return EdgeNetwork(options.width, options.layers, options.heads, recompute=options.recompute)


NODES = Stage(1, "train_nodes", NodeOptions, read_node_options, build_nodes, "average.")
EDGES = Stage(2, "train_edges", EdgeOptions, read_edge_options, build_edges, "")


@dataclass(frozen=True)
class Trained:
    """A trained network on the CPU, and its data."""

    network: nn.Module
    options: PlanOptions
    content: dict[str, Any]  # of the checkpoint
    checkpoint: Path
    note: str | None  # for the user

    @property
    def folder(self) -> Path:
        """Return the run folder, or the folder of a checkpoint that is in no run folder."""
        return folder_of(self.checkpoint)

    @property
    def places(self) -> int:
        """Return the number of corners per plan in training, with padding."""
        return self.content["config"]["places"]


def newest_run(stage: Stage) -> Path:
    """Return the newest run folder that has a checkpoint. Raises UsageError when there is none."""
    first = f"python {FOLDER}/{stage.program}.py; generate.py --bundled draws without a training"
    return newest_trained(stage.runs, f"trained run of stage {stage.number}", first)


def load_trained(stage: Stage, run: Path | None) -> Trained:
    """Return the best network of a run folder, checkpoint or packed file, or of the newest run.

    Raises UsageError.
    """
    if run is not None and run.suffix == ".npz":
        content, checkpoint, note = read_packed(run, stage.program, stage.prefix), run, None
    else:
        content, checkpoint, note = load_best(run or newest_run(stage), stage.system)
    config = content["config"]
    saved, places = config.get("options"), config.get("places")
    if not of_this_version(saved, stage.options) or type(places) is not int or not 1 <= places <= 10_000:
        raise UsageError(f"{checkpoint} was made by another version of this program; train again")
    check_saved({"options": saved}, stage.read_command_line, stage.options, checkpoint)
    options = stage.options(**saved)
    weights = {
        name.removeprefix(stage.prefix): value
        for name, value in content["model"].items()
        if name.startswith(stage.prefix)
    }
    network = filled(lambda: stage.build(options), weights)
    return Trained(network, options, content, checkpoint, note)
