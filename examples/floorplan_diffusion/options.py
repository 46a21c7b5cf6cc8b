"""The command lines of both stages: flags, defaults, and the resulting options."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from examples.floorplan_diffusion.data_sources import NAMES, find_data
from examples.floorplan_diffusion.plans import MOST_CORNERS
from examples.programs.command_line import StrictParser, expanded, number, whole_number
from examples.programs.options import TrainingOptions, add_training_options, typed_options
from snippets.errors import UsageError

# --8<-- [start:defaults]
NODE_SIZES = {
    "small": {"width": 64, "layers": 4, "ema": 0.995},
    "medium": {"width": 256, "layers": 8, "ema": 0.999},
    "origin": {"width": 256, "layers": 24, "ema": 0.9999},
}
EDGE_SIZES = {
    "small": {"width": 64, "layers": 3, "recompute": False},
    "medium": {"width": 128, "layers": 6, "recompute": False},
    "origin": {"width": 256, "layers": 12, "recompute": True},
}
NODE_RECIPES = {
    "generated": {  # learns to draw aligned corners within minutes
        "size": "small",
        "epochs": 24,
        "batch_size": 64,
        "optimizer": "muon",
        "lr": 1e-2,
        "place_weight": 20.0,
        "focus": 2.0,
    },
    "folder": {  # those of the guide; 3,900 epochs of 65,763 plans are its million steps
        "size": "origin",
        "epochs": 3900,
        "batch_size": 256,
        "optimizer": "adamw",
        "lr": 1e-4,
        "place_weight": 1.0,
        "focus": 1.0,
    },
}
EDGE_RECIPES = {
    "generated": {"size": "small", "epochs": 4, "batch_size": 16, "lr": 1e-3, "weight_decay": 1e-5},
    "folder": {"size": "origin", "epochs": 20, "batch_size": 8, "lr": 1e-4, "weight_decay": 1e-5},
}
QUICK = {"epochs": 1, "max_steps": 20, "width": 32, "layers": 2, "plans": 640}  # tests that everything runs
# --8<-- [end:defaults]

FORMER = {"--num-workers": "--workers"}
DATA = f"{', '.join(NAMES)}, or a folder with train.npz, val.npz and test.npz; generated"


@dataclass(frozen=True, kw_only=True)
class PlanOptions(TrainingOptions):
    """The options that both stages share."""

    precision: str = "fp32"  # bf16 cannot distinguish more than the 256 pixels of a coordinate
    data: str = "generated"
    data_name: str = "generated"  # or "folder"
    plans: int = 4_000  # to generate
    corners: int | None = None  # corners per plan, with padding; None: those of the largest plan
    size: str
    width: int
    layers: int
    heads: int = 4
    empty_cache: int | None = None  # steps after which unused memory is released; None: never

    DERIVED: ClassVar[frozenset[str]] = frozenset({"data_name"})
    MAY_CHANGE: ClassVar[frozenset[str]] = TrainingOptions.MAY_CHANGE | {"empty_cache"}


@dataclass(frozen=True, kw_only=True)
class NodeOptions(PlanOptions):
    """Every option of stage 1 with the value that holds in this run."""

    ema: float  # decay of the averaged weights at each step
    alignment: float = 1.0  # weight of the alignment loss
    optimizer: str
    place_weight: float  # weight of the noise in x and y in the training loss; the other channels have 1
    focus: float  # steps are drawn as steps · u**focus, u from 0 to 1; above 1: more steps with little noise
    weight_decay: float = 0.0


@dataclass(frozen=True, kw_only=True)
class EdgeOptions(PlanOptions):
    """Every option of stage 2 with the value that holds in this run."""

    recompute: bool = False  # recompute each layer in the backward pass, to save memory

    MAY_CHANGE: ClassVar[frozenset[str]] = PlanOptions.MAY_CHANGE | {"recompute"}


Kind = TypeVar("Kind", bound=PlanOptions)


def plan_parser(program: str, description: str, help_texts: dict[str, str]) -> StrictParser:
    """Return a parser with the options that both stages have."""
    parser = StrictParser(prog=program, description=description, former=FORMER)
    add_training_options(parser, {"data": DATA, "precision": "fp32"} | help_texts)
    add = parser.add_argument
    add("--plans", type=whole_number(16, 10**6), help="number to generate to learn from; 4000")
    add("--corners", type=whole_number(4, MOST_CORNERS), help="places for corners; as the largest plan has")
    add("--size", choices=tuple(NODE_SIZES), help="width and layers; small, folders: origin")
    add("--width", type=whole_number(16, 4096), help="of the layers, a multiple of 16; 64")
    add("--layers", type=whole_number(1, 96), help="of the transformer")
    add("--heads", type=whole_number(1, 64), help="of the attention; 4")
    add("--empty-cache", type=whole_number(1, 10**6), help="give unused memory back every N steps; never")
    return parser


def read_node_options(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the options of stage 1 on the command line, without defaults. Raises UsageError."""
    parser = plan_parser(
        "train_nodes.py",
        "Stage 1: train a diffusion model to draw corners of floor plans. With no option: generated plans.",
        {
            "epochs": "24, folders: 3900",
            "batch-size": "64, folders: 256",
            "lr": "1e-2, folders: 1e-4",
            "weight-decay": "0",
            "seed": "plans, weights, order, noise; 0",
            "out": "runs/floorplan_diffusion/train_nodes/<time>",
            "quick": "at most 20, at width 32 with two layers",
        },
    )
    parser.add_argument("--ema", type=number(0, 1, below=True), help="averaging of the weights; 0.995")
    parser.add_argument("--alignment", type=number(0, 1000), help="weight of the alignment loss; 1")
    parser.add_argument("--optimizer", choices=("muon", "adamw"), help="muon; folders: adamw")
    weight = "of the noise in x and y in the loss; 20, folders: 1"
    parser.add_argument("--place-weight", type=number(0, 10_000, above=True), help=weight)
    focus = "above 1: more steps with little noise; 2, folders: 1"
    parser.add_argument("--focus", type=number(0.1, 10), help=focus)
    return typed_options(parser, argv)


def read_edge_options(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the options of stage 2 on the command line, without defaults. Raises UsageError."""
    parser = plan_parser(
        "train_edges.py",
        "Stage 2: train a network to say where walls stand. With no option: generated plans.",
        {
            "epochs": "4, folders: 20",
            "batch-size": "16, folders: 8",
            "lr": "1e-3, folders: 1e-4",
            "weight-decay": "1e-5",
            "seed": "plans, weights, order, noise; 0",
            "out": "runs/floorplan_diffusion/train_edges/<time>",
            "quick": "at most 20, at width 32 with two layers",
        },
    )
    recompute: dict[str, Any] = {"action": argparse.BooleanOptionalAction, "default": None}
    parser.add_argument("--recompute", **recompute, help="less memory, more time; at size origin")
    return typed_options(parser, argv)


def resolve_nodes(typed: dict[str, Any]) -> NodeOptions:
    """Return the typed options of stage 1 with the defaults of data and size. Raises UsageError."""
    return resolve(typed, NodeOptions, NODE_RECIPES, NODE_SIZES)


def resolve_edges(typed: dict[str, Any]) -> EdgeOptions:
    """Return the typed options of stage 2 with the defaults of data and size. Raises UsageError."""
    return resolve(typed, EdgeOptions, EDGE_RECIPES, EDGE_SIZES)


def resolve(
    typed: dict[str, Any],
    kind: type[Kind],
    recipes: dict[str, dict[str, Any]],
    sizes: dict[str, dict[str, Any]],
) -> Kind:
    """Return options of the class `kind`. Raises UsageError."""
    name = find_data(typed.get("data", PlanOptions.data))
    recipe = recipes[name]
    values = {**recipe, **sizes[typed.get("size", recipe["size"])]}
    values |= QUICK if "quick" in typed else {}
    values |= {option: value for option, value in typed.items() if option in kind.__dataclass_fields__}
    if name == "folder":  # a run may be resumed from another folder
        values["data"] = str(Path(expanded(values["data"])).resolve())
    options = kind(**values | {"data_name": name})
    if options.width % 16 or options.width % options.heads:
        raise UsageError(
            f"--width {options.width} with --heads {options.heads}: the width must be a multiple of 16 and "
            "of the number of heads"
        )
    return options
